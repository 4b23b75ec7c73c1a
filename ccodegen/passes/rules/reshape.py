"""reshape and transpose: two in a row become one, those that move nothing vanish."""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.build import broadcast, derived, is_static, reshape, transpose, turned
from ccodegen.ops.creation import Iota
from ccodegen.ops.movement import Broadcast, Concatenate, Transpose
from ccodegen.passes.context import PassContext
from ccodegen.passes.rules import Rules


def reshape_(instruction: Instruction, _: PassContext) -> Instruction | None:
    """reshape to the same shape → operand; of a reshape → one; of a broadcast or iota that only
    gains or loses dimensions of size 1 → broadcast or iota."""
    (operand,) = instruction.operands
    if not is_static(instruction):
        return None
    dimensions = instruction.array_shape.dimensions
    if operand.array_shape.dimensions == dimensions:
        return operand
    if operand.op == "reshape":
        return reshape(instruction, operand.operands[0], dimensions)
    if operand.op == "broadcast":
        return _of_broadcast(instruction, operand)
    if operand.op == "iota":
        return _of_iota(instruction, operand)
    return None


def transpose_(instruction: Instruction, _: PassContext) -> Instruction | None:
    """transpose to the same order → operand; of a transpose → one; that moves only dimensions of
    size 1 → reshape; of a broadcast or iota → broadcast or iota; of a concatenate of parts of
    which that is so → concatenate."""
    (operand,) = instruction.operands
    attributes = attributes_of(instruction, Transpose)
    order = attributes.dimensions
    if not is_static(instruction):
        return None
    if order == tuple(range(len(order))):
        return operand
    if isinstance(operand.attributes, Transpose):
        return turned(instruction, operand, order)
    if isinstance(operand.attributes, Broadcast):
        return _transposed_broadcast(instruction, operand, operand.attributes.dimensions, order)
    if isinstance(operand.attributes, Iota):
        moved = Iota(order.index(operand.attributes.iota_dimension))
        return derived(instruction, "iota", instruction.shape, (), moved)
    if _keeps_element_order(operand.array_shape.dimensions, order):
        return reshape(instruction, operand, instruction.array_shape.dimensions)
    if isinstance(operand.attributes, Concatenate):
        return _transposed_parts(instruction, operand, operand.attributes, order)
    return None


def matching_dimensions(source: tuple[int, ...], target: tuple[int, ...]) -> list[int] | None:
    """For each source dimension other than size 1 the target dimension that it becomes, where a
    reshape between the two only adds and removes dimensions of size 1; else None.

    Source dimensions of size 1 get -1.
    """
    kept = [d for d, size in enumerate(target) if size != 1]
    if [n for n in source if n != 1] != [target[d] for d in kept]:
        return None
    order = iter(kept)
    return [-1 if size == 1 else next(order) for size in source]


def _of_broadcast(instruction: Instruction, operand: Instruction) -> Instruction | None:
    (source,) = operand.operands
    attributes = attributes_of(operand, Broadcast)
    dimensions = instruction.array_shape.dimensions
    if not attributes.dimensions:
        return broadcast(instruction, source, dimensions, ())
    matches = matching_dimensions(operand.array_shape.dimensions, dimensions)
    if matches is None:
        return None
    mapped = [matches[d] for d in attributes.dimensions]
    if -1 in mapped or mapped != sorted(mapped):
        return None
    return broadcast(instruction, source, dimensions, mapped)


def _of_iota(instruction: Instruction, operand: Instruction) -> Instruction | None:
    attributes, dimensions = operand.attributes, instruction.array_shape.dimensions
    assert isinstance(attributes, Iota)
    matches = matching_dimensions(operand.array_shape.dimensions, dimensions)
    if matches is None or matches[attributes.iota_dimension] < 0:
        return None
    moved = Iota(matches[attributes.iota_dimension])
    return derived(instruction, "iota", instruction.shape, (), moved)


def _transposed_broadcast(
    instruction: Instruction,
    operand: Instruction,
    dimensions: tuple[int, ...],
    order: tuple[int, ...],
) -> Instruction:
    """Transposes the smaller operand of the broadcast, and only where its order changes."""
    (source,) = operand.operands
    mapped = [order.index(d) for d in dimensions]
    inner = sorted(range(len(mapped)), key=mapped.__getitem__)
    moved = transpose(instruction, source, inner)
    return broadcast(instruction, moved, instruction.array_shape.dimensions, sorted(mapped))


def _transposed_parts(
    instruction: Instruction, operand: Instruction, attributes: Concatenate, order: tuple[int, ...]
) -> Instruction | None:
    """`transpose(concatenate(%x, %y), dimensions={0})` of rows → a concatenate of columns."""
    parts = operand.operands
    if not all(_keeps_element_order(p.array_shape.dimensions, order) for p in parts):
        return None
    turned = [
        reshape(instruction, p, tuple(p.array_shape.dimensions[d] for d in order)) for p in parts
    ]
    (along,) = attributes.dimensions
    moved = Concatenate((order.index(along),))
    return derived(instruction, "concatenate", instruction.shape, tuple(turned), moved)


def _keeps_element_order(sizes: tuple[int, ...], order: tuple[int, ...]) -> bool:
    moving = [d for d in order if sizes[d] != 1]
    return moving == sorted(moving)


RULES: Rules = {"reshape": (reshape_,), "transpose": (transpose_,)}
