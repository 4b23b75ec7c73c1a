"""Shapes that nobody tunes for: primes, ones, odd channels, a batch of three.

They are here to find cliffs. Leave them as they are when a kernel is tuned, and tune for none.
"""

from __future__ import annotations

from tests.benchmarks.workload import Workload, add
from tests.benchmarks.workloads import (
    contractions,
    convolutions,
    elementwise,
    language_models,
    models,
    reductions,
    science,
)


def _odd(name: str, workload: Workload) -> None:
    add("odd shape", f"odd_{name}", workload)


_odd("ew_chain_1", elementwise.elementwise(1))
_odd("ew_chain_1021", elementwise.elementwise(1021))
_odd("ew_chain_999983", elementwise.elementwise(999_983))
_odd("softmax_3x997", elementwise.softmax(3, 997))
_odd("softmax_1021x5", elementwise.softmax(1021, 5))
_odd("softmax_3x7x11x13", elementwise.softmax(3, 7, 11, 13))
_odd("layernorm_131x257", elementwise.layer_norm(131, 257))
_odd("gelu_3x1021", elementwise.gelu(3, 1021))

_odd("sum_999983", reductions.total(999_983))
_odd("sum_axis0_1009x1013", reductions.total(1009, 1013, axis=0))
_odd("sum_axis0_99991x3", reductions.total(99_991, 3, axis=0))
_odd("sum_axis1_99991x3", reductions.total(99_991, 3, axis=1))
_odd("sum_axis1_3x31x1009", reductions.total(3, 31, 1009, axis=1))
_odd("argmax_axis0_1009x1013", reductions.argmax(1009, 1013, axis=0))
_odd("argmax_axis1_1009x17", reductions.argmax(1009, 17, axis=1))

_odd("matmul_1x1x1", contractions.matmul((1, 1), (1, 1)))
_odd("matmul_7x13x17", contractions.matmul((7, 13), (13, 17)))
_odd("matmul_31x127x61", contractions.matmul((31, 127), (127, 61)))
_odd("matmul_257x263x269", contractions.matmul((257, 263), (263, 269)))
_odd("matmul_1009x1013x1019", contractions.matmul((1009, 1013), (1013, 1019)))
_odd("matmul_1021x1x1031", contractions.matmul((1021, 1), (1, 1031)))
_odd("matmul_997x1009x1", contractions.matmul((997, 1009), (1009, 1)))
_odd("matmul_1x997x1009", contractions.matmul((1, 997), (997, 1009), constant=True))
_odd("matmul_3x769x3079", contractions.matmul((3, 769), (769, 3079), constant=True))
_odd("matmul_8191x3x5", contractions.matmul((8191, 3), (3, 5)))
_odd("matmul_67x65537x71", contractions.matmul((67, 65_537), (65_537, 71)))
_odd("bmm_3x37x41x43", contractions.matmul((3, 37, 41), (3, 41, 43)))
_odd("bmm_1009x3x5x7", contractions.matmul((1009, 3, 5), (1009, 5, 7)))
_odd("matmul_int8_127x257x131", contractions.integer_matmul(127, 257, 131))
_odd("matmul_bf16_127x257x131", contractions.bf16_matmul(127, 257, 131))

_odd("conv3x3_29_13_17", convolutions.convolution(13, 17, 29, 3, pad=1))
_odd("conv1x1_31_7_11_b3", convolutions.convolution(7, 11, 31, 1, batch=3))
_odd("conv5x5s2_33_5_7_b3", convolutions.convolution(5, 7, 33, 5, stride=2, pad=2, batch=3))
_odd("conv3x3_1_37_41", convolutions.convolution(37, 41, 1, 3, pad=1))
_odd("conv3x3_groups3_19_9_15", convolutions.convolution(9, 15, 19, 3, pad=1, groups=3))
_odd("conv2x2_17_1_1", convolutions.convolution(1, 1, 17, 2))
_odd("conv3x3s3_57_67_71", convolutions.convolution(67, 71, 57, 3, stride=3))
_odd("dwconv3x3_23_37_b3", convolutions.depthwise(37, 23, 3, batch=3))
_odd("dwconv5x5s2_29_131", convolutions.depthwise(131, 29, 5, stride=2))

_odd("mlp_b3", models.mlp(3, 131, 257, 17))
_odd("lenet_b3", models.lenet(3))
_odd("mobilenetv2_b3_97", models.mobilenetv2(3, 97))
_odd("bert_layer_s37", language_models.bert_layer(37, width=132, heads=3))
_odd("lstm_s17_h37", language_models.lstm(17, 23, 37))

_odd("heat2d_127x61_101", science.heat(127, 61, 101))
_odd("nbody_331", science.nbody(331))
_odd("sort_99991", science.sort(99_991))
_odd("cumsum_99991", science.cumsum(99_991))
_odd("gather_99991", science.gather(99_991))
_odd("scatter_add_99991", science.scatter_add(99_991))
_odd("threefry_99991", science.threefry(99_991))
_odd("fft2_243x125", science.fft2(243, 125))
_odd("fft2_127x101", science.fft2(127, 101))
_odd("cholesky_97", science.cholesky(97))
_odd("trsm_101x3", science.triangular_solve(101, 3))
