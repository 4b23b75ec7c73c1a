"""What a kernel costs: operations and memory traffic, to choose parallel loops by, and which arrays
are far."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ccodegen.loop.ir import (
    INDEX,
    Apply,
    Buffer,
    CallC,
    Const,
    Expr,
    For,
    If,
    Kernel,
    Let,
    Load,
    Space,
    Stmt,
    Store,
    Var,
)
from ccodegen.loop.library import Block, blocks_used, products
from ccodegen.loop.parts import parts
from ccodegen.support.immutable import immutable

TRANSCENDENTAL = frozenset(
    (
        *("acos", "acosh", "asin", "asinh", "atan2", "atanh", "cbrt", "cosine", "cosh", "decay"),
        *("erf", "exponential", "exponential-minus-one", "log", "log-plus-one", "logistic"),
        *("near-cosine", "near-sine", "near-tan"),
        *("power", "rsqrt", "sine", "sinh", "sqrt", "tan", "tanh"),
    )
)
"""Operators that take many instructions, or a long one."""

FUNCTIONS = TRANSCENDENTAL - {"sqrt", "rsqrt"}
"""Those that take longer one by one than for a vector."""

FAR = 1 << 23  # bytes of an array that caches do not keep
CACHE_LINE = 64  # bytes
WORD = 4  # bytes
GATHERED = 4  # bytes of the least elements that processors gather into vectors

_UNKNOWN_TURNS = 16
_SLOW_OPERATOR = 10  # operations


@immutable
class Cost:
    """Counts for one run. `operations`: scalar operators other than index arithmetic and those of
    TRANSCENDENTAL, which count apart. Bytes are of loads and stores, as if there were no cache;
    local variables are free."""

    operations: int = 0
    transcendental: int = 0
    bytes_read: int = 0
    bytes_written: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(*(a + b for a, b in zip(self._counts, other._counts, strict=True)))

    def times(self, turns: int) -> Cost:
        return Cost(*(turns * count for count in self._counts))

    def either(self, other: Cost) -> Cost:
        """The greater of each count: of two branches only one runs."""
        return Cost(*map(max, self._counts, other._counts))

    @property
    def work(self) -> int:
        """In operations, as many of which a transcendental one takes as long as."""
        return self.operations + _SLOW_OPERATOR * self.transcendental

    @property
    def _counts(self) -> tuple[int, int, int, int]:
        return self.operations, self.transcendental, self.bytes_read, self.bytes_written


def cost(item: Kernel | Sequence[Stmt]) -> Cost:
    """The cost of a kernel or of statements. A loop of computed extent counts as the turns that it
    has at most, where constants tell, else as 16."""
    return _block(item.body if isinstance(item, Kernel) else item, {})


def _block(body: Sequence[Stmt], most: Mapping[Var, int]) -> Cost:
    """`most`: the greatest values of names, where constants tell."""
    most = dict(most)
    total = Cost()
    for statement in body:
        total += _statement(statement, most)
        if isinstance(statement, Let) and (limit := _most(statement.value, most)) is not None:
            most[statement.var] = limit
    return total


def _statement(statement: Stmt, most: Mapping[Var, int]) -> Cost:
    match statement:
        case For(_, extent, body):
            if isinstance(extent, int):
                return _block(body, most).times(extent)
            turns = _most(extent, most)
            turns = _UNKNOWN_TURNS if turns is None else turns
            return _expressions(extent) + _block(body, most).times(turns)
        case If(condition, then, orelse):
            return _expressions(condition) + _block(then, most).either(_block(orelse, most))
        case Let(_, value):
            return _expressions(value)
        case Store(buffer, indices, value):
            written = Cost(bytes_written=_traffic(buffer))
            return _expressions(*indices, value) + written
        case CallC():
            return _call(statement, most)
    return Cost()


def _most(expr: Expr, most: Mapping[Var, int]) -> int | None:
    match expr:
        case Const(_, int() as value):
            return value
        case Var():
            return most.get(expr)
        case Apply("minimum", arguments):
            known = (_most(a, most) for a in arguments)
            return min((limit for limit in known if limit is not None), default=None)
    return None


def _call(call: CallC, most: Mapping[Var, int]) -> Cost:
    """One operation for each product that a tile adds up, else for each element it may touch."""
    blocks = blocks_used(call)
    touched = {b: _elements(b, blocks.get(b), most) for b in call.buffers}
    read = sum(_traffic(b) * touched[b] for b in call.buffers)
    written = sum(_traffic(b) * touched[b] for b in (call.buffers[n] for n in call.writes))
    factors = products(call)
    known = (f if isinstance(f, int) else _most(f, most) or _UNKNOWN_TURNS for f in factors)
    operations = math.prod(known) if factors else sum(touched[b] for b in call.buffers)
    counts = Cost(operations, 0, read, written)
    return counts + _expressions(*call.scalars)


def _elements(buffer: Buffer, block: Block | None, most: Mapping[Var, int]) -> int:
    """In a block of the buffer, all of it where none is known."""
    sides = block[1] if block else ()
    counts = [count if isinstance(count, int) else _most(count, most) for count, _ in sides]
    known = [count for count in counts if count is not None]
    is_known = block is not None and len(known) == len(counts)
    return min(math.prod(known), buffer.size) if is_known else buffer.size


def _traffic(buffer: Buffer) -> int:
    return 0 if buffer.space is Space.LOCAL else buffer.type.bytes


def _expressions(*expressions: Expr) -> Cost:
    """What evaluating them once costs; a shared part counts once, a select both arms."""
    operations, transcendental, bytes_read = 0, 0, 0
    for expr in parts(*expressions):
        match expr:
            case Load(buffer):
                bytes_read += _traffic(buffer)
            case Apply(operator):
                transcendental += operator in TRANSCENDENTAL
                operations += operator not in TRANSCENDENTAL and expr.type is not INDEX
    return Cost(operations, transcendental, bytes_read)
