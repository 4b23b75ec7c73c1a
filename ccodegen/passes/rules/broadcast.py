"""broadcast: two in a row become one; size-1 dimensions put in between vanish."""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.build import broadcast, is_static, reshape
from ccodegen.ops.movement import Broadcast
from ccodegen.passes.context import PassContext
from ccodegen.passes.rules import Rules
from ccodegen.passes.rules.reshape import matching_dimensions


def broadcast_(instruction: Instruction, _: PassContext) -> Instruction | None:
    """broadcast that adds nothing → operand; that only adds dimensions of size 1 → reshape; of a
    broadcast → one; of a reshape that adds dimensions of size 1 → one broadcast."""
    (operand,) = instruction.operands
    attributes = attributes_of(instruction, Broadcast)
    if not is_static(instruction):
        return None
    mapped, sizes = attributes.dimensions, instruction.array_shape.dimensions
    if mapped == tuple(range(len(sizes))):
        return operand
    if operand.array_shape.size == instruction.array_shape.size and _is_ordered(mapped):
        return reshape(instruction, operand, sizes)
    if isinstance(operand.attributes, Broadcast):
        composed = [mapped[d] for d in operand.attributes.dimensions]
        return broadcast(instruction, operand.operands[0], sizes, composed)
    return _of_reshape(instruction, operand, mapped)


def _of_reshape(
    instruction: Instruction, operand: Instruction, mapped: tuple[int, ...]
) -> Instruction | None:
    """reduce → reshape [R,1] → broadcast: the pattern that keepdims=True leaves."""
    if operand.op != "reshape":
        return None
    (source,) = operand.operands
    matches = matching_dimensions(source.array_shape.dimensions, operand.array_shape.dimensions)
    if matches is None or -1 in matches:
        return None
    direct = [mapped[d] for d in matches]
    return broadcast(instruction, source, instruction.array_shape.dimensions, direct)


def _is_ordered(dimensions: tuple[int, ...]) -> bool:
    return tuple(sorted(dimensions)) == dimensions


RULES: Rules = {"broadcast": (broadcast_,)}
