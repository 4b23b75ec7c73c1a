"""Contractions: a dot or convolution with what is fused before and after it.

Three forms, by size and by which index runs along memory: register tiles over packed panels, a
block of columns side by side, or one sum after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property

from ccodegen.hlo.ir import Instruction
from ccodegen.loop.builder import const
from ccodegen.loop.ir import Expr, Index
from ccodegen.lower.elements import guarded
from ccodegen.lower.frame import is_framed, store_inside
from ccodegen.lower.job import Work
from ccodegen.ops.contraction import Contraction, Place, accumulator_type, contraction
from ccodegen.ops.fold import converted
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable

_SLOW = 3  # times as slow as from a cache is what comes from another core's


@immutable
class Product:
    """The hero of a contraction kernel, with access to the elements of both matrices, which are
    converted to the types given."""

    work: Work
    hero: Instruction
    left_type: ElementType
    right_type: ElementType

    @cached_property
    def shape(self) -> Contraction:
        return contraction(self.hero)

    @cached_property
    def type(self) -> ElementType:
        """Of the accumulator."""
        return accumulator_type(self.hero)

    @property
    def zero(self) -> Expr:
        return const(self.type, 0)

    @property
    def vector_elements(self) -> int:
        """Accumulators in a vector of the machine."""
        return self.work.job.target.machine.vector_elements(self.type.bytes)

    @contextmanager
    def looked_at(self) -> Iterator[tuple[Index, Index, Index, Index]]:
        """All places, to see what is read there, in loops that no kernel gets: batch, row, depth
        and column."""
        shape, builder = self.shape, self.work.builder
        with (
            builder.block(),
            builder.loops(shape.batch, "b") as batch,
            builder.loops(shape.rows, "row") as row,
            builder.loops(shape.columns, "col") as column,
            builder.loops(shape.depth, "k") as depth,
        ):
            yield batch, row, depth, column

    def lhs(self, batch: Index, row: Index, depth: Index) -> Expr:
        return self._entry(0, self.shape.lhs_index(batch, row, depth), self.left_type)

    def rhs(self, batch: Index, depth: Index, column: Index) -> Expr:
        return self._entry(1, self.shape.rhs_index(batch, depth, column), self.right_type)

    def shares_rows(self, left: int, right: int, is_packed: bool) -> bool:
        """Whether threads share the rows and not the columns of matrices of so many bytes: each
        reads all of the other matrix. What another core has written comes from there, as the left
        matrix, and the result to those who read it, by rows mostly. So does a right one that is
        packed, which all threads wait for."""
        m, n, _ = self.shape.sizes
        away = left + m * n * self.hero.array_shape.element_type.bytes
        has_threads = self.work.job.target.machine.threads > 1
        return has_threads and (right * _SLOW < away if is_packed else right < away * _SLOW)

    def finish(self, batch: Index, row: Index, column: Index, total: Expr) -> None:
        """The epilogue: stores the outputs that are made from one sum, which is read in any case:
        where one reads it on a condition, of elements beside it, compilers make no vectors."""
        at = self.shape.output_index(batch, row, column)
        value = converted(total, self.hero.array_shape.element_type)
        if any(output.instruction is not self.hero for output in self.work.job.outputs):
            value = self.work.builder.let(value, "sum")
        self.work.elements.know(self.hero, at, (value,))
        for output in self.work.job.outputs:
            if is_framed(self.work, output):
                store_inside(self.work, output, at)
            else:
                self.work.store(output, at)

    def _entry(self, number: int, place: Place, element_type: ElementType) -> Expr:
        condition, at = place

        def value() -> Expr:
            operand = self.work.elements.value(self.hero.operands[number], at)
            return converted(operand, element_type)

        if condition is None:
            return value()
        return guarded(self.work.builder, condition, value, lambda: const(element_type, 0))
