"""Arrays of a wanted shape behind ops that fuse into whoever reads them."""

from __future__ import annotations

from collections.abc import Callable

from ccodegen.hlo.attributes import PaddingDimension, SliceDimension
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.shape import ArrayShape
from tests.random_modules.body import S32, Body


def produced(body: Body, shape: ArrayShape, steps: int | None = None) -> Instruction:
    """Made in so many steps; of up to three where that is not said."""
    steps = body.random.choice((0, 0, 1, 1, 2, 3)) if steps is None else steps
    if not steps or not shape.rank:
        return body.like(shape)
    return body.random.choice(_MAKERS)(body, shape, steps - 1)


def _reversed(body: Body, shape: ArrayShape, steps: int) -> Instruction:
    chosen = body.random.sample(range(shape.rank), body.random.randint(1, shape.rank))
    return body.op("reverse", produced(body, shape, steps), dimensions=tuple(sorted(chosen)))


def _transposed(body: Body, shape: ArrayShape, steps: int) -> Instruction:
    order = list(range(shape.rank))
    body.random.shuffle(order)
    sizes = [0] * shape.rank
    for size, place in zip(shape.dimensions, order, strict=True):
        sizes[place] = size
    source = produced(body, shape.with_dimensions(tuple(sizes)), steps)
    return body.op("transpose", source, dimensions=tuple(order))


def _sliced(body: Body, shape: ArrayShape, steps: int) -> Instruction:
    parts, sizes = [], []
    for size in shape.dimensions:
        start, stride = body.random.choice((0, 0, 1, 3)), body.random.choice((1, 1, 1, 2))
        limit = start + max(0, (size - 1) * stride + 1)
        parts.append(SliceDimension(start, limit, stride))
        sizes.append(limit + body.random.choice((0, 0, 1)))
    source = produced(body, shape.with_dimensions(tuple(sizes)), steps)
    return body.op("slice", source, slice=tuple(parts))


def _taken(body: Body, shape: ArrayShape, steps: int) -> Instruction:
    """A dynamic-slice."""
    sizes = tuple(size + body.random.choice((0, 0, 1, 2)) for size in shape.dimensions)
    source = produced(body, shape.with_dimensions(sizes), steps)
    starts = [body.scalar(S32) for _ in sizes]
    return body.op("dynamic-slice", source, *starts, dynamic_slice_sizes=shape.dimensions)


def _padded(body: Body, shape: ArrayShape, steps: int) -> Instruction:
    padding, sizes = [], []
    for size in shape.dimensions:
        low, high = (body.random.choice((0, 0, 1, 2, -1)) for _ in range(2))
        inner = max(0, size - low - high)
        interior = int(inner % 2 == 1 and body.chance(0.3))
        padding.append(PaddingDimension(low, size - inner - low, interior))
        sizes.append((inner + interior) // (1 + interior))
    source = produced(body, shape.with_dimensions(tuple(sizes)), steps)
    return body.op("pad", source, body.scalar(shape.element_type), padding=tuple(padding))


def _spread(body: Body, shape: ArrayShape, steps: int) -> Instruction:
    kept = tuple(d for d in range(shape.rank) if body.chance(0.6))
    sizes = tuple(shape.dimensions[d] for d in kept)
    source = produced(body, shape.with_dimensions(sizes), steps)
    return body.op("broadcast", source, shape=shape, dimensions=kept)


def _reshaped(body: Body, shape: ArrayShape, steps: int) -> Instruction:
    """From an array in which two neighbouring dimensions are one."""
    sizes = list(shape.dimensions)
    if len(sizes) > 1:
        first = body.random.randrange(len(sizes) - 1)
        sizes[first : first + 2] = [sizes[first] * sizes[first + 1]]
    source = produced(body, shape.with_dimensions(tuple(sizes)), steps)
    return body.op("reshape", source, shape=shape)


def _converted(body: Body, shape: ArrayShape, steps: int) -> Instruction:
    source = produced(body, shape.with_type(body.type()), steps)
    return body.converted(source, shape.element_type)


def _combined(body: Body, shape: ArrayShape, steps: int) -> Instruction:
    op = body.random.choice(("add", "subtract", "maximum"))
    op = "add" if shape.element_type.is_complex else op
    return body.op(op, produced(body, shape, steps), body.like(shape))


def _joined(body: Body, shape: ArrayShape, steps: int) -> Instruction:
    """A concatenate of two parts."""
    axis = body.random.randrange(shape.rank)
    size = shape.dimensions[axis]
    first = body.random.randint(0, size)
    parts = []
    for part in (first, size - first):
        sizes = list(shape.dimensions)
        sizes[axis] = part
        parts.append(produced(body, shape.with_dimensions(tuple(sizes)), steps))
    return body.op("concatenate", *parts, dimensions=(axis,))


_MAKERS: tuple[Callable[[Body, ArrayShape, int], Instruction], ...] = (
    _reversed, _transposed, _sliced, _taken, _padded, _spread, _reshaped, _converted, _combined,
    _joined,
)  # fmt: skip
