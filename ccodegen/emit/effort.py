"""How much of a C compiler's time kernels are worth."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from ccodegen.loop.cost import TRANSCENDENTAL
from ccodegen.loop.ir import (
    INDEX,
    Apply,
    CallC,
    Expr,
    For,
    If,
    Kernel,
    Let,
    LoopKind,
    Note,
    Space,
    Stmt,
    Store,
    Var,
)
from ccodegen.loop.parts import applied, loads, parts, variables
from ccodegen.loop.rebuild import expressions, statements
from ccodegen.support.element_type import ElementType

_LEAST_STATEMENTS = 20  # statements: of fewer a compiler saves little
_CALLED_WORK = 10  # times n³, of a call over n² elements: factorisations go over them many times
_LITTLE_WORK = 2000  # element computations
_QUICK = 2000  # operations, one at a time: about a microsecond
_OPERATIONS_OF_FUNCTION = 16  # that take as long, one at a time
_OPERATIONS_OF_COMPLEX = 4
_MANY_CONDITIONS = 5  # that a loop combines
_CHOOSING = {"clamp", "maximum", "minimum", "select", *TRANSCENDENTAL}
_ARITHMETIC = {
    "add", "complex", "fma", "imag", "maximum", "minimum", "multiply", "negate", "real", "subtract"
}


class Effort(enum.Enum):
    """What a compiler does for a unit."""

    LITTLE = enum.auto()
    SOME = enum.auto()  # finds vectors, and no more than takes it little time
    MASKS = enum.auto()  # makes no new choices between conditions, which vectors are not made of
    MOST = enum.auto()


def effort(kernel: Kernel) -> Effort:
    """Little for a kernel with little work; some for one that is not short, and either straight or
    waiting for memory: the costly ways to optimise make nothing better of these. Masks where a loop
    over lanes asks much."""
    if _work(kernel.body, _once) <= _LITTLE_WORK:
        return Effort.LITTLE
    is_short = len(statements(kernel.body)) < _LEAST_STATEMENTS
    some = not is_short and (_is_straight(kernel.body) or _scatters(kernel.body))
    if some:
        return Effort.SOME
    return Effort.MASKS if _asks_much(kernel.body) else Effort.MOST


def is_quick(kernel: Kernel) -> bool:
    """Whether it takes about a microsecond, be it not optimised."""
    return _work(kernel.body, _operations) <= _QUICK


def _work(body: Sequence[Stmt], of_statement: Callable[[Stmt], int]) -> float:
    """What all runs of the innermost statements add up to; infinite where only the running program
    knows. A function of C is taken for one that does n³ or more over n² elements, as linear algebra
    does."""

    def of(statement: Stmt) -> float:
        match statement:
            case For(_, int() as extent, inner, _):
                return extent * total(inner)
            case For():
                return math.inf
            case If(_, then, orelse):
                return max(total(then), total(orelse))
            case CallC(buffers=buffers):
                return _CALLED_WORK * math.pow(max((b.size for b in buffers), default=0), 1.5)
        return of_statement(statement)

    def total(statements: Sequence[Stmt]) -> float:
        return sum(map(of, statements))

    return total(body)


def _once(_: Stmt) -> int:
    return 1


def _operations(statement: Stmt) -> int:
    return max(1, sum(map(_operations_of, applied(*expressions((statement,))))))


def _operations_of(operation: Apply) -> int:
    if operation.type is INDEX:
        return 0
    if operation.operator in TRANSCENDENTAL:
        return _OPERATIONS_OF_FUNCTION
    return _OPERATIONS_OF_COMPLEX if operation.type.is_complex else 1


def _is_straight(body: tuple[Stmt, ...]) -> bool:
    """Whether all it does is to load, add, multiply and store: no branch, and no variable that
    changes."""
    for statement in statements(body):
        match statement:
            case For(_, int()) | Let() | Note():
                continue
            case Store(buffer) if buffer.space is not Space.LOCAL:
                continue
        return False
    return all(
        e.operator in _ARITHMETIC or e.type is INDEX for e in applied(*expressions(body))
    )


def _asks_much(body: tuple[Stmt, ...]) -> bool:
    """Whether a loop over lanes combines many conditions, or asks for what is chosen, or computes
    with it: one arm of a choice may be a number of which the answer is known. Of a few lanes, that
    stay rolled, only integers made of floats keep vectors from being made."""
    return any(_loop_asks_much(s) for s in statements(body) if isinstance(s, For))


def _loop_asks_much(loop: For) -> bool:
    if loop.kind is LoopKind.VECTOR and (
        _combined(loop.body) >= _MANY_CONDITIONS or _asks_for_chosen(loop.body)
    ):
        return True
    return loop.kind in (LoopKind.VECTOR, LoopKind.LANES) and _uses_saturated(loop.body)


def _combined(body: tuple[Stmt, ...]) -> int:
    conditions = (e for e in applied(*expressions(body)) if e.type is ElementType.PRED)
    return sum(condition.operator in ("and", "or") for condition in conditions)


def _compared(statement: Stmt) -> Iterator[Expr]:
    inside = applied(*expressions((statement,)))
    return chain.from_iterable(e.arguments for e in inside if e.operator.startswith("compare"))


def _asks_for_chosen(body: tuple[Stmt, ...]) -> bool:
    """Whether it compares floats of which one is chosen."""
    chosen: set[Expr] = set()  # names

    def is_chosen(value: Expr) -> bool:
        return any(
            part in chosen or (isinstance(part, Apply) and part.operator in _CHOOSING)
            for part in parts(value)
            if part.type.is_float  # indices apart
        )

    for statement in statements(body):
        if any(map(is_chosen, _compared(statement))):
            return True
        if isinstance(statement, Let) and is_chosen(statement.value):
            chosen.add(statement.var)
    return False


def _uses_saturated(body: tuple[Stmt, ...]) -> bool:
    """Whether it asks for integers made of floats, or makes floats of such words again."""
    saturated: set[Expr] = set()  # names

    def is_saturated(value: Expr) -> bool:
        return value in saturated or _saturates(value)

    for statement in statements(body):
        inside = applied(*expressions((statement,)))
        floats = (e.arguments[0] for e in inside if e.operator == "convert" and e.type.is_float)
        words = (word for word in floats if word.type.bits == 32)
        if any(map(is_saturated, chain(_compared(statement), words))):
            return True
        if isinstance(statement, Let) and _saturates(statement.value):
            saturated.add(statement.var)
    return False


def _saturates(value: Expr) -> bool:
    """Whether it is an integer made of a float, which is one of the limits beyond them."""
    if not isinstance(value, Apply) or value.operator not in ("convert", "saturate"):
        return False
    return value.type.is_integer and value.arguments[0].type.is_float


def _scatters(body: tuple[Stmt, ...]) -> bool:
    """Whether an innermost loop stores at places that it loads, as sorts by digits do."""
    loops = (s for s in statements(body) if isinstance(s, For))
    return any(_stores_at_loaded_places(loop.body) for loop in loops)


def _stores_at_loaded_places(body: tuple[Stmt, ...]) -> bool:
    loaded: set[Var] = set()

    def is_loaded(*values: Expr) -> bool:
        return bool(loads(*values)) or not loaded.isdisjoint(variables(*values))

    for statement in statements(body):
        match statement:
            case For():
                return False
            case Let(var, value) if is_loaded(value):
                loaded.add(var)
            case Store(_, indices) if is_loaded(*indices):
                return True
    return False
