"""In which precision ops take their operands, where a program gives floats of several.

XLA lets most ops mix them: they compute in the widest one, or in that of the computation they
call. `hlo.precision` makes the conversions.
"""

from __future__ import annotations

from collections.abc import Sequence

from ccodegen.hlo.attributes import Attributes
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import Takes
from ccodegen.hlo.shape import ArrayShape, Shape
from ccodegen.support.element_type import widest_float


def of_one_precision(part: slice = slice(None)) -> Takes:
    """OpDef.takes of an op whose operands, or a part of them, are of one type."""

    def takes(shapes: tuple[Shape, ...], attributes: Attributes) -> tuple[Shape, ...]:
        wide = list(shapes)
        wide[part] = widened(shapes[part])
        return tuple(wide)

    return takes


def widened(shapes: tuple[Shape, ...]) -> tuple[Shape, ...]:
    """Floats of several precisions as floats of the widest; other shapes as they are."""
    types = [s.element_type for s in shapes if isinstance(s, ArrayShape)]
    mixed = len(types) == len(shapes) and len(set(types)) > 1 and all(t.is_float for t in types)
    return tuple(as_float(s, ArrayShape(widest_float(types))) for s in shapes) if mixed else shapes


def for_parameters(
    shapes: Sequence[Shape], parameters: Sequence[Instruction]
) -> tuple[Shape, ...]:
    """Floats in the precision of the parameters that their elements are passed as."""
    if len(shapes) != len(parameters):
        return tuple(shapes)
    return tuple(as_float(s, p.shape) for s, p in zip(shapes, parameters, strict=True))


def as_float(shape: Shape, wanted: Shape) -> Shape:
    """The shape with the type of the other where both are of floats."""
    if not (isinstance(shape, ArrayShape) and isinstance(wanted, ArrayShape)):
        return shape
    both = shape.element_type.is_float and wanted.element_type.is_float
    return shape.with_type(wanted.element_type) if both else shape
