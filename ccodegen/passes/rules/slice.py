"""slice: taken from what made the array, where that is smaller."""

from __future__ import annotations

from collections.abc import Sequence

from ccodegen.hlo.attributes import SliceDimension
from ccodegen.hlo.ir import Instruction
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.build import broadcast, derived, is_static, slice_of, slice_size
from ccodegen.ops.creation import Iota
from ccodegen.ops.movement import Broadcast, Concatenate, Pad, Slice
from ccodegen.passes.context import PassContext
from ccodegen.passes.rules import Rules


def slice_(instruction: Instruction, _: PassContext) -> Instruction | None:
    """slice of all → operand; of a slice → one; of a broadcast, concatenate, pad or iota → of
    their operand."""
    (operand,) = instruction.operands
    attributes = attributes_of(instruction, Slice)
    if not is_static(instruction) or instruction.array_shape.size == 0:
        return None
    whole = slice_of(instruction, operand, attributes.slice)
    if whole is operand:
        return operand
    rule = _OF.get(operand.op)
    return rule(instruction, operand, attributes.slice) if rule else None


def compose(outer: SliceDimension, inner: SliceDimension) -> SliceDimension:
    """The slice of a slice."""
    start = inner.start + outer.start * inner.stride
    stride = outer.stride * inner.stride
    return SliceDimension(start, start + (slice_size(outer) - 1) * stride + 1, stride)


def _of_slice(
    instruction: Instruction, operand: Instruction, slices: Sequence[SliceDimension]
) -> Instruction:
    inner = attributes_of(operand, Slice)
    composed = [compose(o, i) for o, i in zip(slices, inner.slice, strict=True)]
    return slice_of(instruction, operand.operands[0], composed)


def _of_broadcast(
    instruction: Instruction, operand: Instruction, slices: Sequence[SliceDimension]
) -> Instruction:
    attributes = attributes_of(operand, Broadcast)
    part = [slices[d] for d in attributes.dimensions]
    smaller = slice_of(instruction, operand.operands[0], part)
    sizes = instruction.array_shape.dimensions
    return broadcast(instruction, smaller, sizes, attributes.dimensions)


def _of_concatenate(
    instruction: Instruction, operand: Instruction, slices: Sequence[SliceDimension]
) -> Instruction | None:
    """Only if one piece has all that is taken."""
    (dimension,) = attributes_of(operand, Concatenate).dimensions
    taken, end = slices[dimension], 0
    last = taken.start + (slice_size(taken) - 1) * taken.stride
    for piece in operand.operands:
        start, end = end, end + piece.array_shape.dimensions[dimension]
        if start <= taken.start and last < end:
            part = list(slices)
            part[dimension] = SliceDimension(taken.start - start, last + 1 - start, taken.stride)
            return slice_of(instruction, piece, part)
    return None


def _of_pad(
    instruction: Instruction, operand: Instruction, slices: Sequence[SliceDimension]
) -> Instruction | None:
    """Of the operand if no padding is taken, of the padding value if nothing else is."""
    source, value = operand.operands
    part = []
    for taken, pad, size in zip(
        slices, attributes_of(operand, Pad).padding, source.array_shape.dimensions, strict=True
    ):
        first = taken.start - pad.low
        last = first + (slice_size(taken) - 1) * taken.stride
        stretched = (size - 1) * (pad.interior + 1) + 1 if size else 0
        if last < 0 or first >= stretched:
            return broadcast(instruction, value, instruction.array_shape.dimensions, ())
        if first < 0 or last >= stretched or pad.interior:
            return None
        part.append(SliceDimension(first, last + 1, taken.stride))
    return slice_of(instruction, source, part)


def _of_iota(
    instruction: Instruction, operand: Instruction, slices: Sequence[SliceDimension]
) -> Instruction | None:
    """Where the numbers taken begin with 0 and have no gaps."""
    assert isinstance(operand.attributes, Iota)
    counted = slices[operand.attributes.iota_dimension]
    if counted.start != 0 or counted.stride != 1:
        return None
    return derived(instruction, "iota", instruction.shape, (), operand.attributes)


_OF = {
    "slice": _of_slice,
    "broadcast": _of_broadcast,
    "concatenate": _of_concatenate,
    "pad": _of_pad,
    "iota": _of_iota,
}

RULES: Rules = {"slice": (slice_,)}
