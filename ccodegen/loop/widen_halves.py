"""Loops over f16 in memory are done in blocks, which are converted to f32 and back apart.

    for i < 1000 vector: y[i] = x[i] + 1

takes a dozen of operations to convert an element. A processor may have an instruction that converts
a line of them, which compilers do not find in such a loop. So lines of x come as f32 into a local
array, a block at a time, and sums leave from one, where they need not be rounded yet. The bits are
the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

from ccodegen.loop.affine import Affine, affine
from ccodegen.loop.builder import apply, index
from ccodegen.loop.cse import computed
from ccodegen.loop.ir import (
    Alloc,
    Apply,
    Buffer,
    CallC,
    Expr,
    For,
    Let,
    Load,
    LoopKind,
    Note,
    Stmt,
    Store,
    Var,
    is_unrolled,
)
from ccodegen.loop.name_halves import (
    name_halves,
    narrow_half,
    takes_numbers,
    unrounded_half,
    wide_half,
)
from ccodegen.loop.operators import computes_in_halves
from ccodegen.loop.parts import applied, loads, operands, parts
from ccodegen.loop.rebuild import (
    Body,
    expressions,
    keep_expr,
    rebuild,
    rebuild_expr,
    replacing,
    used_buffers,
    written_buffers,
)
from ccodegen.loop.rename import stem
from ccodegen.loop.round_lines import round_lines, rounds_inside, run_of
from ccodegen.loop.simplify_body import simplify_body
from ccodegen.loop.turns import first_of_run, most_turns
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable

_F16, _F32 = ElementType.F16, ElementType.F32
_BLOCK = 256  # elements: 1 KB of f32 for each array
LEAST_HALVES = 8  # elements of a line
_MOST_ELEMENTS = 4096  # of all arrays: half of the nearest cache
_MOST_ARRAYS = 64
_HEADER = "ccg_half_lines.h"


def widen_halves(body: Body, fresh: Callable[[str], str], lanes: int) -> Body:
    """Statements of equal effect, once loops are marked. `fresh` gives names that the kernel does
    not have yet, after a hint. `lanes`: f32 in a vector, which local arrays are whole ones of."""

    def widened(statement: Stmt) -> Stmt | Body:
        match statement:
            case For(_, extent, inner, LoopKind.VECTOR | LoopKind.LANES):
                is_long = most_turns(extent) >= LEAST_HALVES
                if is_long and all(isinstance(s, Alloc | Let | Store | Note) for s in inner):
                    found = _Halves(statement, lanes, fresh)
                    return found.widened() if found.pay() else statement
        return statement

    return rebuild(body, keep_expr, widened)


@immutable
class _Halves:
    """A loop of independent turns, without others inside."""

    loop: For
    lanes: int
    fresh: Callable[[str], str]

    @cached_property
    def _read(self) -> list[Load]:
        """What is read for numbers, in any case, line by line."""
        written = written_buffers(self.loop.body)
        used = [part for expr in expressions(self.loop.body) for part in parts(expr)]
        numbers = {o for u in used if takes_numbers(u) for o in operands(u)}
        numbers |= {s.value for s in self.loop.body if isinstance(s, Let)}
        always = [expr for statement in self.loop.body for expr in computed(statement)]
        found = [e for e in dict.fromkeys(always) if isinstance(e, Load) and e in numbers]
        kept = written - self._apart
        return [load for load in found if load.buffer not in kept and self._is_line(load)]

    @cached_property
    def _written(self) -> list[Store]:
        named = {s.var: s.value for s in self.loop.body if isinstance(s, Let)}
        stores = [s for s in self.loop.body if isinstance(s, Store) and s.buffer in self._apart]
        return [s for s in stores if self._is_line(s) and _is_computed(s.value, named)]

    @cached_property
    def _runs(self) -> dict[Store, tuple[Buffer, Expr]]:
        """Those of them that round what lies in an array as it is, and where."""
        written = written_buffers(self.loop.body)
        found = {s: run_of(s.value, self.loop) for s in self._written}
        return {s: run for s, run in found.items() if run and run[0] not in written}

    @cached_property
    def _apart(self) -> set[Buffer]:
        """Arrays that may be read before the loop and written after it: of which a turn reads no
        element but the one that it stores then."""
        body, found = self.loop.body, set[Buffer]()
        for n, statement in enumerate(body):
            if isinstance(statement, Store):
                buffer, own = statement.buffer, Load(statement.buffer, statement.indices)
                read = loads(*expressions(body[: n + 1]))
                reads_own = all(load == own for load in read if load.buffer is buffer)
                others = written_buffers(body[:n]) | used_buffers(body[n + 1 :])
                if reads_own and buffer not in others:
                    found.add(buffer)
        return found

    def _is_line(self, access: Load | Store) -> bool:
        """Of an array of f16, one turn's element behind that of the turn before."""
        return access.buffer.type is _F16 and self._start(access) is not None

    def _start(self, access: Load | Store) -> Affine | None:
        """The place of the first turn's element; None of what is no line."""
        return first_of_run(access.indices[0], self.loop) if len(access.indices) == 1 else None

    def pay(self) -> bool:
        used = applied(*expressions(self.loop.body))
        if any(computes_in_halves(a.operator) for a in used):
            return False
        fits = isinstance(self.loop.extent, int) or most_turns(self.loop.extent) <= self._size
        works = self._read or self._written or rounds_inside(self.loop.body)
        return bool(works) and fits and len(self._read) + len(self._written) <= _MOST_ARRAYS

    @cached_property
    def _size(self) -> int:
        """Elements of a local array: whole vectors."""
        arrays, turns = len(self._read) + len(self._written), most_turns(self.loop.extent)
        blocks = -(-turns // min(_BLOCK, _MOST_ELEMENTS // max(1, arrays)))
        return -(-turns // (blocks * self.lanes)) * self.lanes

    @property
    def _kind(self) -> LoopKind:
        """Of loops over local arrays. Short ones are to stay rolled: gcc would unroll them before
        it looks for vectors, and then take apart those that instructions of ours have left."""
        return LoopKind.LANES if is_unrolled(self._size) else self.loop.kind

    def widened(self) -> Body:
        size, extent = self._size, self.loop.extent
        block, place = Var(self.fresh("block")), Var(self.fresh(stem(self.loop.var.name)))
        first = affine(block).scaled(size).expr
        runs = self._runs
        accesses: list[Load | Store] = [*self._read, *(s for s in self._written if s not in runs)]
        own = {access: Buffer(self.fresh("wide"), _F32, (size,)) for access in accesses}
        count, named = self._count(first)

        turn = apply("add", first, place)
        computed_here = tuple(s for s in self.loop.body if s not in runs)
        inner = rebuild(self._of_one(computed_here, own, place), replacing({self.loop.var: turn}))
        inner = name_halves(inner)  # what is read is known to be numbers now
        turns = index(size) if used_buffers(inner) <= {*own.values()} else count

        def call(access: Load | Store) -> CallC:
            line, of_loop = access.buffer, self._start(access)
            assert of_loop is not None
            start = (of_loop + affine(first)).expr
            if isinstance(access, Store) and access in runs:
                run, begin = runs[access]
                places = start, (affine(begin) + affine(first)).expr, count
                return CallC("ccg_narrowed_f16", _HEADER, (line, run), places)
            wide = own[access]
            if isinstance(access, Load):
                return CallC("ccg_widen_f16", _HEADER, (wide, line), (start, count, turns))
            return CallC("ccg_narrow_f16", _HEADER, (line, wide), (start, count))

        body: Body = (
            *named,
            *map(Alloc, own.values()),
            *map(call, self._read),
            *(round_lines(For(place, turns, inner, self._kind), size, self.fresh) if inner else ()),
            *map(call, self._written),
        )
        blocks = -(-extent // size) if isinstance(extent, int) else 1
        return simplify_body((For(block, blocks, body, LoopKind.PARALLEL),))

    def _count(self, first: Expr) -> tuple[Expr, Body]:
        """Of a block's elements; a name of it where it is computed."""
        size, count = self._size, self.loop.extent
        if isinstance(count, int):
            if count < size or count % size == 0:
                return index(min(size, count)), ()
            count = apply("minimum", index(size), apply("subtract", index(count), first))
        var = Var(self.fresh("count"))
        return var, (Let(var, count),)

    def _of_one(self, body: Body, own: dict[Load | Store, Buffer], place: Expr) -> Body:
        """These statements of one turn, over this place of the local arrays."""
        def on_expr(expr: Expr) -> Expr:
            match expr:
                case Load() if expr in own:
                    return narrow_half(Load(own[expr], (place,)), _F16)
                case Apply("select", (condition, *arms), type) if type is _F16:
                    return narrow_half(apply("select", condition, *map(wide_half, arms)), _F16)
            return expr

        def on_statement(statement: Stmt) -> Stmt:
            match statement:
                case Store(_, _, value) if statement in own:
                    wide = unrounded_half(rebuild_expr(value, on_expr))
                    return Store(own[statement], (place,), wide)
            (rebuilt,) = rebuild((statement,), on_expr)
            return rebuilt

        return tuple(map(on_statement, body))


def _is_computed(value: Expr, named: Mapping[Var, Expr]) -> bool:
    """Whether a value is more than bits of others."""
    if isinstance(value, Var) and value in named:
        return _is_computed(named[value], named)
    if isinstance(value, Apply) and value.operator == "select":
        return any(_is_computed(arm, named) for arm in value.arguments[1:])
    return takes_numbers(value)
