"""Large independent loops as functions of their own, which threads of the caller's may share.

    for i < 5000: y[i] = x[i]   →   static void m_copy_turns(x, y, begin, end) { the loop }
                                    struct m_copy_context { const float *x; float *y; };
                                    static void m_copy_part(void *context, begin, end)
                                    {
                                        m_copy_turns(context->x, context->y, begin, end);
                                    }
                                    …
                                    ccg_in_parts(threads, 5000, m_copy_part, &context);

The loop has a function with parameters, as compilers forget restrict elsewhere. Loops beside it
that touch other elements, as those that fill the edges of its result, are in that function too:
each thread does as large a share of all of them, and later finds what it has written in its core's
caches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ccodegen.emit.lines import fitted, indented
from ccodegen.emit.names import Names
from ccodegen.emit.statement import StatementPrinter
from ccodegen.emit.types import memory_type
from ccodegen.emit.used import used_variables
from ccodegen.loop.cost import cost
from ccodegen.loop.independence import apart, independent
from ccodegen.loop.ir import Alloc, Buffer, For, If, Let, LoopKind, Space, Stmt, Var
from ccodegen.loop.join_loops import join_loops
from ccodegen.loop.rebuild import statements, used_buffers
from ccodegen.loop.spelling import c_type
from ccodegen.support.immutable import immutable

HEADER = "ccg_threads.h"
LOCAL_NAMES = ("threads", "context", "shared", "begin", "end", "piece", "last")
"""Names of a kernel with parts that nothing else in it may have."""

_LEAST_WORK = 200_000  # operations or bytes, some 20 µs: ten times what waking a thread takes
_ENOUGH_TURNS = 32  # that it matters little whether a thread has one more than another
_MOST_INDEX = 2**31 - 1  # that any processor computes
_CHUNK = 1024  # turns of a vector loop that stay together: whole vectors, whole cache lines


@immutable
class Part:
    """What one thread does of some loops: `function` over a `struct context` of what they use,
    which `turns` takes as parameters."""

    loops: tuple[For, ...]
    function: str
    context: str
    turns: str


@immutable
class PartText:
    """A printed part: the function of turns, whose prototype is without storage class and
    semicolon, and what calls it."""

    prototype: str
    body: tuple[str, ...]
    caller: tuple[str, ...]

    def lines(self, storage: str) -> list[str]:
        """The definition of the function of turns."""
        return [*fitted([f"{storage} {self.prototype}"]), "{", *self.body, "}"]


def parallel_loops(body: Sequence[Stmt]) -> Iterator[tuple[For, ...]]:
    """The outermost loops whose turns are worth sharing: of known number, proven independent or
    said to be, and without use of arrays that the kernel declares around them. Loops beside each
    other that touch nothing in common which one of them writes are shared together."""
    if _is_worth_it(body):
        together: list[For] = []
        for statement in body:
            if isinstance(statement, For) and _can_be_shared(statement):
                if not all(apart(statement, other) for other in together):
                    yield from _worthy(together)
                    together = []
                together.append(statement)
                continue
            yield from _worthy(together)
            together = []
            match statement:
                case For():
                    yield from parallel_loops(statement.body)
                case If(_, then, orelse):
                    yield from parallel_loops((*then, *orelse))
        yield from _worthy(together)


def _worthy(together: Sequence[For]) -> Iterator[tuple[For, ...]]:
    if together and _is_worth_it(together):
        yield tuple(together)


def _is_worth_it(body: Sequence[Stmt]) -> bool:
    return _work(body) >= _LEAST_WORK


def _work(body: Sequence[Stmt]) -> int:
    """In operations or bytes, of which there are more."""
    counts = cost(body)
    return max(counts.work, counts.bytes_read + counts.bytes_written)


def _can_be_shared(loop: For) -> bool:
    if not isinstance(loop.extent, int) or loop.extent < 2:
        return False
    local = any(b.space is Space.LOCAL for b in _outer_buffers(loop))
    return not local and (loop.kind is LoopKind.APART or independent(loop, calls=True))


def _outer_buffers(loop: For) -> set[Buffer]:
    """The buffers it uses and does not declare."""
    declared = {s.buffer for s in statements(loop.body) if isinstance(s, Alloc)}
    return used_buffers(loop.body) - declared


class ParallelPrinter(StatementPrinter):
    """Prints a kernel's statements with these loops as calls of what is in `printed`.

    `parts`: by identity of the loop. `order`: of the kernel's buffers.
    """

    def __init__(
        self,
        names: Names,
        headers: set[str],
        used: set[Var],
        written: set[Buffer],
        parts: dict[int, Part],
        order: Sequence[Buffer],
    ) -> None:
        super().__init__(names, headers, used, written)
        self._parts, self._order = parts, order
        self.printed: list[PartText] = []

    def loop(self, loop: For) -> list[str]:
        part = self._parts.get(id(loop))
        if part is None:
            return super().loop(loop)
        if loop is not part.loops[-1]:
            return []
        members = self._members(part.loops)
        count, text = self._part(part, members)
        self.printed.append(text)
        self.headers.add(HEADER)
        values = ", ".join(name for _, name in members)
        call = f"ccg_in_parts(threads, {count}, {part.function}, &context);"
        lines = [f"struct {part.context} context = {{{values}}};", call]
        return ["{", *indented(lines), "}"]

    def _members(self, loops: tuple[For, ...]) -> list[tuple[str, str]]:
        """Type and name of what the loops use from around them."""
        buffers, used = set().union(*map(_outer_buffers, loops)), used_variables(loops)
        bound = {s.var for s in statements(loops) if isinstance(s, For | Let)}
        variables = sorted(used - bound, key=lambda var: var.name)
        pointers = [(self._pointer(b), self.name(b)) for b in self._order if b in buffers]
        return pointers + [(f"{c_type(v.type)} ", self.name(v)) for v in variables]

    def _pointer(self, buffer: Buffer) -> str:
        return f"{'' if buffer in self.written else 'const '}{memory_type(buffer.type)} *"

    def _part(self, part: Part, members: Sequence[tuple[str, str]]) -> tuple[int, PartText]:
        """In how many pieces the loops are shared, and what does those from `begin` to `end`."""
        joined = [join_loops(loop, _ENOUGH_TURNS) for loop in part.loops]
        count, _ = _turns(max(joined, key=lambda loop: _work((loop,))))
        lines = [line for loop in joined for line in self._share(loop, count)]
        parameters = [f"{_qualified(kind)}{name}" for kind, name in members]
        parameters += ["ptrdiff_t begin", "ptrdiff_t end"]
        prototype = f"void {part.turns}({', '.join(parameters)})"
        caller = (*_context(part, members), *_function(part, members))
        return count, PartText(prototype, tuple(fitted(indented(lines))), caller)

    def _share(self, loop: For, count: int) -> list[str]:
        """As large a share of a loop as `begin` to `end` is of so many pieces."""
        own, chunk = _turns(loop)
        begin, end = (_scaled(bound, own, count) for bound in ("begin", "end"))
        if own == 1 != count:
            return ["if (begin == 0) {", *indented(self.turns(loop, "0", str(loop.extent))), "}"]
        if chunk == 1:
            return self.turns(loop, begin, end)
        if loop.extent == own * chunk:  # then compilers make nothing for what is left over
            head = f"for (ptrdiff_t piece = {begin}; piece < {end}; ++piece) {{"
            inner = self.turns(loop, f"piece * {chunk}", f"piece * {chunk} + {chunk}")
            return [head, *indented(inner), "}"]
        limit = f"{end} < {own} ? {end} * {chunk} : {loop.extent}"
        lines = [f"const ptrdiff_t last = {limit};"]
        lines += self.turns(loop, f"{begin} * {chunk}", "last")
        return ["{", *indented(lines), "}"]


def _scaled(bound: str, own: int, count: int) -> str:
    """The piece of `own` that lies where a piece of `count` does."""
    if own == count:
        return bound
    if own % count == 0:
        return f"{bound} * {own // count}"
    if count % own == 0:
        return f"{bound} / {count // own}"
    if own * count <= _MOST_INDEX:
        return f"{bound} * {own} / {count}"
    return f"(ptrdiff_t)((int64_t){bound} * {own} / {count})"


def _qualified(kind: str) -> str:
    return f"{kind}CCG_RESTRICT " if kind.endswith("*") else kind


def _context(part: Part, members: Sequence[tuple[str, str]]) -> list[str]:
    fields = (f"{kind}{name};" for kind, name in members)
    return [f"struct {part.context} {{", *indented(list(fields)), "};", ""]


def _function(part: Part, members: Sequence[tuple[str, str]]) -> list[str]:
    values = [*(f"shared->{name}" for _, name in members), "begin", "end"]
    lines = [f"const struct {part.context} *const shared = context;"]
    lines += [f"{part.turns}({', '.join(values)});"]
    prototype = f"static void {part.function}(void *context, ptrdiff_t begin, ptrdiff_t end)"
    return [*fitted([prototype]), "{", *fitted(indented(lines)), "}", ""]


def _turns(loop: For) -> tuple[int, int]:
    """How many pieces can be shared out, and how many turns each has."""
    assert isinstance(loop.extent, int)
    chunk = _CHUNK if loop.kind is LoopKind.VECTOR else 1
    return -(-loop.extent // chunk), chunk
