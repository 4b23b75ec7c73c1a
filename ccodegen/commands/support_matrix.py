"""The support matrix: which op takes which element types, in the evaluator and in C, and how exact
the math functions are. Found by trying the ops' samples, and by reading runtime_c's comments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ccodegen.backend.build import Build, build
from ccodegen.backend.options import BuildOptions
from ccodegen.commands.expansions import EXPANSIONS, WHY, Measured
from ccodegen.hlo.evaluate import evaluate, value_leaves
from ccodegen.hlo.ir import Module
from ccodegen.hlo.opdef import OpDef, all_ops
from ccodegen.hlo.verify import verify
from ccodegen.loop import operators
from ccodegen.loop.operators import OPERATORS, Operator
from ccodegen.ops.samples import sample, texts
from ccodegen.random_inputs import random_inputs
from ccodegen.support.accuracy import Bound, stated_bounds
from ccodegen.support.element_type import HLO_TYPES, ElementType
from ccodegen.support.errors import InputError, UnsupportedError
from ccodegen.support.immutable import frozen
from ccodegen.target import Target, load

Array: TypeAlias = np.ndarray[Any, Any]
Arguments: TypeAlias = Callable[[Module], Sequence[Array]]
Key: TypeAlias = tuple[str, ElementType]

# Columns of the table, and the types that each is about.
_COLUMNS = {
    "pred": "pred",
    "s1–s4": "s1 s2 s4",
    "s8–s64": "s8 s16 s32 s64",
    "u1–u4": "u1 u2 u4",
    "u8–u64": "u8 u16 u32 u64",
    "f4 f6 f8": "f4e2m1fn f6e3m2fn f6e2m3fn f8e5m2 f8e4m3 f8e4m3fn f8e4m3b11fnuz f8e3m4 f8e5m2fnuz "
    "f8e4m3fnuz f8e8m0fnu",
    "f16 bf16": "f16 bf16",
    "f32": "f32",
    "f64": "f64",
    "c64 c128": "c64 c128",
}
_MARKS = {(True, True): "✓", (True, False): "E", (False, True): "C", (False, False): "–"}
_HEAD = """\
# What is supported

Made by `ccodegen ops --markdown`; do not edit.

## Ops and element types

✓ the evaluator and C; E the evaluator alone; C in C alone; – neither yet; empty: HLO has no such \
operation, or XLA does not define it. Where the types of a column differ, those of ✓ are named. \
Each ✓ is tested by `tests/ops/test_types.py`: evaluator, interpreted loops and compiled C \
give the same bits. The last ops need the caller's hooks.

"""
_ACCURACY = """
## Accuracy of the math functions

The largest error in ulp of the result, in default mode (with FMA) and in strict mode where that \
differs. f32 functions of one argument: over all 2^32 arguments. f64, and functions of two: over \
special values and 10^7 drawn arguments: of any bits, of ordinary sizes, near ±1 and near \
multiples of π/4 (`python -m tests.runtime_c.sweep`). f16, bf16 and narrower floats round the \
result of f32: 0.501 ulp, over all arguments. NaN, infinities, zeros with their sign, denormals \
and the ends of domains are C99's (annex F). Of real numbers, add, subtract, multiply and divide \
round once, and abs, ceil, floor, is-finite, negate, remainder, sign and both ways of rounding are \
exact; those of one argument were swept over all of f32, too. In default mode a loop may divide by \
one number, and anything by a constant, with its reciprocal and FMA: the same quotients, but for \
dividends and quotients below 2^-100 (f64: 2^-900) at most 1.5 ulp, and, by a number that is no \
constant, infinity from an ulp below overflow on.

Complex: in ulp of the larger part of the result, so that the smaller part may have no right \
digit; the largest error found over all pairs of 80 notable parts (axes, branch cuts, both zeros, \
extremes) and 1.5 million drawn arguments of all magnitudes, and a little more \
(`python -m tests.runtime_c.sweep_complex`); nothing is proven. The same for c64 and c128. \
multiply and divide: where nothing overflows. power is exp(b·log a), and has no bound: its error \
grows up to 4·(1 + |b·log a|) ulp. atan2 is HLO's -i·log((x + i·y)/√(x² + y²)), and has none \
either: up to 4·(|x|² + |y|²)/|x² + y²| epsilons, not ulp. Both for parts of ordinary size.

`tests/runtime_c/` holds every bound on a sample.

| function | f32 | f64 | c64 c128 |
|---|---|---|---|
"""
_SPECIAL = {"decay": "exponential of what is never positive: x − max(x), −x²"}
_EXPANDED = """
## Accuracy of functions that JAX writes out as other ops

JAX and jaxlib give these to a compiler as several ops, so the formulas are theirs, and with them \
nearly all of the error. In ulp of f32, in default mode, against SciPy in f64, over every N-th of \
the 2^32 arguments (`python -m tests.jax_functions.sweep`); XLA on a CPU beside it, on the same \
arguments. Denormal arguments and true results, which XLA takes for zero, stand apart.

| function | largest error | at | over 4 ulp | XLA | denormal | N | why over 4 ulp |
|---|---|---|---|---|---|---|---|
"""


@frozen
class Probe:
    """A sample over an element type: what it gives for its arguments, and what is built of it in
    strict mode. None: not supported yet."""

    module: Module
    arguments: tuple[Array, ...]
    results: tuple[Array, ...] | None
    built: Build | None


def probe_all(target: Target, arguments: Arguments = random_inputs) -> dict[Key, Probe]:
    """The probes by opcode and type, for those types that the op takes."""
    return {
        (op.opcode, element_type): found
        for op in all_ops()
        for element_type in HLO_TYPES.values()
        if (found := probe(op, element_type, target, arguments))
    }


def probe(
    op: OpDef, element_type: ElementType, target: Target, arguments: Arguments
) -> Probe | None:
    """By the op's first sample that the type fits."""
    for text in texts(op):
        try:
            module = sample(text, element_type)
            verify(module)
        except InputError:
            continue
        given = tuple(arguments(module))
        return Probe(module, given, _evaluated(module, given), _built(module, target))
    return None


def _evaluated(module: Module, arguments: Sequence[Array]) -> tuple[Array, ...] | None:
    try:
        leaves = value_leaves(evaluate(module, *arguments))
    except UnsupportedError:
        return None
    return tuple(np.asarray(leaf) for leaf in leaves if leaf is not None)


def _built(module: Module, target: Target) -> Build | None:
    try:
        return build(module, BuildOptions(target, strict=True))
    except UnsupportedError:
        return None


def markdown(probes: Mapping[Key, Probe] | None = None) -> str:
    """The page. Trying all samples, unless `probes` has them, takes half a minute."""
    found = probe_all(load("x86-64")) if probes is None else probes
    head = ["op", *_COLUMNS]
    rows = [_row(head), _row(["---"] * len(head))]
    rows += [_row([op.opcode, *_cells(op, found)]) for op in all_ops() if texts(op)]
    others = ", ".join(op.opcode for op in all_ops() if not texts(op))
    rows += ["", f"Others: {others}."] if others else []
    accuracy = [_row(cells) for cells in _accuracy()]
    expanded = [_row(cells) for cells in map(_expanded, EXPANSIONS)]
    sections = [(_HEAD, rows), (_ACCURACY, accuracy), (_EXPANDED, expanded)]
    return "\n".join([*(head + "\n".join(lines) for head, lines in sections), ""])


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(op: OpDef, found: Mapping[Key, Probe]) -> Iterator[str]:
    for names in _COLUMNS.values():
        marks = {n: _mark(found.get((op.opcode, HLO_TYPES[n]))) for n in names.split()}
        if len(set(marks.values())) == 1:
            yield next(iter(marks.values()))
        else:
            yield " ".join(n for n, mark in marks.items() if mark == "✓")


def _mark(found: Probe | None) -> str:
    return _MARKS[found.results is not None, found.built is not None] if found else ""


def _accuracy() -> Iterator[list[str]]:
    names = {op.opcode: op.opcode for op in all_ops()} | _SPECIAL
    for name, operator in OPERATORS.items():
        stated = [_stated(operator, HLO_TYPES[t]) for t in ("f32", "f64", "c64")]
        if any(stated) and name in names:
            yield [names[name], *map(_bound, stated)]


def _stated(operator: Operator, element_type: ElementType) -> Bound | None:
    """The bound of the function of runtime_c that the operator is spelled as."""
    types = (element_type,) * operator.arity
    if operators.check(operator.name, types, operator.result(element_type)):
        return None
    spelled = operators.spell(operator.name, types, operator.result(element_type)).template
    called = re.fullmatch(r"ccg_(\w+)_[fc]\d+\(.*\)", spelled)
    return stated_bounds().get((called[1], element_type.text)) if called else None


def _bound(bound: Bound | None) -> str:
    if bound is None:
        return ""
    same = bound.strict == bound.default
    return f"{bound.default:g}" if same else f"{bound.default:g}, strict {bound.strict:g}"


def _expanded(found: Measured) -> list[str]:
    errors = (f"{ulp:g}" for ulp in (found.xla_ulp, found.denormal_ulp))
    measured = [f"{found.ulp:g}", f"{found.at:.9g}", f"{found.above_4:g} %", *errors]
    return [found.function, *measured, str(found.step), WHY.get(found.function, "")]
