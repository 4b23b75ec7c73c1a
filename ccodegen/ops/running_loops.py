"""Loops of a running fold: by lines along its axis, or by the rows across it.

Where machines have vectors, rows are folded side by side, and lines of sums, products, maxima and
minima several elements at a time (emit/line_scan.py), where their order is free.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from ccodegen.hlo.ir import Computation
from ccodegen.loop.builder import Builder, apply, even_width, in_blocks, index, vector_kind
from ccodegen.loop.cost import CACHE_LINE
from ccodegen.loop.ir import Buffer, CallC, Expr, Index, LoopKind
from ccodegen.ops import fold
from ccodegen.ops.lowering import NestScope
from ccodegen.ops.running_fold import RunningFold
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable

_SCANNED = frozenset(["add", "multiply", "maximum", "minimum"])
_SCANNED_TYPES = frozenset(
    [ElementType[n] for n in ("F32", "F64", "S32", "U32", "S64", "U64")]
)
_LEAST_LANES = 4
_LEAST_VECTORS = 2
_LINES = 64
_BLOCK = 8192  # bytes of a row: accumulators that stay in the nearest cache


def running_loops(
    scope: NestScope,
    computation: Computation,
    running: RunningFold,
    inputs: Sequence[Buffer],
    initial: Sequence[Expr],
) -> None:
    """The accumulators after each element. O(n) for cumsum."""
    loops = _Loops(scope, computation, running, tuple(inputs), tuple(initial))
    after = inputs[0].dimensions[running.dimension + 1 :]
    function = loops.scan_function()
    if scope.target.machine.has_vectors and math.prod(after) > 1 and after[-1] > 1:
        loops.write_rows(_BLOCK // max(r.type.bytes for r in scope.results))
    elif math.prod(after) == 1 and function:
        loops.write_scanned_lines(function)
    elif scope.target.machine.has_vectors and loops.others and loops.pays_side_by_side():
        # Elements of several lines are gathered: less time than one line waits for its last sum.
        loops.write_rows(_LINES)
    else:
        loops.write_lines()


@immutable
class _Loops:
    """`computation` of the accumulators, which are `initial` at first, and elements of `inputs`."""

    scope: NestScope
    computation: Computation
    running: RunningFold
    inputs: tuple[Buffer, ...]
    initial: tuple[Expr, ...]

    @property
    def builder(self) -> Builder:
        return self.scope.builder

    @property
    def extent(self) -> int:
        """Of the axis."""
        return self.inputs[0].dimensions[self.running.dimension]

    @property
    def others(self) -> tuple[int, ...]:
        """The extents of all other dimensions."""
        sizes, axis = self.inputs[0].dimensions, self.running.dimension
        return sizes[:axis] + sizes[axis + 1 :]

    def write_lines(self) -> None:
        """One line after the other."""
        builder = self.builder
        with builder.loops(self.others, "i", LoopKind.PARALLEL) as line:
            accumulators = fold.Accumulators(self.scope, self.computation, self.initial)
            with builder.loop(self.extent, "k") as turn:
                at = self._at(line, turn)
                accumulators.set(self._folded(accumulators.values, at))
                for result, value in zip(self.scope.results, accumulators.values, strict=True):
                    builder.store(result, at, value)

    def _folded(self, before: Sequence[Expr], at: Index) -> tuple[Expr, ...]:
        """The accumulators after the elements there."""
        elements = [self.builder.load(x, at) for x in self.inputs]
        arguments = self.running.arguments(before, elements)
        return fold.call_scalars(self.scope, self.computation, arguments)

    def _at(self, line: Index, turn: Expr) -> Index:
        axis = self.running.dimension
        k = apply("subtract", index(self.extent - 1), turn) if self.running.backwards else turn
        return (*line[:axis], k, *line[axis:])

    def write_rows(self, most: int) -> None:
        """Lines side by side, in blocks of so many at most, each with an accumulator of its own."""
        builder = self.builder
        *outer, width = self.others
        block = even_width(width, most, math.prod(outer), self.scope.target.machine.threads)
        if block * min(r.type.bytes for r in self.scope.results) % CACHE_LINE:
            block = min(width, most)  # two threads would write to one line of a cache
        with builder.loops(outer, "i", LoopKind.PARALLEL) as line:
            write = partial(self._write_block, line)
            in_blocks(builder, width, block, "b", write, LoopKind.PARALLEL)

    def _write_block(self, line: Index, start: Expr, count: int) -> None:
        """So many lines from this one on."""
        builder, results = self.builder, self.scope.results
        rows = [builder.local(r.type, (count,), "row") for r in results]
        with builder.loop(count, "j", vector_kind(count)) as j:
            for row, value in zip(rows, self.initial, strict=True):
                builder.store(row, (j,), fold.converted(value, row.type))
        with (
            builder.loop(self.extent, "k") as turn,
            builder.loop(count, "j", vector_kind(count)) as j,
        ):
            at = self._at((*line, apply("add", start, j)), turn)
            before = [builder.load(row, (j,)) for row in rows]
            values = [builder.let(value) for value in self._folded(before, at)]
            for row, result, value in zip(rows, results, values, strict=True):
                builder.store(row, (j,), value)
                builder.store(result, at, value)

    def pays_side_by_side(self) -> bool:
        """Whether there are so many lines, the fewer the more ops a line waits for."""
        return self.others[-1] >= (_LINES if fold.operator_name(self.computation) else _LEAST_LANES)

    def scan_function(self) -> str:
        """The name of the function that scans a line; empty where there is none."""
        scope, operator = self.scope, fold.operator_name(self.computation)
        element = self.inputs[0].type
        lanes = scope.target.machine.vector_elements(element.bytes)
        free = not scope.strict or element.is_integer or operator in ("maximum", "minimum")
        known = len(self.inputs) == 1 and operator in _SCANNED and element in _SCANNED_TYPES
        long = self.extent >= _LEAST_VECTORS * lanes
        same = scope.results[0].type is element
        if not (free and known and long and same) or lanes < _LEAST_LANES:
            return ""
        direction = "back_" if self.running.backwards else ""
        return f"ccg_scan_{direction}{operator}_{element.text}_{lanes}"

    def write_scanned_lines(self, function: str) -> None:
        """Lines that lie one after the other, each by a call of the function."""
        builder, extent = self.builder, self.extent
        outer = self.inputs[0].size // max(1, extent)
        with builder.loop(outer, "i", LoopKind.PARALLEL) as line:
            offset = apply("multiply", line, index(extent))
            scalars = (offset, index(extent), *self.initial)
            buffers = (self.scope.results[0], self.inputs[0])
            builder.emit(CallC(function, f"{function}.h", buffers, scalars))
