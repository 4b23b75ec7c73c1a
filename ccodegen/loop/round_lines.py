"""A loop that computes with f16 is cut where it rounds, and rounds a line of results at once.

    for i < 256 vector: y[i] = (a[i] + b[i]) * c[i]          a, b, c hold f16 as f32
    →   for i < 256 vector: sum[i] = a[i] + b[i]
        ccg_round_f16(sum, 256)
        for i < 256 vector: y[i] = sum[i] * c[i]

To round an element takes a dozen of operations. A processor may have instructions that round a line
of them, which compilers do not find in a loop. The bits are the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Hashable

from ccodegen.loop.builder import index
from ccodegen.loop.cost import TRANSCENDENTAL
from ccodegen.loop.cse import computed, key
from ccodegen.loop.ir import (
    Alloc,
    Apply,
    Buffer,
    CallC,
    Expr,
    For,
    Let,
    Load,
    Stmt,
    Store,
    Var,
)
from ccodegen.loop.name_halves import (
    is_rounded,
    narrow_half,
    takes_numbers,
    unrounded_half,
    wide_half,
)
from ccodegen.loop.parts import applied, loads, same, variables
from ccodegen.loop.rebuild import Body, expressions, is_straight, rebuild, used_buffers
from ccodegen.loop.rename import renamed, stem
from ccodegen.loop.turns import first_of_run, shared_lines
from ccodegen.support.element_type import ElementType

_F16, _F32 = ElementType.F16, ElementType.F32
_HEADER = "ccg_half_lines.h"
_SLOW = TRANSCENDENTAL | {"divide", "remainder"}


def round_lines(loop: For, size: int, fresh: Callable[[str], str]) -> Body:
    """Statements of equal effect. `loop`: of independent turns, `size` at most. `fresh` gives names
    that the kernel does not have yet, after a hint."""
    if not _may_be_cut(loop.body):
        return (loop,)
    cut = _Cut(loop, size, fresh, set())
    if not cut.lines:
        return (loop,)
    again = cut.computed_again()
    return (_Cut(loop, size, fresh, again) if again else cut).statements()


def rounds_inside(body: Body) -> bool:
    """Whether a value is rounded to an f16 to compute with it."""
    found = applied(*expressions(body))
    return any(_is_rounded(a) for f in found if takes_numbers(f) for a in f.arguments)


def _is_rounded(value: Expr) -> bool:
    return value.type is _F16 and is_rounded(value)


def run_of(half: Expr, loop: For) -> tuple[Buffer, Expr] | None:
    """The array of f32 of which a value is the next element in each turn, rounded to an f16, and
    where the first one is; None for what is no such value."""
    match half:
        case Apply("convert", (Load(run, (place,)),)) if half.type is _F16 and run.type is _F32:
            first = first_of_run(place, loop)
            return None if first is None else (run, first.expr)
    return None


def _may_be_cut(body: Body) -> bool:
    """Whether its stores can wait until all is read."""
    stores = [(n, s.buffer) for n, s in enumerate(body) if isinstance(s, Store)]
    return is_straight(body) and not any(b in used_buffers(body[n + 1 :]) for n, b in stores)


class _Cut:
    """The statements of one turn, with lines for what is rounded.

    A line belongs to a stage: that after the last of the lines that it is computed of. `lines`:
    what is computed for each. `kept`: names of which the value has a line too. What is rounded as
    it lies in an array, a run of it, is not computed before: gcc copies it by halves of a vector,
    and each load of a whole one waits for both stores.
    """

    def __init__(
        self, loop: For, size: int, fresh: Callable[[str], str], kept: Container[Var]
    ) -> None:
        self._loop, self._size, self._fresh, self._kept = loop, size, fresh, kept
        always = [expr for statement in loop.body for expr in computed(statement)]
        self._read = {expr for expr in always if isinstance(expr, Load)}
        self._stages: dict[Buffer | Var, int] = {}
        self._known: dict[Hashable, Buffer] = {}
        self.lines: dict[Buffer, Expr] = {}
        self._body = tuple(map(self._statement, loop.body))
        runs = {line: run_of(value, loop) for line, value in self.lines.items()}
        self._runs = {line: run for line, run in runs.items() if run and run[0] not in self.lines}

    def _statement(self, statement: Stmt) -> Stmt:
        (cut,) = rebuild((statement,), self._with_lines)
        if isinstance(cut, Let):
            if cut.var in self._kept:
                cut = Let(cut.var, self._line(cut.value))
            self._stages[cut.var] = self._stage(cut.value)
        return cut

    def _with_lines(self, expr: Expr) -> Expr:
        if not isinstance(expr, Apply) or not takes_numbers(expr) or expr.operator == "unrounded":
            return expr
        arguments = tuple(map(self._rounded, expr.arguments))
        if same(arguments, expr.arguments):
            return expr
        if expr.operator == "convert" and expr.type is _F32:
            return wide_half(arguments[0])
        return Apply(expr.operator, arguments, expr.type)

    def _rounded(self, argument: Expr) -> Expr:
        """Of a line, if it is rounded and may be computed in any case; else as it is."""
        inside = (load for load in loads(argument) if load.buffer not in self.lines)
        if not _is_rounded(argument) or not self._read.issuperset(inside):
            return argument
        return narrow_half(self._line(argument), _F16)

    def _line(self, value: Expr) -> Load:
        """What is computed a stage before, and rounded if it is an f16."""
        if (found := key(value)) not in self._known:
            name = "rounded" if value.type is _F16 else "line"
            line = Buffer(self._fresh(name), _F32, (self._size,))
            self._known[found], self.lines[line] = line, value
            self._stages[line] = self._stage(value) + 1
        return Load(self._known[found], (self._loop.var,))

    def _stage(self, value: Expr) -> int:
        lines = (self._stages.get(load.buffer, 0) for load in loads(value))
        return max((*lines, *(self._stages.get(var, 0) for var in variables(value))), default=0)

    def computed_again(self) -> set[Var]:
        """Names of what takes long, and several stages would compute."""
        named = Counter(s for stage in self._in_stages() for s in stage if isinstance(s, Let))
        shared = (s for s, count in named.items() if count > 1 and s.var.type is _F32)
        return {s.var for s in shared if any(a.operator in _SLOW for a in applied(s.value))}

    def _in_stages(self) -> list[Body]:
        last = max(self._stages[line] for line in self.lines)
        return [self._stage_of(n) for n in range(1, last + 2)]

    def statements(self) -> Body:
        stages = self._in_stages()
        made = [self._lines_of(n) for n in range(1, len(stages))]
        shared, extent = shared_lines(stages, made), self._loop.extent
        count = index(extent) if isinstance(extent, int) else extent
        result: list[Stmt] = [Alloc(array) for array in dict.fromkeys(shared.values())]
        for n, stage in enumerate(stages, start=1):
            turn = Var(self._fresh(stem(self._loop.var.name)))
            body = renamed(stage, self._fresh, {self._loop.var: turn}, shared)
            if body:
                result.append(For(turn, extent, body, self._loop.kind))
            for line in self._lines_of(n):
                if line in self._runs:
                    run, first = self._runs[line]
                    rounded = CallC("ccg_rounded_f16", _HEADER, (shared[line], run), (first, count))
                    result.append(rounded)
                elif self.lines[line].type is _F16:
                    result.append(CallC("ccg_round_f16", _HEADER, (shared[line],), (count,)))
        return tuple(result)

    def _lines_of(self, number: int) -> list[Buffer]:
        return [line for line in self.lines if self._stages[line] == number]

    def _stage_of(self, number: int) -> Body:
        """The statements that compute its lines, and what they name; the last one stores."""
        here: list[Stmt] = []
        lines = self._lines_of(number)
        for line in lines:
            value = self.lines[line]
            if line not in self._runs:
                wide = unrounded_half(value) if value.type is _F16 else value
                here.append(Store(line, (self._loop.var,), wide))
        here = here if lines else [s for s in self._body if not isinstance(s, Let)]
        used = set(variables(*expressions(tuple(here))))
        for statement in reversed(self._body):
            if isinstance(statement, Let) and statement.var in used:
                used.update(variables(statement.value))
                here.insert(0, statement)
        return tuple(here)
