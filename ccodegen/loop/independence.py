"""Whether the turns of a loop are independent: none reads or writes what another one writes."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from ccodegen.loop.affine import Affine, affine, ends
from ccodegen.loop.ir import (
    INDEX,
    Alloc,
    Apply,
    Buffer,
    CallC,
    Const,
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
from ccodegen.loop.library import blocks_used
from ccodegen.loop.parts import loads
from ccodegen.loop.ranges import EVERYTHING, Interval, counted
from ccodegen.loop.rebuild import statements, used_buffers

Body: TypeAlias = tuple[Stmt, ...]


def independent(loop: For, calls: bool = False) -> bool:
    """True only where it is proven: each buffer that outlives a turn and is written has a
    dimension whose index is c * var + rest in every access, where the rest varies by less than c,
    but for multiples of what c * var + rest does not reach.

    Independent: `for i < 8: for j < 4: for k: out[k * 32 + i * 4 + j] = x[j]`, and also
    `for i < 8: for j < min(30 - i * 4, 4): for k: out[k * 30 + i * 4 + j] = x[j]`.
    Dependent: `sum = sum + x[i]`.
    `calls`: loops with library calls are asked about too; such a call may touch all of a buffer, if
    it is not known better.
    """
    turns = loop.extent if isinstance(loop.extent, int) else 0
    accesses = _Accesses()
    accesses.ranges[loop.var] = turns or EVERYTHING
    accesses.collect(loop.body)
    outer = accesses.written - accesses.allocated
    if accesses.calls and (not calls or outer & accesses.called):
        return False
    return all(accesses.stay_apart(accesses.indices[buffer], loop.var, turns) for buffer in outer)


def apart(first: For, second: For) -> bool:
    """Whether neither loop touches what the other one writes. True only where it is proven: the
    indices of two accesses differ, as what they differ by is no multiple of some number.

    Apart: `for i < 8: y[i * 32] = 0.0` and `for i < 8: for j < 31: y[i * 32 + j + 1] = x[j]`.
    """
    accesses = _Accesses()
    accesses.collect((first,))
    bound, own = set(accesses.ranges), {b: len(i) for b, i in accesses.indices.items()}
    accesses.collect((second,))
    if bound & {s.var for s in statements((second,)) if isinstance(s, For | Let)}:
        return False
    shared = accesses.written & used_buffers((first,)) & used_buffers((second,))
    if shared & accesses.called:
        return False
    for buffer in shared:
        indices = accesses.indices[buffer]
        pairs = itertools.product(indices[: own[buffer]], indices[own[buffer] :])
        if not all(accesses.differ(one, other) for one, other in pairs):
            return False
    return True


@dataclass
class _Accesses:
    """What the body of a loop does with buffers, and what it binds."""

    indices: dict[Buffer, list[Index]] = field(default_factory=dict)
    written: set[Buffer] = field(default_factory=set)
    allocated: set[Buffer] = field(default_factory=set)
    ranges: dict[Expr, int | Interval] = field(default_factory=dict)
    limits: dict[Var, list[Affine]] = field(default_factory=dict)
    values: dict[Var, Expr] = field(default_factory=dict)
    called: set[Buffer] = field(default_factory=set)
    calls: bool = False

    def collect(self, body: Body) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, statement: Stmt) -> None:
        match statement:
            case For(var, extent, body):
                self._count(var, extent)
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
                self._call(statement)

    def _count(self, var: Var, extent: int | Expr) -> None:
        while isinstance(extent, Var) and extent in self.values:
            extent = self.values[extent]
        if not isinstance(extent, int):
            self._find_least(extent)
        self.ranges[var] = counted(extent, self.ranges)
        if not isinstance(extent, int):
            self._loads(extent)
            self.limits[var] = self._limits(extent)

    def _call(self, call: CallC) -> None:
        self.calls = True
        blocks = blocks_used(call)
        for buffer, (place, sides) in blocks.items():
            for count, step in sides:
                within = Var(f"turn {len(self.ranges)} of a call")
                self._count(within, count)
                further = Apply("multiply", (within, Const(INDEX, step)), INDEX)
                place = Apply("add", (place, further), INDEX)
            self.indices.setdefault(buffer, []).append((place,))
        self.called.update(b for b in call.buffers if b not in blocks)
        self.written.update(call.buffers[n] for n in call.writes)
        self._loads(*call.scalars)

    def _find_least(self, extent: Expr) -> None:
        """Notes how small the minima in an extent get, wherever the loops around it end: those of
        terms that are of the loop, as of others nothing is known."""
        for term in affine(extent).terms:
            if not isinstance(term, Apply) or term.operator != "minimum":
                continue
            arguments = [self.full(argument) for argument in term.arguments]
            if not any(map(self._fixed, arguments)):
                most = max(self._reach(argument.scaled(-1)).high for argument in arguments)
                self.ranges[term] = Interval(-most, EVERYTHING.high)

    def _limits(self, extent: Expr) -> list[Affine]:
        """What the extent is not greater than, of terms that are of the loop."""
        limits = [self.full(end) for end in ends(extent)]
        return [limit for limit in limits if not any(map(self._is_fixed, limit.terms))]

    def _loads(self, *expressions: Expr) -> None:
        for load in loads(*expressions):
            self.indices.setdefault(load.buffer, []).append(load.indices)

    def stay_apart(self, accesses: list[Index], var: Var, turns: int) -> bool:
        """Whether one dimension keeps the turns apart; `turns`: their number, 0 if not known."""
        dimensions = ([self.full(i) for i in d] for d in zip(*accesses, strict=True))
        return any(self._apart(indices, var, turns) for indices in dimensions)

    def _apart(self, indices: list[Affine], var: Var, turns: int) -> bool:
        stride = abs(indices[0].terms.get(var, 0))
        indices = [index + -indices[0].constant for index in indices]
        period = self._period(indices, var, stride * (turns - 1) + 1) if turns > 0 else 0
        parts = [self._within(index, period) for index in indices]
        step = parts[0].terms.get(var, 0)
        if not step or any(p.terms.get(var, 0) != step for p in parts):
            return False
        if any(self._fixed(p) != self._fixed(parts[0]) for p in parts):
            return False
        own = Affine({var: step})
        rest = functools.reduce(Interval.union, (self._reach(part - own) for part in parts))
        whole = functools.reduce(Interval.union, map(self._reach, parts))
        return rest.high - rest.low < stride and (not period or whole.high - whole.low < period)

    def _period(self, indices: list[Affine], var: Var, least: int) -> int:
        """What all terms are multiples of that are of the loop or constant, and vary in such steps
        at least; 0 without such terms."""
        terms = (term for index in indices for term in index.terms.items())
        steps = [c for t, c in terms if t != var and not self._is_fixed(t)]
        steps += [index.constant for index in indices]
        return math.gcd(*(step for step in steps if abs(step) >= least))

    def _within(self, index: Affine, period: int) -> Affine:
        """Without those terms."""
        if not period:
            return index
        kept = {t: c for t, c in index.terms.items() if c % period or self._is_fixed(t)}
        nearest = (index.constant + period // 2) % period - period // 2
        return Affine(kept, nearest)

    def differ(self, one: Index, other: Index) -> bool:
        """Whether one dimension keeps two indices apart."""
        differences = (self.full(a) - self.full(b) for a, b in zip(one, other, strict=True))
        return any(map(self._is_never_zero, differences))

    def _is_never_zero(self, difference: Affine) -> bool:
        steps = {abs(step) for step in difference.terms.values()}
        return any(self._is_no_multiple(difference, step) for step in (0, *steps))

    def _is_no_multiple(self, index: Affine, period: int) -> bool:
        """Of 0: is not zero."""
        reach = self._within(index, period).bounds(self.ranges, self.limits)
        end = period or math.inf
        return 0 < reach.low <= reach.high < end or -end < reach.low <= reach.high < 0

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

    def _reach(self, index: Affine) -> Interval:
        """Bounds of what varies of an index."""
        varying = {t: c for t, c in index.terms.items() if not self._is_fixed(t)}
        return Affine(varying, index.constant).bounds(self.ranges, self.limits)

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
