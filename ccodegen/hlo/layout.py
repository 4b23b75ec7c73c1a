"""What lies in memory where a layout says so: the order of dimensions, and packed small types."""

from __future__ import annotations

from typing import Any

import numpy as np

from ccodegen.hlo.shape import ArrayShape, Shape
from ccodegen.support.element_type import ElementType
from ccodegen.support.pattern import pattern

Array = np.ndarray[Any, Any]

_ELEMENT_BITS = pattern(r"E\((\d+)\)")


def major_to_minor(shape: ArrayShape) -> tuple[int, ...]:
    """The physical order of dimensions; theirs by number where no layout says another."""
    if shape.layout is None or len(shape.layout.minor_to_major) != shape.rank:
        return tuple(range(shape.rank))
    return tuple(reversed(shape.layout.minor_to_major))


def is_packed(shape: ArrayShape) -> bool:
    """Whether several elements share a byte: `s4[7]{0:E(4)}`."""
    found = _ELEMENT_BITS.search(shape.layout.suffix) if shape.layout else None
    bits = shape.element_type.bits
    small = bits in (1, 2, 4) and shape.element_type is not ElementType.PRED
    return small and found is not None and int(found[1]) == bits


def same_memory(a: Shape, b: Shape) -> bool:
    """Whether equal arrays of these shapes have equal bytes, as far as their layouts go."""
    if not isinstance(a, ArrayShape) or not isinstance(b, ArrayShape):
        return True
    return major_to_minor(a) == major_to_minor(b) and is_packed(a) == is_packed(b)


def memory_shape(shape: ArrayShape) -> ArrayShape:
    """The dense row-major array that has the same bytes: `f32[2,3]{0,1}` → `f32[3,2]`,
    `s4[7]{0:E(4)}` → `u8[4]`, its first element in the low bits of the first byte."""
    if is_packed(shape):
        return ArrayShape(ElementType.U8, (-(-shape.size * shape.element_type.bits // 8),))
    return shape.with_dimensions(tuple(shape.dimensions[d] for d in major_to_minor(shape)))


def to_memory(array: Array, shape: ArrayShape) -> Array:
    """The array of `memory_shape(shape)` for one of the logical dimensions."""
    physical = array.transpose(major_to_minor(shape)).copy(order="C")
    if not is_packed(shape):
        return physical
    bits = shape.element_type.bits
    each = 8 // bits
    values = np.zeros((memory_shape(shape).size, each), np.uint8)
    values.reshape(-1)[: shape.size] = physical.reshape(-1).view(np.uint8) & (2**bits - 1)
    shifted = values << (np.arange(each, dtype=np.uint8) * bits).astype(np.uint8)
    packed: Array = np.bitwise_or.reduce(shifted, axis=1)
    return packed.astype(np.uint8)


def from_memory(memory: Array, shape: ArrayShape) -> Array:
    """The array of the logical dimensions, of one of `memory_shape(shape)`."""
    order = major_to_minor(shape)
    physical = memory
    if is_packed(shape):
        bits = shape.element_type.bits
        shifts = (np.arange(8 // bits, dtype=np.uint8) * bits).astype(np.uint8)
        values = (memory[:, None] >> shifts) & np.uint8(2**bits - 1)
        physical = values.reshape(-1)[: shape.size].astype(np.uint8)
        physical = physical.view(shape.element_type.dtype)
    sizes = [shape.dimensions[d] for d in order]
    return physical.reshape(sizes).transpose(np.argsort(order))
