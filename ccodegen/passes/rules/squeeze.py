"""Elementwise ops work without dimensions of size 1, where their operands were made without."""

from __future__ import annotations

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Instruction
from ccodegen.ops.build import broadcast, derived, is_static, reshape
from ccodegen.ops.movement import Broadcast
from ccodegen.passes.context import PassContext
from ccodegen.passes.rules import ANY_OP, Rules
from ccodegen.passes.rules.reshape import matching_dimensions


def squeeze(instruction: Instruction, _: PassContext) -> Instruction | None:
    """sqrt(reshape(x)) → reshape(sqrt(x)), where the reshape adds dimensions of size 1.

    What keepdims=True leaves: the reshape moves on until the broadcast behind takes it in. The
    other operands must be made as well from what has no such dimensions.
    """
    definition = opdef.find(instruction.op)
    if definition is None or not definition.elementwise or instruction.attributes.computations():
        return None
    operands = instruction.operands
    if not is_static(instruction):
        return None
    dimensions = instruction.array_shape.dimensions
    sources = (o.operands[0].array_shape.dimensions for o in operands if o.op == "reshape")
    fewer = (s for s in sources if len(s) < len(dimensions))
    sizes = next((s for s in fewer if matching_dimensions(s, dimensions) is not None), None)
    if sizes is None:
        return None
    squeezed = [_squeezed(o, sizes) for o in operands]
    found = tuple(o for o in squeezed if o is not None)
    if len(found) != len(operands):
        return None
    shape = instruction.array_shape.with_dimensions(sizes)
    small = derived(instruction, instruction.op, shape, found, instruction.attributes)
    return reshape(instruction, small, dimensions)


def _squeezed(operand: Instruction, sizes: tuple[int, ...]) -> Instruction | None:
    """The operand with these dimensions, if it can be had by another reshape at most."""
    if operand.array_shape.dimensions == ():
        return operand
    if operand.op == "reshape":
        (source,) = operand.operands
        return source if source.array_shape.dimensions == sizes else None
    if operand.op == "constant":
        return reshape(operand, operand, sizes)
    if not isinstance(operand.attributes, Broadcast):
        return None
    matches = matching_dimensions(operand.array_shape.dimensions, sizes)
    mapped = [matches[d] if matches else -1 for d in operand.attributes.dimensions]
    return None if -1 in mapped else broadcast(operand, operand.operands[0], sizes, mapped)


RULES: Rules = {ANY_OP: (squeeze,)}
