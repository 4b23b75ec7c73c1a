"""Sort keys as unsigned integers in the same order: what can be sorted digit by digit."""

from __future__ import annotations

from collections.abc import Sequence

from ccodegen.loop.builder import Builder, apply, compare, const
from ccodegen.loop.ir import Expr
from ccodegen.ops.fold import call_scalars, converted
from ccodegen.ops.line_sorter import key_word
from ccodegen.ops.lowering import Scope
from ccodegen.ops.sort_order import Key
from ccodegen.support.element_type import ElementType, Kind

U32, U64 = ElementType.U32, ElementType.U64


def key_bits(keys: Sequence[Key]) -> int:
    """How many bits `packed_key` has; 64 at most are possible."""
    return sum(ordered_bits(k.computation.root.array_shape.element_type) for k in keys)


def packed_key(scope: Scope, keys: Sequence[Key], values: Sequence[Expr]) -> Expr:
    """All keys of the element with these values in one u32 or u64, the first one foremost."""
    word = key_word(key_bits(keys))
    packed: Expr | None = None
    for key in keys:
        (value,) = call_scalars(scope, key.computation, values)
        part = converted(ordered(scope.builder, _settled(value, key), key.descending), word)
        if packed is not None:
            shift = const(word, ordered_bits(value.type))
            part = apply("or", apply("shift-left", packed, shift), part)
        packed = part
    assert packed is not None
    return packed


def unordered(scope: Scope, keys: Sequence[Key], values: Sequence[Expr]) -> Expr:
    """1 in a u32 for an element with a key that has no place in the order, else 0."""
    found: Expr = const(U32, 0)
    for key in keys:
        if key.partial:
            (value,) = call_scalars(scope, key.computation, values)
            is_nan = compare("ne", value, value)
            found = apply("or", found, apply("convert", is_nan, type=U32))
    return found


def _settled(value: Expr, key: Key) -> Expr:
    """One zero for both, where they are equal."""
    if not key.partial:
        return value
    zero = const(value.type, value.type.dtype.type(0))
    is_zero = compare("eq", value, zero)
    return apply("select", is_zero, zero, value)


def ordered(builder: Builder, value: Expr, descending: bool = False) -> Expr:
    """An integer u32, or u64 for wide types, that orders as the value; floats in total order.

    It is less than 2 ** ordered_bits.
    """
    bits = ordered_bits(value.type)
    is_float = value.type.is_float
    key = _ordered_float(builder, value) if is_float else _ordered_integer(value)
    return apply("xor", key, const(key.type, 2**bits - 1)) if descending else key


def ordered_bits(element_type: ElementType) -> int:
    """Of what `ordered` gives. Floats narrower than f32 are compared as f32."""
    return max(32, element_type.bits) if element_type.is_float else element_type.bits


def _ordered_integer(value: Expr) -> Expr:
    """Counted from the least value of the type."""
    bits = value.type.bits
    word = key_word(bits)
    if value.type.kind is not Kind.SIGNED:
        return converted(value, word)
    signed = converted(value, ElementType.S32 if bits <= 32 else ElementType.S64)
    number = apply("bitcast-convert", signed, type=word)
    return apply("add", number, const(word, 2 ** (bits - 1)))


def _ordered_float(builder: Builder, value: Expr) -> Expr:
    """Its bits with the sign turned over, and all others too where it is negative: with no select,
    of which compilers make a branch that is as often wrong as right."""
    wide = value if value.type.bits >= 32 else converted(value, ElementType.F32)
    word = U32 if wide.type is ElementType.F32 else U64
    bits = builder.let(apply("bitcast-convert", wide, type=word), "bits")
    top = wide.type.bits - 1
    is_negative = apply("shift-right-logical", bits, const(word, top))
    others = apply("subtract", const(word, 0), is_negative)
    return apply("xor", bits, apply("or", others, const(word, 2**top)))
