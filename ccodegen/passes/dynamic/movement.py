"""Ops that move elements: their padding moves with them, or is put to the end again."""

from __future__ import annotations

from collections.abc import Sequence

from ccodegen.hlo.attributes import PaddingDimension, SliceDimension
from ccodegen.hlo.ir import Instruction
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.build import reshape, slice_of, splat
from ccodegen.ops.dynamic_slice import DynamicSlice
from ccodegen.ops.movement import Concatenate, Pad, Reverse
from ccodegen.ops.size_origins import size_origins
from ccodegen.passes.dynamic.values import Padded, Sizes
from ccodegen.passes.dynamic.writer import Rule, Writer, merged_size, only
from ccodegen.support.element_type import ElementType


def whole_dimensions(write: Writer, operands: Sequence[Padded]) -> Padded:
    """broadcast, transpose, slice, dynamic-slice, gather: as they are."""
    origins = size_origins(write.plain)
    sizes = (None if o is None else operands[o[0]].sizes[o[1]] for o in origins)
    return Padded(write.plain, tuple(sizes))


def reverse(write: Writer, operands: Sequence[Padded]) -> Padded:
    """Reversed at the bound, what counts is at the end: a dynamic-slice brings it back."""
    (x,) = operands
    turned = only(x.sizes, attributes_of(write.plain, Reverse).dimensions)
    if not any(turned):
        return Padded(write.plain, x.sizes)
    room = _room(turned, x.bounds)
    starts = [
        write.number(0) if size is None else write.apply("subtract", bound, size)
        for size, bound in zip(turned, x.bounds, strict=True)
    ]
    return Padded(_window(write, _padded_by(write, write.plain, room), starts, x.bounds), x.sizes)


def _room(sizes: Sizes, bounds: Sequence[int]) -> list[PaddingDimension]:
    """As much room after each dynamic dimension as it takes itself."""
    return [
        PaddingDimension(0, 0 if size is None else bound)
        for size, bound in zip(sizes, bounds, strict=True)
    ]


def _padded_by(
    write: Writer, value: Instruction, room: Sequence[PaddingDimension]
) -> Instruction:
    """The array with zeros around it, of no negative numbers."""
    shape = value.array_shape
    sizes = tuple(n + p.low + p.high for n, p in zip(shape.dimensions, room, strict=True))
    zero = splat(write.plain, 0, shape.with_dimensions(()))
    return write.make("pad", shape.with_dimensions(sizes), value, zero, attributes=Pad(tuple(room)))


def _window(
    write: Writer, value: Instruction, starts: Sequence[Instruction], sizes: Sequence[int]
) -> Instruction:
    shape = value.array_shape.with_dimensions(tuple(sizes))
    attributes = DynamicSlice(tuple(sizes))
    return write.make("dynamic-slice", shape, value, *starts, attributes=attributes)


def concatenate(write: Writer, operands: Sequence[Padded]) -> Padded:
    """Each operand is written over the padding of those before it."""
    (along,) = attributes_of(write.plain, Concatenate).dimensions
    sizes = list(map(merged_size, *(o.sizes for o in operands)))
    if all(o.sizes[along] is None for o in operands):
        return Padded(write.plain, tuple(sizes))
    shape = write.plain.array_shape
    total, result = write.number(0), splat(write.plain, 0, shape)
    for operand in operands:
        starts = [total if d == along else write.number(0) for d in range(shape.rank)]
        result = write.make("dynamic-update-slice", shape, result, operand.value, *starts)
        extent = operand.sizes[along]
        total = write.apply("add", total, operand.bounds[along] if extent is None else extent)
    sizes[along] = total
    return Padded(result, tuple(sizes))


def pad(write: Writer, operands: Sequence[Padded]) -> Padded:
    """What does not count becomes padding too."""
    x, filler = operands
    padding = attributes_of(write.plain, Pad).padding
    filled = write.filled(x.value, x.sizes, filler.value)
    sizes = (
        size and _padded_size(write, size, p) for size, p in zip(x.sizes, padding, strict=True)
    )
    return Padded(write.over(filled, filler.value), tuple(sizes))


def _padded_size(write: Writer, size: Instruction, padding: PaddingDimension) -> Instruction:
    if padding.interior:
        gaps = write.apply("maximum", write.apply("subtract", size, 1), 0)
        size = write.apply("add", size, write.apply("multiply", gaps, padding.interior))
    border = padding.low + padding.high
    return write.apply("maximum", write.apply("add", size, border), 0) if border else size


def dynamic_update_slice(write: Writer, operands: Sequence[Padded]) -> Padded:
    """Of an update of dynamic size only what counts is written."""
    base, update, *starts = operands
    if not any(update.sizes):
        return Padded(write.plain, base.sizes)
    places = [
        _fitting(write, start, bound, size)
        for start, bound, size in zip(
            _scalars(write, [s.value for s in starts]), base.bounds, update.sizes, strict=True
        )
    ]
    wide = _padded_by(write, base.value, _room(update.sizes, update.bounds))
    old = _window(write, wide, places, update.bounds)
    condition = write.inside(update.bounds, update.sizes)
    assert condition is not None
    new = write.apply("select", condition, update.value, old)
    result = write.make("dynamic-update-slice", wide.array_shape, wide, new, *places)
    parts = [SliceDimension(0, n) for n in base.bounds]
    return Padded(slice_of(write.plain, result, parts), base.sizes)


def _scalars(write: Writer, starts: Sequence[Instruction]) -> list[Instruction]:
    """The start indices, which may be one vector."""
    if len(starts) != 1 or starts[0].array_shape.rank == 0:
        return list(starts)
    count = starts[0].array_shape.dimensions[0]
    parts = (slice_of(write.plain, starts[0], [SliceDimension(n, n + 1)]) for n in range(count))
    return [reshape(write.plain, part, ()) for part in parts]


def _fitting(
    write: Writer, start: Instruction, bound: int, size: Instruction | None
) -> Instruction:
    """The start index, as s64; clamped so that so many elements fit, where that is not the op's."""
    wide = write.converted(start, ElementType.S64)
    if size is None:
        return wide
    room = write.converted(write.apply("subtract", bound, size), ElementType.S64)
    zero = write.scalar(0, ElementType.S64)
    return write.apply("maximum", write.apply("minimum", wide, room), zero)


def leading(trailing: int) -> Rule:
    """Ops that leave all but the last dimensions, so many, as they are."""

    def rule(write: Writer, operands: Sequence[Padded]) -> Padded:
        sizes: Sizes = operands[0].sizes
        kept = len(sizes) - trailing
        if any(any(o.sizes[kept:]) for o in operands):
            write.refuse("only the dimensions before the last may be dynamic")
        batch = tuple(map(merged_size, *(o.sizes[:kept] for o in operands)))
        return write.result(write.plain, (*batch, *(None,) * trailing))

    return rule
