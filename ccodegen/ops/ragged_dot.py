"""ragged-dot: a dot whose left rows come in groups, each with a right operand of its own.

Groups of rows, or of batches, leave the result's dimensions as a dot's; groups of contracted
elements give a result each, so that the groups are its first dimension.
"""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import AttrKind, attr
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import ArrayShape, Shape
from ccodegen.ops.dot import Dot, dot_shape, joined
from ccodegen.ops.precision import widened
from ccodegen.ops.shape_checks import arrays, dimension_numbers, require


@dataclass(frozen=True)
class RaggedDot(Dot):
    lhs_ragged_dims: tuple[int, ...] = attr(AttrKind.INTS, ())
    rhs_group_dims: tuple[int, ...] = attr(AttrKind.INTS, ())


def infer(shapes: tuple[Shape, ...], attributes: RaggedDot) -> ArrayShape:
    lhs, rhs, group_sizes = arrays("ragged-dot", (*widened(shapes[:2]), shapes[2]))
    require(len(attributes.lhs_ragged_dims) == 1, "ragged-dot takes one ragged dimension")
    dimension_numbers("ragged-dot", attributes.lhs_ragged_dims, lhs.rank)
    result = dot_shape("ragged-dot", lhs, rhs, attributes, attributes.rhs_group_dims)
    if attributes.lhs_ragged_dims[0] not in attributes.lhs_contracting_dims:
        return result
    require(group_sizes.rank > 0, "ragged-dot takes a size for each group, not one scalar")
    return joined(ArrayShape(result.element_type, group_sizes.dimensions[-1:]), result)


register(OpDef("ragged-dot", RaggedDot, arity=(3, 3), infer=infer))
