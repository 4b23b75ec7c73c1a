"""The proto of a module and its text are read to the same module."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ccodegen.ops  # noqa: F401
from ccodegen.hlo import proto, text
from ccodegen.hlo.ir import Module
from ccodegen.hlo.opdef import all_ops
from ccodegen.hlo.proto.attributes import TAKERS
from ccodegen.hlo.proto.schema import MESSAGES, message_classes
from tests.hlo.jaxlib_modules import converted, forms
from tests.shared import corpus_dir

SAMPLE = 1500
# In the configuration that XLA keeps beside the proto, not in it.
NOT_IN_PROTO = {
    "replica_count",
    "num_partitions",
    "alias_passthrough_params",
    "allow_spmd_sharding_propagation_to_parameters",
    "allow_spmd_sharding_propagation_to_output",
    "origin_recovery_table",
}


def without_configuration(module: Module) -> Module:
    kept = tuple(a for a in module.annotations if a[0] not in NOT_IN_PROTO)
    return replace(module, annotations=kept)


def programs() -> dict[str, tuple[Any, ...]]:
    jax = pytest.importorskip("jax")
    jnp, lax = jax.numpy, jax.lax
    x, i = np.ones((4, 6), np.float32), np.arange(6)
    image, kernel = np.ones((2, 8, 8, 4), np.float32), np.ones((3, 3, 2, 6), np.float32)
    batch, eye = x.reshape(2, 3, 4), np.eye(3, dtype=np.float32)
    pool = (1, 2, 2, 1), (1, 2, 2, 1)
    types = "bfloat16 float16 int8 uint32 bool float8_e4m3fn int4 complex64"
    convolution = {
        "window_strides": (2, 1),
        "padding": ((1, 2), (0, -1)),
        "lhs_dilation": (2, 1),
        "rhs_dilation": (1, 2),
        "dimension_numbers": ("NHWC", "HWIO", "NHWC"),
        "feature_group_count": 2,
    }
    return {
        "softmax": (jax.nn.softmax, x),
        "dot": (lambda a: jnp.einsum("bij,bkj->bik", a, a, precision="highest"), batch),
        "convolution": (lambda a, k: lax.conv_general_dilated(a, k, **convolution), image, kernel),
        "max_pool": (
            jax.grad(lambda a: lax.reduce_window(a, -np.inf, lax.max, *pool, "VALID").sum()),
            image,
        ),
        "gather": (lambda a, n: a[:, n], x, i),
        "scatter": (lambda a, n: a.at[:, n].add(2.0), x, i),
        "sort": (lambda a: lax.sort((a, -a), dimension=1, num_keys=2), x),
        "top_k": (lambda a: lax.top_k(a, 2), x),
        "while": (lambda a: lax.fori_loop(0, 5, lambda n, c: jnp.sin(c) * n, a), x),
        "cond": (lambda a: lax.cond(a[0, 0] > 0, jnp.sin, jnp.cos, a), x),
        "switch": (lambda n, a: lax.switch(n, [jnp.sin, jnp.cos, jnp.tan], a), np.int32(1), x),
        "scan": (lambda a: lax.scan(lambda c, r: (c + r, c * r), a[0], a), x),
        "cholesky": (jnp.linalg.cholesky, eye),
        "solve": (lambda a: lax.linalg.triangular_solve(a, a, transpose_a=True), eye),
        "fft": (lambda a: jnp.fft.irfft(jnp.fft.rfft(a)), x),
        "rng": (lambda k: lax.rng_bit_generator(k, (3,)), np.zeros(4, np.uint32)),
        "pad_slice": (lambda a: lax.pad(a, 0.0, ((1, -1, 2), (0, 3, 0)))[1:7:2, ::3], x),
        "slice_at": (lambda a, n: lax.dynamic_slice(a, (n, n), (2, 3)), x, np.int32(1)),
        "update_at": (lambda a, n: lax.dynamic_update_slice(a, a[:2], (n, n)), x, np.int32(1)),
        "types": (lambda a: [a.astype(t) for t in types.split()], x),
        "constants": (lambda a: a + np.arange(24, dtype=np.float32).reshape(4, 6), x),
        "reduce_precision": (lambda a: lax.reduce_precision(a, 5, 7), x),
    }


PROGRAMS = (
    "softmax dot convolution max_pool gather scatter sort top_k while cond switch scan cholesky "
    "solve fft rng pad_slice slice_at update_at types constants reduce_precision"
)


@pytest.mark.parametrize("name", PROGRAMS.split())
@pytest.mark.parametrize("optimized", [False, True], ids=["lowered", "compiled"])
def test_a_jax_program_reads_like_its_text(name: str, optimized: bool) -> None:
    function, *arguments = programs()[name]
    lowered = pytest.importorskip("jax").jit(function).lower(*arguments)
    if optimized:
        (module,) = lowered.compile().runtime_executable().hlo_modules()
    else:
        module = lowered.compiler_ir("hlo").get_hlo_module()
    data, printed = forms(module)
    expected = without_configuration(text.parse(printed))
    assert proto.read(data).to_text() == expected.to_text()


def test_the_corpus_reads_like_its_text(tmp_path: Path) -> None:
    pytest.importorskip("jaxlib")
    corpus = corpus_dir()
    rows = [json.loads(line) for line in (corpus / "index.jsonl").read_text().splitlines()]
    paths = [corpus / row["hlo"] for row in rows]
    # The text forms of asynchronous pairs and of channel 0 have more than the proto.
    different, read = [], 0
    for path, data, printed in converted(random.Random(0).sample(paths, SAMPLE), tmp_path):
        if "-start(" in printed or "channel_id=0" in printed:
            continue
        read += 1
        expected = without_configuration(text.parse(printed)).to_text()
        if proto.read(data).to_text() != expected:
            different.append(path)
    assert read > SAMPLE * 0.8
    assert not different


def module_proto(body: str) -> bytes:
    hlo = pytest.importorskip("jaxlib._hlo")
    module = hlo.hlo_module_from_text(f"HloModule m\nENTRY e {{\n{body}\n}}")
    data: bytes = module.as_serialized_hlo_module_proto()
    return data


@pytest.mark.parametrize(
    ("element_type", "values"),
    [
        ("pred", "true, false"),
        ("s4", "-8, 7"),
        ("u4", "0, 15"),
        ("s8", "-128, 127"),
        ("u16", "0, 65535"),
        ("s64", "-9223372036854775808, 9223372036854775807"),
        ("u64", "0, 18446744073709551615"),
        ("f16", "-inf, nan"),
        ("bf16", "1.5, -0.0"),
        ("f64", "1e-300, 0.1"),
        ("f8e5m2", "1.5, -inf"),
        ("f4e2m1fn", "-6, 0.5"),
        ("c64", "(1, -2), (inf, 0)"),
        ("c128", "(0.1, -2), (3, 4)"),
    ],
)
def test_literals_of_every_storage(element_type: str, values: str) -> None:
    body = f"ROOT c = {element_type}[2] constant({{{values}}})"
    expected = text.parse(f"ENTRY e {{\n{body}\n}}").entry.root.attributes
    assert proto.read(module_proto(body)).entry.root.attributes == expected


def test_a_literal_is_stored_in_its_layout() -> None:
    data = module_proto("ROOT c = f32[2,3]{0,1} constant({{1,2,3},{4,5,6}})")
    literal = proto.read(data).entry.root.attributes.literal
    assert literal.array.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_an_hlo_proto_holds_a_module_proto() -> None:
    data = module_proto("ROOT p = f32[2] parameter(0)")
    wrapper = message_classes()["HloProto"]()
    wrapper.hlo_module.ParseFromString(data)
    assert proto.read(wrapper.SerializeToString()).to_text() == proto.read(data).to_text()


def test_source_locations_come_from_the_stack_frames() -> None:
    jax = pytest.importorskip("jax")
    lowered = jax.jit(lambda x: x + 1).lower(1.0)
    module = proto.read(lowered.compiler_ir("hlo").as_serialized_hlo_module_proto(), "m.pb")
    add = next(i for i in module.entry.instructions if i.op == "add")
    assert add.location is not None
    assert Path(add.location.file).name == "test_proto.py"
    assert module.entry.parameters[0].metadata.op_name == "x"


def test_a_deep_chain_is_read_without_recursion() -> None:
    lines = ["p0 = f32[] parameter(0)"]
    lines += [f"p{i} = f32[] negate(p{i - 1})" for i in range(1, 10_000)]
    lines[-1] = "ROOT " + lines[-1]
    module = proto.read(module_proto("\n".join(lines)))
    assert len(module.entry.instructions) == 10_000


def test_every_attribute_has_a_source_in_the_proto() -> None:
    fields = {entry.split("=")[0] for entry in MESSAGES["HloInstructionProto"].split()}
    not_stored = {"mode", "convolution_kind"}
    for definition in all_ops():
        names = set(definition.attributes.spelled()) - not_stored
        assert names <= TAKERS.keys() | fields, definition.opcode


def test_takers_are_all_of_use() -> None:
    used = {name for d in all_ops() for name in d.attributes.spelled()}
    assert TAKERS.keys() <= used
