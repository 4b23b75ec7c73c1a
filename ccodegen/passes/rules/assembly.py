"""concatenate, pad and reverse that put together what is whole already."""

from __future__ import annotations

from collections.abc import Sequence

from ccodegen.hlo.attributes import PaddingDimension, SliceDimension
from ccodegen.hlo.ir import Instruction
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.build import derived, is_static, slice_of, splat
from ccodegen.ops.movement import Broadcast, Concatenate, Pad, Reverse, Slice
from ccodegen.passes.constants import uniform
from ccodegen.passes.context import PassContext
from ccodegen.passes.rules import Rules


def concatenate(instruction: Instruction, _: PassContext) -> Instruction | None:
    """concatenate of one → it; of concatenates along the same dimension → one; without empty
    pieces; neighbouring slices of one array → one slice; equal constants → one broadcast."""
    if not is_static(instruction):
        return None
    assert isinstance(instruction.attributes, Concatenate)
    (dimension,) = instruction.attributes.dimensions
    pieces = _joined(instruction, _flat(instruction, dimension), dimension)
    if len(pieces) == 1:
        return pieces[0]
    if len(pieces) < len(instruction.operands) or _differ(pieces, instruction.operands):
        attributes = instruction.attributes
        return derived(instruction, "concatenate", instruction.shape, tuple(pieces), attributes)
    return _of_one_value(instruction)


def pad(instruction: Instruction, _: PassContext) -> Instruction | None:
    """pad by nothing → operand; that only crops → slice; of the same value → broadcast; of a pad
    with the same value → one."""
    operand, value = instruction.operands
    attributes = attributes_of(instruction, Pad)
    if not is_static(instruction):
        return None
    if all((p.low, p.high, p.interior) == (0, 0, 0) for p in attributes.padding):
        return operand
    if all(p.low <= 0 and p.high <= 0 and p.interior == 0 for p in attributes.padding):
        return slice_of(instruction, operand, _cropped(operand, attributes.padding))
    inside, outside = uniform(operand), uniform(value)
    if inside is not None and outside is not None and inside.tobytes() == outside.tobytes():
        return splat(instruction, outside, instruction.array_shape)
    return _of_pad(instruction, operand, value, attributes.padding)


def reverse(instruction: Instruction, _: PassContext) -> Instruction | None:
    """reverse of dimensions of size 1, or of those that a broadcast made → without them; of a
    reverse → one."""
    (operand,) = instruction.operands
    attributes = attributes_of(instruction, Reverse)
    if not is_static(instruction):
        return None
    moved = {d for d in attributes.dimensions if _matters(operand, d)}
    if isinstance(operand.attributes, Reverse):
        moved ^= set(operand.attributes.dimensions)
        operand = operand.operands[0]
    elif moved == set(attributes.dimensions):
        return None
    if not moved:
        return operand
    kept = Reverse(tuple(sorted(moved)))
    return derived(instruction, "reverse", instruction.shape, (operand,), kept)


def _flat(instruction: Instruction, dimension: int) -> list[Instruction]:
    """The pieces, those of pieces instead of pieces that are concatenates themselves."""
    pieces: list[Instruction] = []
    for operand in instruction.operands:
        inner = operand.attributes
        if isinstance(inner, Concatenate) and inner.dimensions == (dimension,):
            pieces.extend(operand.operands)
        else:
            pieces.append(operand)
    filled = [p for p in pieces if p.array_shape.dimensions[dimension]]
    return filled or pieces[:1]


def _joined(
    origin: Instruction, pieces: list[Instruction], dimension: int
) -> list[Instruction]:
    joined = pieces[:1]
    for piece in pieces[1:]:
        whole = _neighbours(origin, joined[-1], piece, dimension)
        if whole is None:
            joined.append(piece)
        else:
            joined[-1] = whole
    return joined


def _neighbours(
    origin: Instruction, left: Instruction, right: Instruction, dimension: int
) -> Instruction | None:
    """One slice, if `right` continues in the array from which `left` is taken."""
    a, b = left.attributes, right.attributes
    if not isinstance(a, Slice) or not isinstance(b, Slice):
        return None
    if left.operands[0] is not right.operands[0]:
        return None
    for d, (x, y) in enumerate(zip(a.slice, b.slice, strict=True)):
        if d == dimension and not (x.stride == y.stride == 1 and x.limit == y.start):
            return None
        if d != dimension and x != y:
            return None
    part = list(a.slice)
    part[dimension] = SliceDimension(part[dimension].start, b.slice[dimension].limit)
    return slice_of(origin, left.operands[0], part)


def _differ(pieces: Sequence[Instruction], operands: Sequence[Instruction]) -> bool:
    return any(p is not o for p, o in zip(pieces, operands, strict=False))


def _of_one_value(instruction: Instruction) -> Instruction | None:
    values = [uniform(o) for o in instruction.operands]
    known = {v.tobytes() for v in values if v is not None}
    if len(known) != 1 or values[0] is None or any(v is None for v in values):
        return None
    return splat(instruction, values[0], instruction.array_shape)


def _cropped(operand: Instruction, padding: Sequence[PaddingDimension]) -> list[SliceDimension]:
    sizes = operand.array_shape.dimensions
    return [SliceDimension(-p.low, n + p.high) for p, n in zip(padding, sizes, strict=True)]


def _of_pad(
    instruction: Instruction,
    operand: Instruction,
    value: Instruction,
    padding: Sequence[PaddingDimension],
) -> Instruction | None:
    inner = operand.attributes
    if not isinstance(inner, Pad) or operand.operands[1] is not value:
        return None
    everything = (*inner.padding, *padding)
    if any(p.low < 0 or p.high < 0 or p.interior for p in everything):
        return None
    both = Pad(
        tuple(
            PaddingDimension(i.low + o.low, i.high + o.high)
            for i, o in zip(inner.padding, padding, strict=True)
        )
    )
    return derived(instruction, "pad", instruction.shape, (operand.operands[0], value), both)


def _matters(operand: Instruction, dimension: int) -> bool:
    if operand.array_shape.dimensions[dimension] == 1:
        return False
    attributes = operand.attributes
    return not isinstance(attributes, Broadcast) or dimension in attributes.dimensions


RULES: Rules = {"concatenate": (concatenate,), "pad": (pad,), "reverse": (reverse,)}
