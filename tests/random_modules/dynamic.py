"""Arrays of which only a part counts: dimensions that are dynamic up to a bound.

Other kinds take no such array: it goes through a few steps here, and what comes out is static, or a
result of the entry.
"""

from __future__ import annotations

from collections.abc import Callable

from ccodegen.hlo.dynamic import dynamic_flags
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.shape import ArrayShape
from ccodegen.support.errors import InputError
from tests.random_modules.body import S32, Body
from tests.random_modules.folds import reduced
from tests.random_modules.values import SIZES


def bounded(body: Body) -> Instruction:
    made = _resized(body, body.any(1))
    for _ in range(body.random.randint(0, 3)):
        made = body.random.choice(_STEPS)(body, made)
    if body.depth == 0 and body.chance(0.3):
        body.dynamic_results.append(made)
    return _static(body, made)


def _size(body: Body, bound: int) -> Instruction:
    """Within the bound mostly."""
    if body.chance(0.5):
        return body.builder.constant(body.random.randint(-1, bound + 1), ArrayShape(S32))
    size = body.scalar(S32)
    mask = body.builder.constant(body.random.choice((1, 3, 7)), ArrayShape(S32))
    return body.op("and", size, mask) if body.chance(0.7) else size


def _resized(body: Body, value: Instruction) -> Instruction:
    """Of a dimension that is static yet: what lies behind a dynamic one's elements is no value."""
    flags = dynamic_flags(value.array_shape)
    static = [d for d, flag in enumerate(flags) if not flag]
    if not static:
        raise InputError("all dimensions are dynamic")
    axis = body.random.choice(static)
    size = _size(body, value.array_shape.dimensions[axis])
    return body.op("set-dimension-size", value, size, dimensions=(axis,))


def _unary(body: Body, value: Instruction) -> Instruction:
    return body.op(body.random.choice(("negate", "abs", "sign", "copy")), value)


def _binary(body: Body, value: Instruction) -> Instruction:
    return body.op(body.random.choice(("add", "subtract", "maximum")), value, value)


def _compared(body: Body, value: Instruction) -> Instruction:
    direction = body.random.choice(("EQ", "NE", "LT"))
    return body.op("compare", value, body.op("copy", value), direction=direction)


def _converted(body: Body, value: Instruction) -> Instruction:
    return body.converted(value, body.type())


def _transposed(body: Body, value: Instruction) -> Instruction:
    order = list(range(value.array_shape.rank))
    body.random.shuffle(order)
    return body.op("transpose", value, dimensions=tuple(order))


def _spread(body: Body, value: Instruction) -> Instruction:
    """With a static dimension before the others."""
    shape = value.array_shape
    sizes = (body.random.choice((1, 2, 3)), *shape.dimensions)
    wide = ArrayShape(shape.element_type, sizes, (False, *dynamic_flags(shape)))
    return body.op("broadcast", value, shape=wide, dimensions=tuple(range(1, len(sizes))))


def _joined(body: Body, value: Instruction) -> Instruction:
    """With a static array, along a dynamic dimension, where the others are static."""
    shape = value.array_shape
    flags = dynamic_flags(shape)
    if sum(flags) != 1:
        raise InputError("the other dimensions must agree")
    axis = flags.index(True)
    sizes = list(shape.dimensions)
    sizes[axis] = body.random.choice(SIZES[:8])
    pair = [value, body.like(shape.with_dimensions(tuple(sizes)))]
    body.random.shuffle(pair)
    return body.op("concatenate", *pair, dimensions=(axis,))


def _reshaped(body: Body, value: Instruction) -> Instruction:
    """dynamic-reshape: some neighbouring dimensions become one, and all are dynamic."""
    shape = value.array_shape
    bounds: list[int] = []
    sizes: list[Instruction] = []
    for dimension, bound in enumerate(shape.dimensions):
        size = body.op("get-dimension-size", value, dimensions=(dimension,))
        if bounds and body.chance(0.6):
            bounds[-1] *= bound
            sizes[-1] = body.op("multiply", sizes[-1], size)
        else:
            bounds.append(bound)
            sizes.append(size)
    result = ArrayShape(shape.element_type, tuple(bounds), (True,) * len(bounds))
    return body.op("dynamic-reshape", value, *sizes, shape=result)


_STEPS: tuple[Callable[[Body, Instruction], Instruction], ...] = (
    _unary, _binary, _compared, _converted, _transposed, _spread, _joined, _reshaped, _resized,
)  # fmt: skip


def _static(body: Body, value: Instruction) -> Instruction:
    flags = dynamic_flags(value.array_shape)
    dynamic = [d for d, flag in enumerate(flags) if flag]
    if not dynamic:
        return value
    if body.chance(0.25):
        return body.op("get-dimension-size", value, dimensions=(body.random.choice(dynamic),))
    more = [d for d, flag in enumerate(flags) if not flag and body.chance(0.3)]
    return reduced(body, value, sorted(dynamic + more))
