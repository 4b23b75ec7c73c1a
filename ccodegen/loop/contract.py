"""What a Contract means, as plain loops."""

from __future__ import annotations

from collections.abc import Sequence

from ccodegen.loop.ir import (
    Alloc,
    Apply,
    Axis,
    Buffer,
    Const,
    Contract,
    For,
    Let,
    Load,
    Stmt,
    Store,
)
from ccodegen.support.element_type import ElementType, Kind


def plain_loops(contract: Contract) -> tuple[Stmt, ...]:
    """Loops over rows and columns; in each a variable that sums over depth, and the epilogue."""
    total = Buffer(f"{contract.accumulator.name}_sum", contract.accumulator.type, ())
    product = Apply("multiply", (contract.lhs.value, contract.rhs.value), total.type)
    added = Apply("add", (Load(total), product), total.type)
    turn = (*contract.lhs.body, *contract.rhs.body, Store(total, (), added))
    element = (
        Alloc(total),
        Store(total, (), zero(total.type)),
        *nest(contract.depth, turn),
        Let(contract.accumulator, Load(total)),
        *contract.epilogue,
    )
    return nest((*contract.rows, *contract.columns), element)


def nest(axes: Sequence[Axis], body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """Loops around statements, the first axis outermost."""
    for axis in reversed(axes):
        body = (For(axis.var, axis.extent, body),)
    return body


def zero(element_type: ElementType) -> Const:
    """The constant zero, as the Python value for the type."""
    values = {Kind.PRED: False, Kind.FLOAT: 0.0, Kind.COMPLEX: 0j}
    return Const(element_type, values.get(element_type.kind, 0))
