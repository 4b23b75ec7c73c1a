"""How far apart in memory neighbouring elements lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ccodegen.loop.affine import affine
from ccodegen.loop.ir import Apply, Buffer, Expr, Load, Var
from ccodegen.loop.linear import linearize
from ccodegen.loop.parts import parts
from ccodegen.lower.kernel_builder import KernelBuilder


def stride_along(value: Expr, variable: Expr) -> int | None:
    """By how many elements the loads in `value` move when the index grows by one.

    The largest of all loads; None where a load moves in a way that is not affine.
    """
    match value:
        case Load():
            own, terms = affine(variable).terms, affine(position_of(value)).terms
            if own.keys() & parts(*(term for term in terms if term not in own)):
                return None
            step = _step(terms, variable)
            return step if step is None else abs(step)
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
    `known`: what else the place may depend on, beside what no loop changes."""
    if not isinstance(value, Load):
        return None
    (place,) = builder.simplify((position_of(value),))
    terms = affine(place).terms
    others = terms.keys() - {term for index in (*at, *known) for term in affine(index).terms}
    if any(isinstance(part, Var) for part in parts(*others)):
        return None
    steps = [step for index in at if (step := _step(terms, index)) is not None]
    return (value.buffer, tuple(steps)) if len(steps) == len(at) else None


def _step(terms: Mapping[Expr, int], variable: Expr) -> int | None:
    """By how much the sum of the terms grows where a loop's variable does by one; None where the
    loops that it has been cut into take different steps."""
    steps = {divmod(terms.get(part, 0), count) for part, count in affine(variable).terms.items()}
    if len(steps) > 1 or any(rest for _, rest in steps):
        return None
    return next((step for step, _ in steps), 0)


def position_of(element: Expr) -> Expr:
    """Where in its buffer an element that is read lies."""
    assert isinstance(element, Load)
    return linearize(element.indices, element.buffer.dimensions)
