"""How far apart in memory neighbouring elements lie."""

from __future__ import annotations

from ccodegen.loop.affine import affine
from ccodegen.loop.ir import Apply, Expr, Load
from ccodegen.loop.linear import linearize
from ccodegen.loop.parts import parts


def stride_along(value: Expr, variable: Expr) -> int | None:
    """By how many elements the loads in `value` move when the index grows by one.

    The largest of all loads; None where a load moves in a way that is not affine.
    """
    match value:
        case Load(buffer, indices):
            position = affine(linearize(indices, buffer.dimensions))
            if variable in parts(*(t for t in position.terms if t != variable)):
                return None
            return abs(position.terms.get(variable, 0))
        case Apply(_, arguments, _):
            strides = [stride_along(a, variable) for a in arguments]
            known = [s for s in strides if s is not None]
            return max(known, default=0) if len(known) == len(strides) else None
    return 0
