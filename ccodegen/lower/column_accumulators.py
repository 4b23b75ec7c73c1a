"""What a reduce keeps for each of some columns, while rows come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ccodegen.loop.builder import vector_kind
from ccodegen.loop.ir import Buffer, Expr, Load
from ccodegen.lower.extremum import find_extremum, keep_better
from ccodegen.lower.float_extremum import FloatExtremum
from ccodegen.lower.job import Work
from ccodegen.lower.kernel_builder import Values
from ccodegen.lower.reduction import (
    Reduction,
    better_of,
    float_extremum,
    is_extremum,
    with_initial,
)
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable

_ROWS_TOGETHER = 4
# Over longer chains of selects gcc 12 sits for seconds.
_ROWS_OF_PLACES_TOGETHER = 2


class Accumulators(Protocol):
    """Of one reduce."""

    def most_rows(self) -> int:
        """How many rows it pays to take together."""

    def take(self, column: Expr, rows: Sequence[Values]) -> None:
        """Combines a column with the elements of some rows, one after the other."""

    def finish(self) -> tuple[Buffer, ...]:
        """Where the results lie now."""


def accumulators_of(work: Work, reduction: Reduction, width: int) -> Accumulators:
    """Accumulators for so many columns that have seen no row."""
    if is_extremum(reduction) and not reduction.shifts:
        return _FloatExtrema(work, reduction, float_extremum(work.builder, reduction, width))
    name = f"{reduction.instruction.name}_acc"
    buffers = tuple(work.builder.local(t, (width,), name) for t in reduction.types)
    initial = [work.elements.value(i, ()) for i in reduction.initial]
    with work.builder.loop(width, "j", vector_kind(width)) as j:
        for buffer, value in zip(buffers, initial, strict=True):
            work.builder.store(buffer, (j,), value)
    if reduction.shifts:
        return _Shifts(work, reduction, buffers)
    exact = work.job.strict and reduction.types[0].is_float
    if len(buffers) > 1 and not exact and (operator := find_extremum(reduction)):
        return _Places(work, reduction, buffers, operator)
    return _Folds(work, reduction, buffers)


@immutable
class _Folds:
    """Any reduce, in the order of its rows."""

    work: Work
    reduction: Reduction
    buffers: tuple[Buffer, ...]

    def most_rows(self) -> int:
        return _ROWS_TOGETHER if len(self.buffers) == 1 else 1

    def take(self, column: Expr, rows: Sequence[Values]) -> None:
        total: Values = tuple(Load(b, (column,)) for b in self.buffers)
        for values in rows:
            total = self.combine(total, values)
        if len(total) > 1:
            total = tuple(self.work.builder.let(v, "new") for v in total)
        for buffer, value in zip(self.buffers, total, strict=True):
            self.work.builder.store(buffer, (column,), value)

    def combine(self, total: Values, values: Values) -> Values:
        if values[0].type is ElementType.PRED:  # else it is read on a condition
            values = tuple(self.work.builder.let(v, "value") for v in values)
        return self.reduction.combine(self.work.elements, total, values)

    def finish(self) -> tuple[Buffer, ...]:
        return self.buffers


@immutable
class _Shifts(_Folds):
    """The largest or smallest of floats, where a comparison tells it."""

    def combine(self, total: Values, values: Values) -> Values:
        return (better_of(self.work.builder, self.reduction, total[0], values[0]),)


@immutable
class _Places(_Folds):
    """Argmax and its kin, where it does not matter which zero or which NaN is found."""

    operator: str

    def most_rows(self) -> int:
        return _ROWS_OF_PLACES_TOGETHER

    def combine(self, total: Values, values: Values) -> Values:
        return keep_better(self.work.builder, self.operator, total, values)


@immutable
class _FloatExtrema:
    """The largest or smallest of floats."""

    work: Work
    reduction: Reduction
    lanes: FloatExtremum

    def most_rows(self) -> int:
        return _ROWS_TOGETHER

    def take(self, column: Expr, rows: Sequence[Values]) -> None:
        self.lanes.take(column, *(value for (value,) in rows))

    def finish(self) -> tuple[Buffer, ...]:
        found = self.lanes.best
        with self.work.builder.loop(found.size, "j", vector_kind(found.size)) as j:
            value = with_initial(self.work.elements, self.reduction, self.lanes.of_lane(j))
            self.work.builder.store(found, (j,), value)
        return (found,)
