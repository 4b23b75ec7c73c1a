"""What scalar operators compute, over NumPy arrays, with HLO's semantics to the bit.

Each function takes the result's element type and the operands, which have one shape. Integers below
a byte are computed in one and wrapped; floats below f32 are computed in f32 and rounded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ccodegen.support.c_reference import call_function
from ccodegen.support.element_type import ElementType, Kind, from_dtype

Array: TypeAlias = np.ndarray[Any, Any]
Compute: TypeAlias = Callable[..., Array]


def _wide_types() -> dict[np.dtype[Any], type[Any]]:
    """The types to compute in, by the types that are not computed in."""
    integers = {Kind.SIGNED: np.int8, Kind.UNSIGNED: np.uint8}
    found = {t.dtype: integers[t.kind] for t in ElementType if t.is_integer and t.bits < 8}
    return found | {t.dtype: np.float32 for t in ElementType if t.is_narrow_float}


_WIDE = _wide_types()
_WITHOUT_NAN = (ElementType.F4E2M1FN, ElementType.F6E3M2FN, ElementType.F6E2M3FN)


def plain(ufunc: Callable[..., Any]) -> Compute:
    """A NumPy function that is right for every type it is asked for, but for the narrow ones."""
    return lambda result, *arrays: rounded(ufunc(*map(wide, arrays)), result)


def logical(on_pred: Callable[..., Any], otherwise: Compute) -> Compute:
    """One function for pred, another for numbers."""

    def compute(result: ElementType, *arrays: Array) -> Array:
        if arrays[0].dtype == np.bool_:
            return np.asarray(on_pred(*arrays))
        return otherwise(result, *arrays)

    return compute


def by_kind(integers: Compute, floats: Compute, complexes: Compute | None = None) -> Compute:
    """One function for integers (and indices), one for floats, one for complex numbers."""

    def compute(result: ElementType, *arrays: Array) -> Array:
        kind = from_dtype(arrays[0].dtype).kind
        if kind is Kind.COMPLEX and complexes:
            return complexes(result, *arrays)
        return (floats if kind is Kind.FLOAT else integers)(result, *arrays)

    return compute


def math(name: str) -> Compute:
    """The function `ccg_<name>_<type>` of runtime_c, operation by operation."""

    def compute(result: ElementType, *arrays: Array) -> Array:
        widened = [wide(a) for a in arrays]
        suffix = from_dtype(widened[0].dtype).text
        return rounded(call_function(f"ccg_{name}_{suffix}", *widened), result)

    return compute


def wide(array: Array) -> Array:
    """In the type to compute in."""
    wide_type = _WIDE.get(array.dtype)
    return array if wide_type is None else array.astype(wide_type)


def rounded(value: Any, result: ElementType) -> Array:
    """A computed value in the type of the result: floats round, integers wrap."""
    array = np.asarray(value)
    if array.dtype == result.dtype:
        return array
    return (wrapped(array, result) if result.is_integer else _one_nan(array, result)).astype(
        result.dtype
    )


def _one_nan(array: Array, result: ElementType) -> Array:
    """Types without NaN make a zero of it; which one must not depend on its sign, for processors
    differ in the signs of the NaNs they make."""
    return np.where(np.isnan(array), np.nan, array) if result in _WITHOUT_NAN else array


def wrapped(array: Array, t: ElementType) -> Array:
    """The low bits of integers, sign- or zero-extended; only for types below a byte not itself."""
    if t.bits >= 8:
        return array
    low = np.asarray(array.astype(np.uint8) & np.uint8(2**t.bits - 1))
    if t.kind is Kind.UNSIGNED:
        return low
    sign = np.uint8(1 << (t.bits - 1))
    return ((low ^ sign) - sign).view(np.int8)


def bits_of(array: Array) -> Array:
    """The elements as unsigned integers of their width."""
    array = np.asarray(array)
    if array.dtype == np.bool_:
        return array.astype(np.uint8)
    t = from_dtype(array.dtype)
    held = array.astype(np.int8) if t.is_integer and t.bits < 8 else np.ascontiguousarray(array)
    bits = held.view(f"u{t.bytes}").reshape(array.shape)
    return bits & np.uint8(2**t.bits - 1) if t.bits < 8 else bits


def from_bits(bits: Array, t: ElementType) -> Array:
    """The reverse of `bits_of`."""
    if t.kind is Kind.PRED:
        return bits.astype(np.bool_)
    if t.is_integer and t.bits < 8:
        return wrapped(bits, t).astype(t.dtype)
    return np.ascontiguousarray(bits).view(t.dtype).reshape(bits.shape)


def maximum(result: ElementType, a: Array, b: Array) -> Array:
    """NaN if either is; max(0, -0) = 0."""
    a, b = wide(a), wide(b)
    if a.dtype.kind != "f":
        return rounded(np.maximum(a, b), result)
    return rounded(_ordered(a, b, a > b, np.bitwise_and), result)


def minimum(result: ElementType, a: Array, b: Array) -> Array:
    """NaN if either is; min(0, -0) = -0."""
    a, b = wide(a), wide(b)
    if a.dtype.kind != "f":
        return rounded(np.minimum(a, b), result)
    return rounded(_ordered(a, b, a < b, np.bitwise_or), result)


def _ordered(a: Array, b: Array, first: Array, zeros: Any) -> Array:
    equal = from_bits(np.asarray(zeros(bits_of(a), bits_of(b))), from_dtype(a.dtype))
    chosen = np.where(a == b, equal, np.where(first, a, b))
    return np.where(np.isnan(a), a, chosen)


def clamp(result: ElementType, low: Array, a: Array, high: Array) -> Array:
    return minimum(result, maximum(result, low, a), high)


def sign_float(result: ElementType, a: Array) -> Array:
    """±1, or the argument if it is a zero or NaN."""
    x = wide(a)
    return rounded(np.where((x == 0) | np.isnan(x), x, np.copysign(x.dtype.type(1), x)), result)


def round_nearest_afz(result: ElementType, a: Array) -> Array:
    """Ties go away from zero."""
    x = wide(a)
    magnitude = np.abs(x)
    whole = np.floor(magnitude)
    return rounded(np.copysign(whole + (magnitude - whole >= 0.5), x).astype(x.dtype), result)


def divide_integer(result: ElementType, a: Array, b: Array) -> Array:
    """Toward zero; x/0 has all bits set; the least value divided by -1 is itself."""
    a, b = wide(a), wide(b)
    if result.kind is Kind.UNSIGNED:
        return rounded(np.where(b == 0, ~np.zeros_like(a), a // np.where(b == 0, 1, b)), result)
    special = (b == 0) | (b == -1)
    divisor = np.where(special, np.ones_like(b), b)
    quotient = (a - np.fmod(a, divisor)) // divisor
    return rounded(np.where(b == 0, -np.ones_like(a), np.where(special, -a, quotient)), result)


def remainder_integer(result: ElementType, a: Array, b: Array) -> Array:
    """The sign is the dividend's; x%0 = x."""
    a, b = wide(a), wide(b)
    special = (b == 0) | (b == b.dtype.type(-1)) if a.dtype.kind == "i" else b == 0
    rest = np.fmod(a, np.where(special, np.ones_like(b), b))
    return rounded(np.where(b == 0, a, np.where(special, np.zeros_like(a), rest)), result)


def power_integer(result: ElementType, a: Array, b: Array) -> Array:
    """By squaring, wrapping; a negative exponent gives 0, save for the bases 1 and -1."""
    a, b = wide(a), wide(b)
    value, square, rest = np.ones_like(a), a, np.where(b < 0, np.zeros_like(b), b)
    while np.any(rest != 0):
        value = np.where(rest & 1 != 0, value * square, value)
        square, rest = square * square, rest >> 1
    if a.dtype.kind == "i":
        unit = np.where(a == -1, np.where(b & 1 != 0, a, -a), (a == 1).astype(a.dtype))
        value = np.where(b < 0, unit, value)
    return rounded(value, result)


def shift_left(result: ElementType, a: Array, b: Array) -> Array:
    return _shifted(np.left_shift, bits_of(a), b, result)


def shift_right_logical(result: ElementType, a: Array, b: Array) -> Array:
    return _shifted(np.right_shift, bits_of(a), b, result)


def shift_right_arithmetic(result: ElementType, a: Array, b: Array) -> Array:
    """Copies of the top bit from an amount of the width on."""
    bits = bits_of(a)
    sign = bits >> (result.bits - 1) != 0
    complement = np.where(sign, ~bits, bits)
    shifted = bits_of(_shifted(np.right_shift, _low(complement, result), b, result))
    return from_bits(_low(np.where(sign, ~shifted, shifted), result), result)


def _shifted(shift: Any, bits: Array, b: Array, result: ElementType) -> Array:
    """Zero from an amount of the width on; a negative amount counts as a large one."""
    amount = bits_of(b)
    inside = amount < result.bits
    moved = shift(bits, np.where(inside, amount, 0).astype(bits.dtype))
    return from_bits(_low(np.where(inside, moved, np.zeros_like(bits)), result), result)


def _low(bits: Array, t: ElementType) -> Array:
    return np.asarray(bits & bits.dtype.type(2**t.bits - 1))


def popcnt(result: ElementType, a: Array) -> Array:
    bits = bits_of(a)
    return rounded(sum((bits >> n) & 1 for n in range(result.bits)), result)


def count_leading_zeros(result: ElementType, a: Array) -> Array:
    """The width for 0."""
    bits = bits_of(a)
    return rounded(sum((bits >> n == 0).astype(bits.dtype) for n in range(result.bits)), result)


def mulhi(result: ElementType, a: Array, b: Array) -> Array:
    """The upper half of the product, in Python's integers."""
    product = np.asarray(wide(a).astype(object) * wide(b).astype(object), dtype=object)
    return np.asarray(product >> result.bits, dtype=object).astype(wide(a).dtype).astype(
        result.dtype
    )


def invert(result: ElementType, a: Array) -> Array:
    return rounded(np.invert(wide(a)), result)


def negate(result: ElementType, a: Array) -> Array:
    return rounded(np.negative(wide(a)), result)


def component(part: Callable[[Array], Any]) -> Compute:
    """`np.real` or `np.imag`, also of real numbers."""
    return lambda result, a: np.ascontiguousarray(part(a)).reshape(a.shape)


def make_complex(result: ElementType, real: Array, imag: Array) -> Array:
    value = np.empty(np.broadcast(real, imag).shape, result.dtype)
    value.real, value.imag = real, imag
    return value


def compare(ufunc: Callable[[Array, Array], Any]) -> Compute:
    return lambda result, a, b: np.asarray(ufunc(wide(a), wide(b)))


def compare_total(ufunc: Callable[[Array, Array], Any]) -> Compute:
    return lambda result, a, b: np.asarray(ufunc(total_order(a), total_order(b)))


def total_order(a: Array) -> Array:
    """Integers in the order -NaN < -inf < … < -0 < +0 < … < +inf < +NaN."""
    x = wide(a)
    signed = bits_of(x).view(f"i{x.dtype.itemsize}")
    return np.where(signed < 0, signed ^ np.iinfo(signed.dtype).max, signed)


def select(result: ElementType, pred: Array, a: Array, b: Array) -> Array:
    return np.where(pred, a, b)


def reduce_precision(result: ElementType, a: Array, exponent: Array, mantissa: Array) -> Array:
    x = wide(a)
    name = f"ccg_reduce_precision_{from_dtype(x.dtype).text}"
    return rounded(call_function(name, x, exponent, mantissa), result)


def convert(result: ElementType, a: Array) -> Array:
    """Integers wrap, floats round to nearest even, float to integer saturates, NaN gives 0."""
    source = from_dtype(a.dtype)
    if result.kind is Kind.PRED:
        return np.asarray(wide(a) != 0)
    if source.is_complex and not result.is_complex:
        a, source = a.real, source.component
    if source.is_float and (result.is_integer or result.kind is Kind.INDEX):
        return _saturated(wide(a), result)
    if source.is_float or source.is_complex:
        a = a.astype(np.float32) if source.bits < 32 else a
        return _one_nan(a, result).astype(result.dtype)
    if result.is_narrow_float:
        return wide(a).astype(np.float32).astype(result.dtype)
    return _wrapped_integer(wide(a), result)


def saturate(result: ElementType, a: Array, least: Array, largest: Array) -> Array:
    """To an integer between two, truncated; NaN gives 0."""
    inside = np.where(np.isnan(a), 0, np.minimum(np.maximum(a, least), largest))
    return convert(result, inside.astype(a.dtype))


def _wrapped_integer(a: Array, result: ElementType) -> Array:
    return wrapped(a, result).astype(result.dtype) if result.is_integer else a.astype(result.dtype)


def _saturated(x: Array, result: ElementType) -> Array:
    signed = result.kind is not Kind.UNSIGNED
    limit = 2.0 ** (result.bits - 1 if signed else result.bits)
    least = -limit if signed else 0.0
    held = np.dtype(f"{'i' if signed else 'u'}{result.bytes}")
    largest = held.type(int(limit) - 1)
    inside = np.where((x >= least) & (x < limit), x, 0).astype(held)
    low = np.where(x < least, held.type(int(least)), inside)
    return np.where(x >= limit, largest, low).astype(result.dtype)


def bitcast(result: ElementType, a: Array) -> Array:
    """The same bits as another type of the same width."""
    return from_bits(bits_of(a), result)
