"""A small module for each op, over any element type.

The support matrix and the tests of types are made from these: an op takes an element type if the
verifier accepts one of its samples of that type. Ops that ask the caller (infeed, send, …) have
none.
"""

from __future__ import annotations

import re
from string import Template

from ccodegen.hlo.ir import Module
from ccodegen.hlo.opdef import OpDef
from ccodegen.hlo.text import parse
from ccodegen.support.element_type import ElementType

# $t stands for the element type, $bits for its width. A text is the body of the entry.
_SAMPLES: dict[str, tuple[str, ...]] = {
    "add-dependency": (
        "a = $t[3] parameter(0)  k = token[] after-all()  r = add-dependency(a, k)",
    ),
    "after-all": ("a = $t[3] parameter(0)  k = token[] after-all()  r = add-dependency(a, k)",),
    "all-gather": ("a = $t[3] parameter(0)  r = $t[3] all-gather(a), dimensions={0}",),
    "all-gather-done": (
        "a = $t[3] parameter(0)  s = ($t[3], $t[3]) all-gather-start(a), dimensions={0}"
        "  r = $t[3] all-gather-done(s)",
    ),
    "all-reduce": ("a = $t[3] parameter(0)  r = all-reduce(a), replica_groups={}, to_apply=sum",),
    "all-reduce-done": (
        "a = $t[3] parameter(0)  s = $t[3] all-reduce-start(a), replica_groups={}, to_apply=sum"
        "  r = $t[3] all-reduce-done(s)",
    ),
    "all-to-all": (
        "a = $t[3] parameter(0)  r = $t[3] all-to-all(a), replica_groups={{0}}, dimensions={0}",
    ),
    "async-start": (
        "a = $t[3] parameter(0)  s = (($t[3]), $t[3], s32[]) async-start(a), calls=copied"
        "  u = (($t[3]), $t[3], s32[]) async-update(s), calls=copied"
        "  r = $t[3] async-done(u), calls=copied",
    ),
    "batch-norm-grad": (
        "a = $t[2,3] parameter(0)  b = $t[3] parameter(1)  c = $t[3] parameter(2)"
        "  d = $t[3] parameter(3)  e = $t[2,3] parameter(4)"
        "  r = batch-norm-grad(a, b, c, d, e), epsilon=0.5, feature_index=1",
    ),
    "batch-norm-inference": (
        "a = $t[2,3] parameter(0)  b = $t[3] parameter(1)  c = $t[3] parameter(2)"
        "  d = $t[3] parameter(3)  e = $t[3] parameter(4)"
        "  r = batch-norm-inference(a, b, c, d, e), epsilon=0.5, feature_index=1",
    ),
    "batch-norm-training": (
        "a = $t[2,3] parameter(0)  b = $t[3] parameter(1)  c = $t[3] parameter(2)"
        "  r = batch-norm-training(a, b, c), epsilon=0.5, feature_index=1",
    ),
    "bitcast": ("a = $t[2,3] parameter(0)  r = $t[3,2] bitcast(a)",),
    "bitcast-convert": ("a = $t[3] parameter(0)  r = $t[3] bitcast-convert(a)",),
    "broadcast": ("a = $t[3] parameter(0)  r = $t[2,3] broadcast(a), dimensions={1}",),
    "call": ("a = $t[3] parameter(0)  r = $t[3] call(a), to_apply=copied",),
    "cholesky": ("a = $t[2,3,3] parameter(0)  r = cholesky(a), lower=true",),
    "clamp": (
        "a = $t[] parameter(0)  b = $t[3] parameter(1)  c = $t[] parameter(2)  r = clamp(a, b, c)",
    ),
    "collective-broadcast": (
        "a = $t[3] parameter(0)  r = $t[3] collective-broadcast(a), replica_groups={{0}}",
    ),
    "collective-permute": (
        "a = $t[3] parameter(0)  r = $t[3] collective-permute(a), source_target_pairs={{0,0}}",
    ),
    "collective-permute-done": (
        "a = $t[3] parameter(0)"
        "  s = ($t[3], $t[3]) collective-permute-start(a), source_target_pairs={{0,0}}"
        "  r = $t[3] collective-permute-done(s)",
    ),
    "compare": (
        "a = $t[9] parameter(0)  b = $t[9] parameter(1)  r = compare(a, b), direction=EQ",
    ),
    "concatenate": (
        "a = $t[2] parameter(0)  b = $t[3] parameter(1)  r = concatenate(a, b), dimensions={0}",
    ),
    "conditional": (
        "p = s32[] parameter(0)  a = $t[3] parameter(1)"
        "  r = $t[3] conditional(p, a, a), branch_computations={copied, reversed}",
    ),
    "constant": (
        "r = $t[2] constant({1, 0})",
        "r = $t[2] constant({-1, 0})",
        "r = $t[2] constant({1, 2})",
        "r = $t[2] constant({(1, 0), (-0, 2)})",
    ),
    "convert": (
        "a = $t[3] parameter(0)  r = f32[3] convert(a)",
        "a = s32[3] parameter(0)  r = $t[3] convert(a)",
    ),
    "convolution": (
        "a = $t[1,5,2] parameter(0)  b = $t[3,2,4] parameter(1)"
        "  r = convolution(a, b), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f",
    ),
    "copy-start": (
        "a = $t[3] parameter(0)  s = ($t[3], $t[3], u32[]) copy-start(a)"
        "  r = $t[3] copy-done(s)",
    ),
    "custom-call": (
        'a = $t[3] parameter(0)  r = $t[3] custom-call(a), custom_call_target="Sharding"',
    ),
    "domain": (
        'a = $t[3] parameter(0)  r = $t[3] domain(a), domain={kind="sharding", entry={}, exit={}}',
    ),
    "dot": (
        "a = $t[2,3] parameter(0)  b = $t[3,4] parameter(1)"
        "  r = dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    ),
    "dynamic-reshape": (
        "a = $t[6] parameter(0)  b = $t[] parameter(1)  m = s32[] constant(2)"
        "  n = s32[] constant(3)  d = $t[2,<=3] dynamic-reshape(a, m, n)"
        "  r = reduce(d, b), dimensions={0,1}, to_apply=sum",
    ),
    "dynamic-slice": (
        "a = $t[5] parameter(0)  i = s32[] parameter(1)"
        "  r = dynamic-slice(a, i), dynamic_slice_sizes={3}",
    ),
    "dynamic-update-slice": (
        "a = $t[5] parameter(0)  b = $t[2] parameter(1)  i = s32[] parameter(2)"
        "  r = dynamic-update-slice(a, b, i)",
    ),
    "fft": (
        "a = $t[6] parameter(0)  r = fft(a), fft_type=FFT, fft_length={6}",
        "a = $t[6] parameter(0)  r = fft(a), fft_type=RFFT, fft_length={6}",
    ),
    "fusion": ("a = $t[3] parameter(0)  r = $t[3] fusion(a), kind=kLoop, calls=copied",),
    "gather": (
        "a = $t[5,2] parameter(0)  i = s32[3] parameter(1)  r = gather(a, i), offset_dims={1}, "
        "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,2}",
    ),
    "get-dimension-size": ("a = $t[3] parameter(0)  r = get-dimension-size(a), dimensions={0}",),
    "iota": ("r = $t[2,3] iota(), iota_dimension=1",),
    "map": (
        "a = $t[3] parameter(0)  b = $t[3] parameter(1)"
        "  r = map(a, b), dimensions={0}, to_apply=sum",
    ),
    "opt-barrier": ("a = $t[3] parameter(0)  r = opt-barrier(a)",),
    "pad": ("a = $t[3] parameter(0)  b = $t[] parameter(1)  r = pad(a, b), padding=1_2_1",),
    "parameter": ("r = $t[3] parameter(0)",),
    "partition-id": ("r = partition-id()",),
    "ragged-all-to-all": (
        "a = $t[4] parameter(0)  b = $t[4] parameter(1)  i = s32[1] constant({0})"
        "  n = s32[1] constant({4})"
        "  r = $t[4] ragged-all-to-all(a, b, i, n, i, n), replica_groups={{0}}",
    ),
    "ragged-dot": (
        "a = $t[4,3] parameter(0)  b = $t[2,3,5] parameter(1)  n = s32[2] constant({1, 3})"
        "  r = $t[4,5] ragged-dot(a, b, n), lhs_contracting_dims={1}, rhs_contracting_dims={1},"
        " lhs_ragged_dims={0}, rhs_group_dims={0}",
    ),
    "reduce": (
        "a = $t[2,3] parameter(0)  b = $t[] parameter(1)"
        "  r = reduce(a, b), dimensions={1}, to_apply=sum",
    ),
    "reduce-precision": (
        "a = $t[3] parameter(0)  r = reduce-precision(a), exponent_bits=4, mantissa_bits=3",
    ),
    "reduce-scatter": (
        "a = $t[3] parameter(0)"
        "  r = $t[3] reduce-scatter(a), replica_groups={{0}}, dimensions={0}, to_apply=sum",
    ),
    "reduce-window": (
        "a = $t[5] parameter(0)  b = $t[] parameter(1)"
        "  r = reduce-window(a, b), window={size=2 stride=2 pad=1_0}, to_apply=sum",
    ),
    "replica-id": ("r = replica-id()",),
    "reshape": ("a = $t[2,3] parameter(0)  r = $t[6] reshape(a)",),
    "reverse": ("a = $t[3] parameter(0)  r = reverse(a), dimensions={0}",),
    "rng": (
        "a = $t[] parameter(0)  b = $t[] parameter(1)"
        "  r = $t[3] rng(a, b), distribution=rng_uniform",
    ),
    "rng-bit-generator": (
        "a = u64[2] parameter(0)  r = (u64[2], $t[5]) rng-bit-generator(a), algorithm=rng_philox",
    ),
    "rng-get-and-update-state": ("r = u64[2] rng-get-and-update-state(), delta=1",),
    "scaled-dot": (
        "a = $t[2,4] parameter(0)  b = $t[4,3] parameter(1)  c = f8e8m0fnu[2,2] parameter(2)"
        "  d = f8e8m0fnu[2,3] parameter(3)  r = f32[2,3] scaled-dot(a, b, c, d),"
        " lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    ),
    "scan": (
        "a = $t[3,2] parameter(0)  b = $t[2] parameter(1)"
        "  r = scan(a, b), dimensions={0}, num_carries=1, to_apply=step",
    ),
    "scatter": (
        "a = $t[5] parameter(0)  i = s32[3] parameter(1)  b = $t[3] parameter(2)"
        "  r = scatter(a, i, b), update_window_dims={}, inserted_window_dims={0},"
        " scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum",
    ),
    "select": (
        "p = pred[3] parameter(0)  a = $t[3] parameter(1)  b = $t[3] parameter(2)"
        "  r = select(p, a, b)",
    ),
    "select-and-scatter": (
        "a = $t[4] parameter(0)  b = $t[2] parameter(1)  c = $t[] parameter(2)"
        "  r = select-and-scatter(a, b, c), window={size=2 stride=2}, select=equal, scatter=sum",
    ),
    "set-dimension-size": (
        "a = $t[3] parameter(0)  b = $t[] parameter(1)  n = s32[] constant(2)"
        "  d = $t[<=3] set-dimension-size(a, n), dimensions={0}"
        "  r = reduce(d, b), dimensions={0}, to_apply=sum",
    ),
    "slice": ("a = $t[5] parameter(0)  r = slice(a), slice={[1:5:2]}",),
    "sort": ("a = $t[5] parameter(0)  r = sort(a), dimensions={0}, to_apply=less",),
    "stochastic-convert": (
        "a = $t[3] parameter(0)  u = u$bits[3] parameter(1)  r = s8[3] stochastic-convert(a, u)",
    ),
    "topk": ("a = $t[2,5] parameter(0)  r = topk(a), k=3",),
    "transpose": ("a = $t[2,3] parameter(0)  r = transpose(a), dimensions={1,0}",),
    "triangular-solve": (
        "a = $t[3,3] parameter(0)  b = $t[3,2] parameter(1)  r = triangular-solve(a, b), "
        "left_side=true, lower=true, transpose_a=NO_TRANSPOSE",
    ),
    "tuple": (
        "a = $t[3] parameter(0)  t = tuple(a, a)  r = $t[3] get-tuple-element(t), index=1",
    ),
    "while": (
        "a = $t[3] parameter(0)  n = s32[] constant(0)  t = tuple(n, a)"
        "  w = while(t), condition=counting, body=turn  r = $t[3] get-tuple-element(w), index=1",
    ),
}  # fmt: skip
# Ops that only occur together have one sample.
_TOGETHER = {
    "all-gather-start": "all-gather-done",
    "all-reduce-start": "all-reduce-done",
    "async-done": "async-start",
    "async-update": "async-start",
    "collective-permute-start": "collective-permute-done",
    "copy-done": "copy-start",
    "get-tuple-element": "tuple",
}
_COMPUTATIONS = {
    "sum": "sum { x = $t[] parameter(0)  y = $t[] parameter(1)  ROOT z = add(x, y) }",
    "less": (
        "less { x = $t[] parameter(0)  y = $t[] parameter(1)"
        "  ROOT z = compare(x, y), direction=LT }"
    ),
    "equal": (
        "equal { x = $t[] parameter(0)  y = $t[] parameter(1)"
        "  ROOT z = compare(x, y), direction=EQ }"
    ),
    "step": (
        "step { x = $t[2] parameter(0)  y = $t[2] parameter(1)  z = add(x, y)"
        "  ROOT w = tuple(z, z) }"
    ),
    "copied": "copied { x = $t[3] parameter(0)  ROOT y = copy(x) }",
    "reversed": "reversed { x = $t[3] parameter(0)  ROOT y = reverse(x), dimensions={0} }",
    "counting": (
        "counting { x = (s32[], $t[3]) parameter(0)  i = s32[] get-tuple-element(x), index=0"
        "  n = s32[] constant(3)  ROOT z = compare(i, n), direction=LT }"
    ),
    "turn": (
        "turn { x = (s32[], $t[3]) parameter(0)  i = s32[] get-tuple-element(x), index=0"
        "  a = $t[3] get-tuple-element(x), index=1  n = s32[] constant(1)  j = add(i, n)"
        "  b = reverse(a), dimensions={0}  ROOT z = tuple(j, b) }"
    ),
}


def texts(op: OpDef) -> tuple[str, ...]:
    """The op's samples: bodies of an entry over $t. Empty where it has none."""
    if op.opcode in _SAMPLES or op.opcode in _TOGETHER:
        return _SAMPLES[_TOGETHER.get(op.opcode, op.opcode)]
    if not op.elementwise:
        return ()
    names = "abc"[: op.arity[0]]
    parameters = "  ".join(f"{name} = $t[9] parameter({n})" for n, name in enumerate(names))
    return (f"{parameters}  r = {op.opcode}({', '.join(names)})",)


def sample(text: str, element_type: ElementType) -> Module:
    """A sample over an element type. Raises InputError where an op does not take it."""
    return parse(filled(text, element_type))


def filled(text: str, element_type: ElementType) -> str:
    """The whole text of the sample's module."""
    called = set(re.findall(r"(?:=|\{|, )([a-z]+)\b", text))
    needed = [c for name, c in _COMPUTATIONS.items() if name in called]
    body = text.replace("  r = ", "  ROOT r = ") if "  r = " in text else f"ROOT {text}"
    whole = "\n".join(["HloModule sample", *needed, f"ENTRY e {{ {body} }}"])
    return Template(whole).substitute(t=element_type.text, bits=element_type.bits)
