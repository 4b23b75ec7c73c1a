"""Arms of choices that keep loops from becoming good vectors are computed in any case.

Vectors compute both arms of a choice. To lanes that do not ask for a slow arm compilers give one of
the numbers at hand, such as a limit of exp's arguments: its result is denormal, which takes
processors many times as long as what the lane really holds. What an arm alone reads they read lane
by lane, behind a branch, and make no vectors, unless it lies side by side and there are masks for
such vectors; nor of choices between structs. Of a choice that is compared they compare the arms,
and make no vectors of the choice between conditions; nor of a condition that is computed if another
one holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field, replace

from ccodegen.loop.affine import affine, count, is_inside
from ccodegen.loop.cost import TRANSCENDENTAL
from ccodegen.loop.cse import computed
from ccodegen.loop.ir import (
    INDEX,
    Apply,
    Expr,
    For,
    If,
    Let,
    Load,
    LoopKind,
    Stmt,
    Store,
    Var,
    is_unrolled,
)
from ccodegen.loop.parts import applied, loads
from ccodegen.loop.ranges import KnownRanges, interval
from ccodegen.loop.rebuild import Body, rebuild, written_buffers
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable


def name_arms(body: Body, fresh: Callable[[str], str], masked_bytes: int = 4) -> Body:
    """Before: `for i < 4 vector { y[i] = x[i] > 0 ? exp(x[i]) : 1 }`. After: `for i < 4 vector
    { let choice = exp(x[i]); y[i] = x[i] > 0 ? choice : 1 }`.

    Only arms that read what is read in any case, here or before; or what is inside of its array for
    all that memory may hold, and not side by side, or in a loop that compilers unroll, or complex
    numbers. So too second conditions of "and" and "or", and choices that are compared. `fresh`
    gives names that the kernel does not have yet, after a hint; `masked_bytes`: the least element
    of which vectors are read in part, 0 if they never are.
    """
    return _Namer(fresh, masked_bytes).block(body)


@immutable
class _Lane:
    """What counts the turns of a loop that becomes vectors, and the elements that its body has read
    in any case: they are there."""

    var: Var
    read: set[Load] = field(default_factory=set)

    def do(self, statement: Stmt) -> None:
        self.read.update(expr for expr in computed(statement) if isinstance(expr, Load))
        written = written_buffers((statement,))
        if not written:
            return
        moved = [e for e in self.read if any(i.buffer in written for i in loads(*e.indices))]
        self.read.difference_update(moved)


@immutable
class _Namer:
    """`ranges`: extents of loops and intervals of names, no two of which are the same."""

    fresh: Callable[[str], str]
    masked_bytes: int
    ranges: KnownRanges = field(default_factory=lambda: KnownRanges({}))

    def block(self, body: Body, lane: _Lane | None = None) -> Body:
        """With names for arms; `lane`: of a loop that becomes vectors, whose body it is."""
        new: list[Stmt] = []
        for statement in body:
            match statement:
                case For(var, extent, inner, kind):
                    count(var, extent, self.ranges)
                    lanes = kind in (LoopKind.VECTOR, LoopKind.LANES)
                    inside = self.block(inner, _Lane(var) if lanes else None)
                    new.append(replace(statement, body=inside))
                case If(condition, then, orelse):
                    new.append(If(condition, self.block(then), self.block(orelse)))
                case _:
                    new += self._with_names(statement, lane) if lane else [statement]
            if isinstance(statement, Let):
                self.ranges[statement.var] = interval(statement.value, self.ranges)
            if lane:
                lane.do(statement)
        return tuple(new)

    def _with_names(self, statement: Stmt, lane: _Lane) -> Iterator[Stmt]:
        """The statement, behind names for arms that it chooses from."""
        if isinstance(statement, Let | Store):
            while arm := next(self._arms(statement, lane), None):
                hint = "is" if arm.type is ElementType.PRED else "choice"
                name = Var(self.fresh(hint), arm.type)
                yield from self._with_names(Let(name, arm), lane)
                (statement,) = rebuild((statement,), _replacer(arm, name))
        yield statement

    def _arms(self, statement: Stmt, lane: _Lane) -> Iterator[Expr]:
        certain = computed(statement)
        read = {expr for expr in certain if isinstance(expr, Load)}
        for expr in certain:
            match expr:
                case Apply("select", (_, *arms)):
                    yield from (a for a in arms if self._pays_to_compute(a, read, lane))
                case Apply("and" | "or", (_, second)) if expr.type is ElementType.PRED:
                    yield from (second,) if self._pays_to_evaluate(second, read) else ()
                case Apply(operator, values) if operator.startswith("compare"):
                    yield from filter(_is_choice, values)

    def _pays_to_compute(self, arm: Expr, read: set[Load], lane: _Lane) -> bool:
        """Whether an arm keeps loops from becoming good vectors, and can be computed in any case;
        `read`: what the statement reads in any case."""
        if arm in lane.read and arm not in read and is_unrolled(self.ranges[lane.var]):
            return True
        needed = [e for e in loads(arm) if e not in read and e not in lane.read]
        slow = not needed and _is_slow(arm)
        wanted = slow or self._gathers(needed, lane) or self._is_pair(arm, needed)
        return wanted and not _divides_indices(arm)

    def _pays_to_evaluate(self, condition: Expr, read: set[Load]) -> bool:
        """Whether a second condition takes work, and can be computed in any case."""
        needed = [load for load in loads(condition) if load not in read]
        takes_work = bool(needed) or _computes(condition)
        safe = all(map(self._is_inside, needed)) and not _divides_indices(condition)
        return takes_work and safe

    def _gathers(self, needed: list[Load], lane: _Lane) -> bool:
        """Whether vectors are not read of all at once, and all is inside of its array."""
        apart = [load for load in needed if not self._is_masked(load, lane)]
        return bool(apart) and all(map(self._is_inside, needed))

    def _is_masked(self, load: Load, lane: _Lane) -> bool:
        """Whether vectors of it are read at once, in part."""
        if not 0 < self.masked_bytes <= load.type.bytes or is_unrolled(self.ranges[lane.var]):
            return False
        return self._is_side_by_side(load, lane.var)

    def _is_side_by_side(self, load: Load, lane: Var) -> bool:
        """Whether each turn reads the element behind that of the turn before."""
        place = affine(load.indices[-1]).terms if load.indices else {}
        return place.get(lane) == 1 and all(isinstance(self.ranges.get(t), int) for t in place)

    def _is_pair(self, arm: Expr, needed: list[Load]) -> bool:
        """Whether it is a complex number that can be computed in any case."""
        computed = arm.type.is_complex and isinstance(arm, Apply | Load)
        return computed and all(map(self._is_inside, needed))

    def _is_inside(self, load: Load) -> bool:
        return is_inside(load, self.ranges)


def _replacer(arm: Expr, name: Var) -> Callable[[Expr], Expr]:
    return lambda expr: name if expr == arm else expr


def _is_choice(expr: Expr) -> bool:
    return isinstance(expr, Apply) and expr.operator == "select"


def _computes(condition: Expr) -> bool:
    """Whether it takes more than to compare what is there."""
    return any(a.type not in (INDEX, ElementType.PRED) for a in applied(condition))


def _is_slow(arm: Expr) -> bool:
    return arm.type.is_float and any(a.operator in TRANSCENDENTAL for a in applied(arm))


def _divides_indices(arm: Expr) -> bool:
    """Which is not defined for all of them."""
    return any(a.type is INDEX and a.operator in ("divide", "remainder") for a in applied(arm))
