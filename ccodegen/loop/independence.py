"""Whether the turns of a loop are independent: none reads or writes what another one writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from ccodegen.loop.affine import Affine, affine
from ccodegen.loop.ir import (
    Alloc,
    Apply,
    Buffer,
    CallC,
    Expr,
    For,
    If,
    Index,
    Let,
    Load,
    Stmt,
    Store,
    Var,
)
from ccodegen.loop.parts import loads
from ccodegen.loop.ranges import EVERYTHING, Interval, interval, point

Body: TypeAlias = tuple[Stmt, ...]


def independent(loop: For, calls: bool = False) -> bool:
    """True only where it is proven: each buffer that outlives a turn and is written has a
    dimension whose index is c * var + rest in every access, where the rest varies by less than c.

    Independent: `for i: for j: out[i * 4 + j] = x[j]` with j < 4. Dependent: `sum = sum + x[i]`.
    `calls`: loops with library calls are asked about too; such a call may touch all of a buffer.
    """
    accesses = _Accesses()
    accesses.collect(loop.body)
    accesses.ranges[loop.var] = EVERYTHING
    outer = accesses.written - accesses.allocated
    if accesses.calls and (not calls or outer & accesses.called):
        return False
    return all(accesses.stay_apart(accesses.indices[buffer], loop.var) for buffer in outer)


@dataclass
class _Accesses:
    """What the body of a loop does with buffers, and what it binds."""

    indices: dict[Buffer, list[Index]] = field(default_factory=dict)
    written: set[Buffer] = field(default_factory=set)
    allocated: set[Buffer] = field(default_factory=set)
    ranges: dict[Var, int | Interval] = field(default_factory=dict)
    values: dict[Var, Expr] = field(default_factory=dict)
    called: set[Buffer] = field(default_factory=set)
    calls: bool = False

    def collect(self, body: Body) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, statement: Stmt) -> None:
        match statement:
            case For(var, extent, body):
                self.ranges[var] = extent if isinstance(extent, int) else self._turns(extent)
                self._loads(*(() if isinstance(extent, int) else (extent,)))
                self.collect(body)
            case If(condition, then, orelse):
                self._loads(condition)
                self.collect(then)
                self.collect(orelse)
            case Let(var, value):
                self.values[var] = value
                self.ranges[var] = EVERYTHING
                self._loads(value)
            case Alloc(buffer):
                self.allocated.add(buffer)
            case Store(buffer, indices, value):
                self.written.add(buffer)
                self.indices.setdefault(buffer, []).append(indices)
                self._loads(*indices, value)
            case CallC():
                self.calls = True
                self.called.update(statement.buffers)
                self.written.update(statement.buffers[n] for n in statement.writes)
                self._loads(*statement.scalars)

    def _turns(self, extent: Expr) -> Interval:
        """The turns of a loop of computed extent."""
        return Interval(0, max(interval(extent, self.ranges).high - 1, 0))

    def _loads(self, *expressions: Expr) -> None:
        for load in loads(*expressions):
            self.indices.setdefault(load.buffer, []).append(load.indices)

    def stay_apart(self, accesses: list[Index], var: Var) -> bool:
        """Whether one dimension keeps the turns apart."""
        return any(self._apart([self.full(i) for i in d], var) for d in zip(*accesses, strict=True))

    def _apart(self, indices: list[Affine], var: Var) -> bool:
        stride = indices[0].terms.get(var, 0)
        fixed = self._fixed(indices[0])
        reach = self._varying(indices[0], var)
        for index in indices[1:]:
            if index.terms.get(var, 0) != stride or self._fixed(index) != fixed:
                return False
            reach = reach.union(self._varying(index, var))
        return reach.high - reach.low < abs(stride)

    def full(self, expr: Expr) -> Affine:
        """The index with the values of names bound in the loop."""
        total = affine(expr)
        for term, coefficient in total.terms.items():
            if isinstance(term, Var) and term in self.values:
                value = self.full(self.values[term]).scaled(coefficient)
                total = total - Affine({term: coefficient}) + value
        return total

    def _fixed(self, index: Affine) -> Mapping[Expr, int]:
        return {t: c for t, c in index.terms.items() if self._is_fixed(t)}

    def _varying(self, index: Affine, var: Var) -> Interval:
        reach = point(index.constant)
        for term, coefficient in index.terms.items():
            if term != var and not self._is_fixed(term):
                reach += interval(term, self.ranges).scaled(coefficient)
        return reach

    def _is_fixed(self, term: Expr) -> bool:
        """Whether a term has one value in all turns, because nothing in it is of the loop."""
        match term:
            case Var():
                return term not in self.ranges
            case Load(buffer, indices):
                return buffer not in self.written and all(map(self._is_fixed, indices))
            case Apply(_, arguments):
                return all(map(self._is_fixed, arguments))
        return True
