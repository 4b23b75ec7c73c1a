"""Loops of a running fold: by lines along its axis, or by the rows across it.

Where machines have vectors, rows are folded side by side, and lines of sums, products, maxima and
minima several elements at a time (emit/line_scan.py), where their order is free.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ccodegen.hlo.ir import Computation
from ccodegen.loop.builder import apply, index, vector_kind
from ccodegen.loop.ir import Buffer, CallC, Expr, Index, LoopKind
from ccodegen.ops import fold
from ccodegen.ops.lowering import NestScope
from ccodegen.ops.running_fold import RunningFold
from ccodegen.support.element_type import ElementType

_SCANNED = frozenset(["add", "multiply", "maximum", "minimum"])
_SCANNED_TYPES = frozenset(
    [ElementType[n] for n in ("F32", "F64", "S32", "U32", "S64", "U64")]
)
_LEAST_LANES = 4
_LEAST_VECTORS = 2
_BLOCK = 8192  # bytes of a row: accumulators that stay in the nearest cache


def running_loops(
    scope: NestScope,
    computation: Computation,
    running: RunningFold,
    inputs: Sequence[Buffer],
    initial: Sequence[Expr],
) -> None:
    """The accumulators after each element. O(n) for cumsum."""
    after = inputs[0].dimensions[running.dimension + 1 :]
    has_vectors = scope.target.machine.has_vectors
    function = _scan_function(scope, computation, running, inputs)
    if has_vectors and math.prod(after) > 1 and after[-1] > 1:
        _rows(scope, computation, running, inputs, initial)
    elif math.prod(after) == 1 and function:
        _scanned_lines(scope, function, running, inputs, initial)
    else:
        _lines(scope, computation, running, inputs, initial)


def _lines(
    scope: NestScope,
    computation: Computation,
    running: RunningFold,
    inputs: Sequence[Buffer],
    initial: Sequence[Expr],
) -> None:
    """One line after the other."""
    builder = scope.builder
    outer = list(inputs[0].dimensions)
    extent = outer.pop(running.dimension)
    with builder.loops(outer, "i", LoopKind.PARALLEL) as line:
        accumulators = fold.Accumulators(scope, computation, initial)
        with builder.loop(extent, "k") as turn:
            at = _at(running, extent, line, turn)
            accumulators.add([builder.load(x, at) for x in inputs])
            for result, value in zip(scope.results, accumulators.values, strict=True):
                builder.store(result, at, value)


def _at(running: RunningFold, extent: int, line: Index, turn: Expr) -> Index:
    k = apply("subtract", index(extent - 1), turn) if running.backwards else turn
    return (*line[: running.dimension], k, *line[running.dimension :])


def _rows(
    scope: NestScope,
    computation: Computation,
    running: RunningFold,
    inputs: Sequence[Buffer],
    initial: Sequence[Expr],
) -> None:
    """Lines that lie side by side, in blocks, each with an accumulator of its own."""
    builder = scope.builder
    outer = list(inputs[0].dimensions)
    extent = outer.pop(running.dimension)
    width = outer.pop()
    block = min(width, _BLOCK // max(r.type.bytes for r in scope.results))

    def columns(line: Index, start: Expr, count: int) -> None:
        types = [r.type for r in scope.results]
        rows = [builder.local(t, (count,), "row") for t in types]
        with builder.loop(count, "j", vector_kind(count)) as j:
            for row, value in zip(rows, initial, strict=True):
                builder.store(row, (j,), fold.converted(value, row.type))
        with builder.loop(extent, "k") as turn, builder.loop(count, "j", vector_kind(count)) as j:
            at = _at(running, extent, (*line, apply("add", start, j)), turn)
            before = [builder.load(row, (j,)) for row in rows]
            elements = [builder.load(x, at) for x in inputs]
            found = fold.call_scalars(scope, computation, (*before, *elements))
            values = [builder.let(value) for value in found]
            for row, result, value in zip(rows, scope.results, values, strict=True):
                builder.store(row, (j,), value)
                builder.store(result, at, value)

    with builder.loops(outer, "i", LoopKind.PARALLEL) as line:
        with builder.loop(width // block, "b", LoopKind.PARALLEL) as number:
            columns(line, apply("multiply", number, index(block)), block)
        if width % block:
            columns(line, index(width - width % block), width % block)


def _scan_function(
    scope: NestScope, computation: Computation, running: RunningFold, inputs: Sequence[Buffer]
) -> str:
    """The name of the function that scans a line; empty where there is none."""
    operator, element = fold.operator_name(computation), inputs[0].type
    lanes = scope.target.machine.vector_elements(element.bytes)
    free = not scope.strict or element.is_integer or operator in ("maximum", "minimum")
    known = len(inputs) == 1 and operator in _SCANNED and element in _SCANNED_TYPES
    long = inputs[0].dimensions[running.dimension] >= _LEAST_VECTORS * lanes
    same = scope.results[0].type is element
    if not (free and known and long and same) or lanes < _LEAST_LANES:
        return ""
    direction = "back_" if running.backwards else ""
    return f"ccg_scan_{direction}{operator}_{element.text}_{lanes}"


def _scanned_lines(
    scope: NestScope,
    function: str,
    running: RunningFold,
    inputs: Sequence[Buffer],
    initial: Sequence[Expr],
) -> None:
    """Lines that lie one after the other, each by a call of the function."""
    builder = scope.builder
    extent = inputs[0].dimensions[running.dimension]
    outer = inputs[0].size // max(1, extent)
    with builder.loop(outer, "i", LoopKind.PARALLEL) as line:
        offset = apply("multiply", line, index(extent))
        scalars = (offset, index(extent), *initial)
        buffers = (scope.results[0], inputs[0])
        builder.emit(CallC(function, f"{function}.h", buffers, scalars))
