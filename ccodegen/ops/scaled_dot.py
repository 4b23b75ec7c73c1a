"""scaled-dot: a dot of operands that are multiplied by a scale per block of elements first.

A scale has the rank of its operand, and sizes that divide the operand's: each scale is that of a
block of neighbours; or it is a scalar. Products and sums are computed in the accumulator's type.
"""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import ArrayShape, Shape
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.build import broadcast, converted, derived, reshape
from ccodegen.ops.contraction import accumulator_of
from ccodegen.ops.dot import Dot, dot_shape
from ccodegen.ops.expansion import evaluate_expanded
from ccodegen.ops.precision import widened
from ccodegen.ops.shape_checks import arrays, require


def infer(shapes: tuple[Shape, ...], attributes: Dot) -> ArrayShape:
    """The scales, operands 2 and 3, say nothing about the result."""
    lhs, rhs = arrays("scaled-dot", widened(shapes[:2]))
    for operand, scale in zip((lhs, rhs), arrays("scaled-dot", shapes[2:]), strict=True):
        require(
            not scale.rank or _divides(scale, operand),
            f"scaled-dot: the scales {scale} do not divide {operand} into blocks",
        )
    return dot_shape("scaled-dot", lhs, rhs, attributes)


def _divides(scale: ArrayShape, operand: ArrayShape) -> bool:
    pairs = zip(operand.dimensions, scale.dimensions, strict=False)
    return scale.rank == operand.rank and all(
        a == b or min(a, b) < 0 or (b > 0 and a % b == 0) for a, b in pairs
    )


def expand(instruction: Instruction) -> Instruction:
    """dot(lhs · its scales, rhs · its scales)."""
    shapes = [o.array_shape for o in instruction.operands]
    wide = accumulator_of([*shapes, instruction.array_shape], instruction.array_shape)
    lhs, rhs, *scales = (converted(o, o, wide) for o in instruction.operands)
    scaled = tuple(_scaled(instruction, *pair) for pair in zip((lhs, rhs), scales, strict=True))
    attributes = attributes_of(instruction, Dot)
    return derived(instruction, "dot", instruction.shape, scaled, attributes)


def _scaled(
    instruction: Instruction, operand: Instruction, scale: Instruction
) -> Instruction:
    spread = _spread(instruction, scale, operand.array_shape.dimensions)
    return derived(instruction, "multiply", operand.array_shape, (operand, spread))


def _spread(
    instruction: Instruction, scale: Instruction, sizes: tuple[int, ...]
) -> Instruction:
    """Each scale, repeated for the elements of its block."""
    counts = scale.array_shape.dimensions
    if not counts:
        return broadcast(instruction, scale, sizes, ())
    blocks = [n // c for n, c in zip(sizes, counts, strict=True) if c] if all(counts) else []
    if not blocks:
        return reshape(instruction, scale, sizes)
    split = [n for pair in zip(counts, blocks, strict=True) for n in pair]
    outer = range(0, len(split), 2)
    return reshape(instruction, broadcast(instruction, scale, split, tuple(outer)), sizes)


register(
    OpDef(
        "scaled-dot", Dot, (4, 4), infer=infer, evaluate=evaluate_expanded, expand=expand
    )
)
