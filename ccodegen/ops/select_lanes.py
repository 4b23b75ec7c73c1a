"""select-and-scatter over lanes: windows that are one element wide along the last dimension.

The max-pooling of images whose features lie side by side selects for each feature by itself. What
a window selects is noted as the number of its element, and each element then takes the source
where it has that number: no place is looked up, so that features fill vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ccodegen.hlo.attributes import WindowDimension
from ccodegen.hlo.ir import Computation
from ccodegen.loop.builder import Builder, apply, compare, const, index, vector_kind
from ccodegen.loop.ir import Buffer, Expr, Index
from ccodegen.loop.linear import linearize
from ccodegen.ops.fold import call_scalars
from ccodegen.ops.index import plus
from ccodegen.ops.lowering import NestScope
from ccodegen.ops.window import input_index
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable

_S32 = ElementType.S32


@immutable
class Lanes:
    """`count` windows side by side at `position`, from `first` along the last dimension on."""

    scope: NestScope
    window: Sequence[WindowDimension]
    position: Index
    first: Expr
    count: int

    @property
    def _builder(self) -> Builder:
        return self.scope.builder

    def select(self, computation: Computation) -> Buffer:
        """For each window the number of the element it selects, -1 where it has none."""
        b, operand = self._builder, self.scope.operands[0]
        best = b.local(operand.type, (self.count,), "best")
        chosen = b.local(_S32, (self.count,), "chosen")
        with b.loop(self.count, "lane", vector_kind(self.count)) as lane:
            b.store(best, (lane,), const(operand.type, 0))
            b.store(chosen, (lane,), const(_S32, -1))
        with self._elements() as (number, at, lane):
            old, element = b.let(b.load(best, (lane,))), b.let(b.load(operand, at))
            before = b.let(b.load(chosen, (lane,)), "before")
            (keeps,) = call_scalars(self.scope, computation, (old, element))
            is_first = compare("lt", before, const(_S32, 0))
            takes = b.let(apply("or", is_first, apply("not", keeps)), "takes")
            b.store(best, (lane,), apply("select", takes, element, old))
            b.store(chosen, (lane,), apply("select", takes, number, before))
        return chosen

    def scatter(self, computation: Computation, chosen: Buffer) -> None:
        """Combines the selected elements of the result with the source."""
        b, source, (result,) = self._builder, self.scope.operands[1], self.scope.results
        with self._elements() as (number, at, lane):
            before = b.let(b.load(result, at))
            given = b.load(source, (*self.position, plus(self.first, lane)))
            (after,) = call_scalars(self.scope, computation, (before, given))
            is_chosen = compare("eq", b.load(chosen, (lane,)), number)
            b.store(result, at, apply("select", is_chosen, after, before))

    @contextmanager
    def _elements(self) -> Iterator[tuple[Expr, Index, Expr]]:
        """A loop over the elements of a window that there are: their numbers, and over the lanes:
        their places in the operand, and the lane."""
        b, sizes = self._builder, [w.size for w in self.window]
        operand, source, _ = self.scope.operands
        with b.loops(sizes[:-1], "w") as inside:
            offsets, position = (*inside, index(0)), (*self.position, index(0))
            condition, at = input_index(
                self.window, operand.dimensions, source.dimensions, position, offsets
            )
            with b.when(const(ElementType.PRED, True) if condition is None else condition):
                place = linearize(offsets, sizes)
                number = b.let(apply("convert", place, type=_S32), "number")
                with b.loop(self.count, "lane", vector_kind(self.count)) as lane:
                    yield number, (*at[:-1], plus(self.first, lane)), lane
