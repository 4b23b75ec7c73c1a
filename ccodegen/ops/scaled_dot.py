"""scaled-dot: a dot of operands that are multiplied by a scale per block of elements first."""

from __future__ import annotations

from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import ArrayShape, Shape
from ccodegen.ops.dot import Dot, dot_shape
from ccodegen.ops.precision import widened
from ccodegen.ops.shape_checks import arrays


def infer(shapes: tuple[Shape, ...], attributes: Dot) -> ArrayShape:
    """The scales, operands 2 and 3, say nothing about the result."""
    lhs, rhs = arrays("scaled-dot", widened(shapes[:2]))
    return dot_shape("scaled-dot", lhs, rhs, attributes)


register(OpDef("scaled-dot", Dot, arity=(4, 4), infer=infer))
