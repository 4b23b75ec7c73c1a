"""How far apart in memory neighbouring elements lie."""

from __future__ import annotations

from collections.abc import Sequence

from ccodegen.loop.affine import affine
from ccodegen.loop.ir import Apply, Buffer, Expr, Load
from ccodegen.loop.linear import linearize
from ccodegen.loop.parts import parts
from ccodegen.lower.kernel_builder import KernelBuilder


def stride_along(value: Expr, variable: Expr) -> int | None:
    """By how many elements the loads in `value` move when the index grows by one.

    The largest of all loads; None where a load moves in a way that is not affine.
    """
    match value:
        case Load():
            position = affine(position_of(value))
            if variable in parts(*(t for t in position.terms if t != variable)):
                return None
            return abs(position.terms.get(variable, 0))
        case Apply(_, arguments, _):
            strides = [stride_along(a, variable) for a in arguments]
            known = [s for s in strides if s is not None]
            return max(known, default=0) if len(known) == len(strides) else None
    return 0


def steps_along(
    builder: KernelBuilder, value: Expr, at: Sequence[Expr], known: Sequence[Expr] = ()
) -> tuple[Buffer, tuple[int, ...]] | None:
    """The buffer that the value is read from as it lies there, and for each of the indices `at`
    how far apart elements are where it differs by one; None where it is computed or steps differ.
    `known`: what else the place may depend on."""
    if not isinstance(value, Load):
        return None
    (place,) = builder.simplify((position_of(value),))
    steps = affine(place).terms
    if not steps.keys() <= {*at, *known}:
        return None
    return value.buffer, tuple(steps.get(n, 0) for n in at)


def position_of(element: Expr) -> Expr:
    """Where in its buffer an element that is read lies."""
    assert isinstance(element, Load)
    return linearize(element.indices, element.buffer.dimensions)
