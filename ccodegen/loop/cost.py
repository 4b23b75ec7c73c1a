"""What a kernel costs: operations and memory traffic, to choose parallel loops by, and which arrays
are far."""

from __future__ import annotations

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
from ccodegen.loop.parts import parts
from ccodegen.support.immutable import immutable

TRANSCENDENTAL = frozenset(
    (
        *("acos", "acosh", "asin", "asinh", "atan2", "atanh", "cbrt", "cosine", "cosh", "decay"),
        *("erf", "exponential", "exponential-minus-one", "log", "log-plus-one", "logistic"),
        *("power", "rsqrt", "sine", "sinh", "sqrt", "tan", "tanh"),
    )
)
"""Operators that take many instructions, or a long one."""

FAR = 1 << 23  # bytes of an array that caches do not keep

_UNKNOWN_TURNS = 16


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
            return _call(statement)
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


def _call(call: CallC) -> Cost:
    """One operation for each element it may touch."""
    read = sum(_traffic(b) * b.size for b in call.buffers)
    written = sum(_traffic(call.buffers[n]) * call.buffers[n].size for n in call.writes)
    counts = Cost(sum(b.size for b in call.buffers), 0, read, written)
    return counts + _expressions(*call.scalars)


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
