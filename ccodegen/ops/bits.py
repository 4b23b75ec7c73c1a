"""Reading the bits of elements as elements of another type, wider or narrower ones too.

Several narrow elements make a wide one along the last dimension, the lowest bits first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ccodegen.hlo.shape import ArrayShape
from ccodegen.loop.builder import apply, const, index
from ccodegen.loop.ir import Expr
from ccodegen.loop.scalar_numpy import Array, bits_of, from_bits
from ccodegen.support.element_type import HLO_TYPES, ElementType, Kind, from_dtype


def dimensions_after(source: ArrayShape, target: ElementType) -> tuple[int, ...] | None:
    """The dimensions of the reinterpreted array; None where the widths do not fit."""
    width = source.element_type.bits
    if width == target.bits:
        return source.dimensions
    if width > target.bits:
        return (*source.dimensions, width // target.bits) if width % target.bits == 0 else None
    if not source.rank or source.dimensions[-1] * width != target.bits:
        return None
    return source.dimensions[:-1]


def reinterpreted(value: Array, target: ElementType) -> Array:
    source = from_dtype(value.dtype)
    if Kind.COMPLEX in (source.kind, target.kind):
        return _through_memory(value, source, target)
    bits = bits_of(value)
    if source.bits > target.bits:
        shifts = np.arange(0, source.bits, target.bits).astype(bits.dtype)
        parts = bits[..., None] >> shifts & bits.dtype.type(2**target.bits - 1)
        bits = parts.astype(f"u{target.bytes}")
    elif source.bits < target.bits:
        wide = bits.astype(f"u{target.bytes}")
        shifts = np.arange(0, target.bits, source.bits).astype(wide.dtype)
        bits = np.bitwise_or.reduce(wide << shifts, axis=-1)
    return from_bits(np.asarray(bits), target)


def _through_memory(value: Array, source: ElementType, target: ElementType) -> Array:
    """For complex numbers, whose parts stand in memory in the order of narrower elements."""
    memory = np.ascontiguousarray(value)
    if source.bits > target.bits:
        return memory[..., None].view(target.dtype)
    if source.bits < target.bits:
        return memory.view(target.dtype)[..., 0]
    return memory.view(target.dtype).reshape(value.shape)


def unsigned_of(bits: int) -> ElementType:
    """The unsigned integer of a width."""
    return HLO_TYPES[f"u{bits}"]


def as_type(value: Expr, target: ElementType) -> Expr:
    """The same bits as a type of the same width."""
    return value if value.type is target else apply("bitcast-convert", value, type=target)


def width_of(value: Array) -> int:
    """Bits of an element."""
    return from_dtype(value.dtype).bits


def remainder(position: Expr, count: int) -> Expr:
    """Which of the `count` narrow elements in a wide one stands at a position."""
    return apply("remainder", position, index(count))


def joined(parts: Sequence[Expr], target: ElementType) -> Expr:
    """One wide element out of narrow ones."""
    narrow, wide = unsigned_of(parts[0].type.bits), unsigned_of(target.bits)
    shifted = [
        apply(
            "shift-left",
            apply("convert", as_type(value, narrow), type=wide),
            const(wide, number * narrow.bits),
        )
        for number, value in enumerate(parts)
    ]
    total = shifted[0]
    for value in shifted[1:]:
        total = apply("or", total, value)
    return as_type(total, target)


def split(value: Expr, number: Expr, target: ElementType) -> Expr:
    """One of the narrow elements in a wide one."""
    wide, narrow = unsigned_of(value.type.bits), unsigned_of(target.bits)
    amount = apply("multiply", number, index(narrow.bits))
    shifted = apply(
        "shift-right-logical", as_type(value, wide), apply("convert", amount, type=wide)
    )
    return as_type(apply("convert", shifted, type=narrow), target)
