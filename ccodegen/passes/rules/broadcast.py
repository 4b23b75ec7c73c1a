"""broadcast: two in a row become one; size-1 dimensions put in between vanish; scalars are computed
before."""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import is_elementwise
from ccodegen.hlo.shape import ArrayShape
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.build import broadcast, derived, is_static, reshape
from ccodegen.ops.movement import Broadcast
from ccodegen.passes.context import PassContext
from ccodegen.passes.rules import ANY_OP, Rules
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


def of_scalars(instruction: Instruction, _: PassContext) -> Instruction | None:
    """An elementwise op of broadcast scalars → the scalars' op, broadcast."""
    operands = [_scalar(o) for o in instruction.operands]
    scalars = tuple(o for o in operands if o is not None)
    if not scalars or len(scalars) < len(operands) or not is_elementwise(instruction):
        return None
    shape = instruction.array_shape
    names_dimensions = instruction.op == "map"
    if shape.rank == 0 or names_dimensions or not is_static(instruction):
        return None
    value = derived(
        instruction, instruction.op, shape.with_dimensions(()), scalars, instruction.attributes
    )
    return broadcast(instruction, value, shape.dimensions, ())


def _scalar(operand: Instruction) -> Instruction | None:
    """What all elements are, where that is one value."""
    if operand.op == "broadcast":
        (operand,) = operand.operands
    is_array = isinstance(operand.shape, ArrayShape)
    return operand if is_array and operand.array_shape.rank == 0 else None


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


RULES: Rules = {ANY_OP: (of_scalars,), "broadcast": (broadcast_,)}
