"""Reading the bits of elements as elements of another type, wider or narrower ones too.

Several narrow elements make a wide one along the last dimension, the lowest bits first. A pred
counts as a byte; a complex number is its real part's bits, then its imaginary part's.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ccodegen.hlo.shape import ArrayShape
from ccodegen.loop.builder import apply, compare, const, index
from ccodegen.loop.ir import Expr
from ccodegen.loop.scalar_numpy import Array, bits_of, from_bits
from ccodegen.support.element_type import HLO_TYPES, ElementType, Kind, from_dtype

PARTS = ("real", "imag")


def width(t: ElementType) -> int:
    """Bits of an element."""
    return 8 if t.kind is Kind.PRED else t.bits


def width_of(value: Array) -> int:
    return width(from_dtype(value.dtype))


def dimensions_after(source: ArrayShape, target: ElementType) -> tuple[int, ...] | None:
    """The dimensions of the reinterpreted array; None where the widths do not fit."""
    own, wanted = width(source.element_type), width(target)
    if own == wanted:
        return source.dimensions
    if own > wanted:
        return (*source.dimensions, own // wanted) if own % wanted == 0 else None
    if not source.rank or source.dimensions[-1] * own != wanted:
        return None
    return source.dimensions[:-1]


def reinterpreted(value: Array, target: ElementType) -> Array:
    source = from_dtype(value.dtype)
    own, wanted = width(source), width(target)
    if Kind.COMPLEX in (source.kind, target.kind):
        return _through_memory(value, own, wanted, target)
    bits = bits_of(value)
    if own > wanted:
        shifts = np.arange(0, own, wanted).astype(bits.dtype)
        parts = bits[..., None] >> shifts & bits.dtype.type(2**wanted - 1)
        bits = parts.astype(f"u{target.bytes}")
    elif own < wanted:
        wide = bits.astype(f"u{target.bytes}")
        shifts = np.arange(0, wanted, own).astype(wide.dtype)
        bits = np.bitwise_or.reduce(wide << shifts, axis=-1)
    return from_bits(np.asarray(bits), target)


def _through_memory(value: Array, own: int, wanted: int, target: ElementType) -> Array:
    """For complex numbers, whose parts stand in memory in the order of narrower elements."""
    memory = np.array(value, order="C")
    if min(own, wanted) < 8:
        return _through_bytes(memory, own, target)
    if own > wanted:
        return memory[..., None].view(target.dtype)
    if own < wanted:
        return memory.view(target.dtype)[..., 0]
    return memory.view(target.dtype)


def _through_bytes(memory: Array, own: int, target: ElementType) -> Array:
    """Between complex numbers and types of less than a byte."""
    if own < 8:
        pairs = memory.reshape(*memory.shape[:-1], -1, 8 // own)
        return reinterpreted(reinterpreted(pairs, ElementType.U8), target)
    parts = reinterpreted(reinterpreted(memory, ElementType.U8), target)
    return parts.reshape(*memory.shape, -1)


def as_type(value: Expr, target: ElementType) -> Expr:
    """The same bits as a type of the same width."""
    if value.type is target:
        return value
    if value.type.is_complex:
        ends = [as_type(apply(p, value, type=ElementType.F32), ElementType.U32) for p in PARTS]
        return as_type(joined(ends, ElementType.U64), target)
    if target.is_complex:
        whole = as_type(value, ElementType.U64)
        return joined([split(whole, index(n), ElementType.U32) for n in range(2)], target)
    as_byte = Kind.PRED in (value.type.kind, target.kind)
    return apply("convert" if as_byte else "bitcast-convert", value, type=target)


def joined(parts: Sequence[Expr], target: ElementType) -> Expr:
    """One wide element out of narrow ones."""
    if target.is_complex:
        half = len(parts) // 2
        ends = [_whole(p, target.component) for p in (parts[:half], parts[half:])]
        return apply("complex", *ends, type=target)
    narrow, wide = _unsigned_of(parts[0].type), _unsigned_of(target)
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


def _whole(parts: Sequence[Expr], target: ElementType) -> Expr:
    return as_type(parts[0], target) if len(parts) == 1 else joined(parts, target)


def split(value: Expr, number: Expr, target: ElementType) -> Expr:
    """One of the narrow elements in a wide one."""
    if value.type.is_complex:
        return _part_of_complex(value, number, target)
    wide, narrow = _unsigned_of(value.type), _unsigned_of(target)
    amount = apply("multiply", number, index(narrow.bits))
    shifted = apply(
        "shift-right-logical", as_type(value, wide), apply("convert", amount, type=wide)
    )
    return as_type(apply("convert", shifted, type=narrow), target)


def _part_of_complex(value: Expr, number: Expr, target: ElementType) -> Expr:
    component = value.type.component
    each = width(component) // width(target)
    is_real = compare("lt", number, index(each))
    ends = [apply(part, value, type=component) for part in PARTS]
    half = apply("select", is_real, *ends)
    if each == 1:
        return as_type(half, target)
    return split(half, apply("remainder", number, index(each)), target)


def remainder(position: Expr, count: int) -> Expr:
    """Which of the `count` narrow elements in a wide one stands at a position."""
    return apply("remainder", position, index(count))


def _unsigned_of(t: ElementType) -> ElementType:
    """The unsigned integer of the same width."""
    return HLO_TYPES[f"u{width(t)}"]
