"""Prints statements of the loop IR as lines of C."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from typing import TypeGuard

from ccodegen.emit.expression import ExpressionPrinter, is_pair
from ccodegen.emit.lines import indented
from ccodegen.emit.names import Names, comment
from ccodegen.emit.prefetch import prefetches
from ccodegen.emit.types import array_length, memory_type
from ccodegen.loop.cost import FUNCTIONS
from ccodegen.loop.cse import evaluated
from ccodegen.loop.ir import (
    Alloc,
    Apply,
    Buffer,
    CallC,
    Expr,
    For,
    If,
    Let,
    Load,
    LoopKind,
    Note,
    Space,
    Stmt,
    Store,
    Var,
    is_unrolled,
)
from ccodegen.loop.parts import applied, loads, parts, variables
from ccodegen.loop.rebuild import expressions, statements, used_buffers, written_buffers
from ccodegen.loop.spelling import c_type
from ccodegen.loop.turns import are_near, fills_vectors
from ccodegen.support.element_type import ElementType
from ccodegen.support.pattern import pattern

_LEAST_VECTOR = 16  # bytes
# Turns that make one vector. Where its function becomes part of a loop around calls, gcc would
# unroll such a loop before it looks for vectors.
_WHOLE_VECTORS = (4, 8, 16)
_SHORT = (4, *range(8, 65))  # turns that fill vectors; clang unrolls them before it looks for any
_VECTORS = (LoopKind.VECTOR, LoopKind.LANES)
# Functions of f16 that have another form for one alone.
_HALF = pattern(r"\bccg_(?=(f32_from_f16|f16_from_f32|nearest_f16)\()")


class StatementPrinter:
    """Prints the statements of one kernel; `headers` collects the runtime files they need.

    Lines are indented relative to the statement; `indented` moves them one level in. A Let of a
    variable that is not in `used` is left out. `written`: the buffers that the kernel writes.
    """

    def __init__(
        self,
        names: Names,
        headers: set[str],
        used: Container[Var],
        written: Container[Buffer],
    ) -> None:
        self.names = names
        self.headers = headers
        self.used = used
        self.written = written
        self.expressions = ExpressionPrinter(self.name, headers)
        self.guarded = replace(self.expressions, guarded=True)
        self._around: list[For] = []
        self._read: dict[Buffer, tuple[For, ...]] = {}
        self._in_vector = False
        self._kept: set[Buffer] = set()

    def name(self, thing: Var | Buffer) -> str:
        return self.names.name(thing, thing.name, "v" if isinstance(thing, Var) else "buffer")

    def block(self, statements: Sequence[Stmt]) -> list[str]:
        lines: list[str] = []
        own = [s.buffer for s in statements if isinstance(s, Alloc)]
        self._kept |= _kept(statements, own)
        rest = iter(_with_next(statements))
        steers = any(isinstance(s, For) and s.kind in _VECTORS for s in statements)
        squares = bool(self._around) and any(map(_squares_integers, statements))
        for statement, following in rest:
            if steers and isinstance(statement, Let):
                lines += self.let(statement, may_guard=True)
            elif _initialises(statement, following):
                assert isinstance(following, Store)
                lines.append(self.definition(following))
                next(rest)
            else:
                lines += self.statement(statement)
            settled = _sums(statement, own) if isinstance(statement, For) else []
            if squares and _sets_integer(statement):
                settled = [statement.buffer]
            lines += [f"CCG_SETTLED({self.name(buffer)});" for buffer in settled]
        return lines

    def statement(self, statement: Stmt) -> list[str]:
        match statement:
            case For():
                return self.loop(statement)
            case If():
                return self.branch(statement)
            case Let():
                return self.let(statement)
            case Alloc(buffer):
                return [self.declaration(buffer)]
            case Store():
                return [self.store(statement)]
            case CallC():
                return [self.call(statement)]
            case Note(text):
                return comment(text)

    def let(self, let: Let, may_guard: bool = False) -> list[str]:
        if let.var not in self.used:
            return []
        text = self._value(let.value, may_guard)
        return [f"const {c_type(let.var.type)} {self.name(let.var)} = {text};"]

    def loop(self, loop: For) -> list[str]:
        extent = loop.extent
        limit = str(extent) if isinstance(extent, int) else self.expressions.text(extent)
        return self.turns(loop, "0", limit)

    def turns(self, loop: For, first: str, end: str) -> list[str]:
        """The turns of a loop from `first` to before `end`."""
        var = self.name(loop.var)
        head = f"for (ptrdiff_t {var} = {first}; {var} < {end}; ++{var}) {{"
        ahead = list(self.prefetches(loop))
        is_vector = not self._around and loop.extent in _WHOLE_VECTORS
        outside, self._in_vector = self._in_vector, self._in_vector or _makes_vectors(loop)
        self._around.append(loop)
        lines = [*ahead, *self.block(loop.body)]
        self._around.pop()
        self._in_vector = outside
        if loop.kind in _VECTORS:
            around = tuple(self._around)
            self._read.update((x.buffer, around) for x in loads(*expressions(loop.body)))
        return [*self._hint(loop, is_vector), head, *indented(lines), "}"]

    def _hint(self, loop: For, is_vector: bool) -> list[str]:
        """Stands before a loop that compilers may vectorise; `is_vector`: all of it at once."""
        if loop.kind not in _VECTORS:
            return []
        has_length = isinstance(loop.extent, int)
        is_plain = loop.kind is LoopKind.VECTOR and has_length and not is_vector
        macro = "CCG_SIMD" if is_plain else "CCG_ROLLED_SIMD"
        is_short = has_length and loop.extent in _SHORT
        may_be_rolled = is_short and self._kept.isdisjoint(used_buffers(loop.body))
        return [f"CCG_SHORT {macro}" if may_be_rolled else macro]

    def prefetches(self, loop: For) -> Iterator[str]:
        for found in prefetches(loop, self._around, self.written, self._read):
            first = self.expressions.text(found.first)
            macro = "CCG_PREFETCH_SLOWLY" if found.slowly else "CCG_PREFETCH"
            yield f"{macro}({self.address(found.buffer)}, {first}, {found.count});"

    def _value(self, value: Expr, may_guard: bool = False) -> str:
        text = self._reader(value, may_guard).text(value)
        is_alone = "f16" in text and not self._in_vector
        return _HALF.sub("ccg_one_", text) if is_alone else text

    def _reader(self, value: Expr, may_guard: bool = False) -> ExpressionPrinter:
        """What prints a value: what is read on a condition is guarded where loops around it may be
        vectorised, next to a loop over lanes or in a loop that is unrolled; and what each turn
        reads by itself."""
        around = self._around[-1] if self._around else None
        may_guard = may_guard or (around is not None and is_unrolled(around.extent))
        is_single = around is not None and around.kind is LoopKind.SINGLE
        is_guarded = is_single or (may_guard and _reads_if(value))
        return self.guarded if is_guarded else self.expressions

    def branch(self, branch: If) -> list[str]:
        lines = [f"if ({self._value(branch.condition)}) {{"]
        lines += indented(self.block(branch.then))
        if branch.orelse:
            lines += ["} else {", *indented(self.block(branch.orelse))]
        return [*lines, "}"]

    def declaration(self, buffer: Buffer) -> str:
        name = self.name(buffer)
        if not buffer.dimensions:
            return f"{c_type(buffer.type)} {name};"
        storage = "CCG_LOCAL " if buffer.bytes >= _LEAST_VECTOR else ""
        return f"{storage}{memory_type(buffer.type)} {name}[{array_length(buffer)}];"

    def definition(self, store: Store) -> str:
        """A scalar variable with its first value."""
        value = self._value(store.value)
        return f"{c_type(store.buffer.type)} {self.name(store.buffer)} = {value};"

    def store(self, store: Store) -> str:
        value = self._value(store.value)
        if is_pair(store.buffer):
            self.headers.add("ccg_complex_array.h")
            where = self.expressions.pair(store.buffer, store.indices)
            return f"ccg_store_{store.buffer.type.text}({where}, {value});"
        return f"{self.expressions.element(store.buffer, store.indices)} = {value};"

    def call(self, call: CallC) -> str:
        self.headers.add(call.header)
        buffers = [self.address(buffer) for buffer in call.buffers]
        scalars = [self.expressions.text(scalar) for scalar in call.scalars]
        return f"{call.function}({', '.join(buffers + scalars)});"

    def address(self, buffer: Buffer) -> str:
        """A pointer to the buffer's first element."""
        scalar = buffer.space is Space.LOCAL and not buffer.dimensions
        return f"&{self.name(buffer)}" if scalar else self.name(buffer)


def _kept(block: Sequence[Stmt], own: Sequence[Buffer]) -> set[Buffer]:
    """The arrays of a block that loops over several vectors of theirs, in a loop of the block, add
    to: compilers that unroll all such loops keep them in registers."""
    loops = [loop for loop in block if isinstance(loop, For)] if own else []
    inner = [s for loop in loops for s in statements(loop.body) if isinstance(s, For)]
    return {
        s.buffer
        for loop in inner
        if loop.kind is LoopKind.VECTOR
        for s in statements(loop.body)
        if isinstance(s, Store) and s.buffer in own and variables(*s.indices) == (loop.var,)
    }


def _makes_vectors(loop: For) -> bool:
    """Whether compilers gain by vectors for its turns, though they round each f16 in many steps:
    turns fill them, and call functions or find their elements near each other."""
    if not fills_vectors(loop):
        return False
    if any(a.operator in FUNCTIONS for a in applied(*expressions(loop.body))):
        return True
    halves = (x for x in loads(*expressions(loop.body)) if x.buffer.type is ElementType.F16)
    return are_near(halves, loop)


def _with_next(statements: Sequence[Stmt]) -> Iterator[tuple[Stmt, Stmt | None]]:
    return zip(statements, [*statements[1:], None], strict=True)


def _sets_integer(statement: Stmt) -> TypeGuard[Store]:
    """Whether it stores into a variable of integers."""
    if not isinstance(statement, Store) or statement.buffer.dimensions:
        return False
    return statement.buffer.space is Space.LOCAL and statement.buffer.type.is_integer


def _squares_integers(statement: Stmt) -> bool:
    """Whether it multiplies an integer by itself, which may be a variable."""
    if not isinstance(statement, Let | Store):
        return False
    products = (a for a in applied(statement.value) if a.operator == "multiply")
    return any(a.type.is_integer and a.arguments[0] == a.arguments[1] for a in products)


def _sums(loop: For, buffers: Sequence[Buffer]) -> list[Buffer]:
    """Those arrays of integers that the loop reads and writes: it adds to their elements."""
    arrays = [b for b in buffers if b.dimensions and b.type.is_integer]
    if not arrays:
        return []
    written = written_buffers((loop,))
    read = {load.buffer for load in loads(*expressions((loop,)))}
    return [b for b in arrays if b in written and b in read]


def _reads_if(value: Expr) -> bool:
    """Whether an array is read on a condition, such as an element beyond which there is padding."""
    chosen = {
        arm
        for part in parts(value)
        if isinstance(part, Apply) and part.operator == "select"
        for arm in part.arguments[1:]
        if isinstance(arm, Load) and arm.buffer.dimensions
    }
    return bool(chosen) and not chosen.issubset(evaluated(value))


def _initialises(statement: Stmt, following: Stmt | None) -> bool:
    """Whether a scalar variable is declared and gets its first value at once."""
    return (
        isinstance(statement, Alloc)
        and isinstance(following, Store)
        and following.buffer is statement.buffer
        and not statement.buffer.dimensions
    )
