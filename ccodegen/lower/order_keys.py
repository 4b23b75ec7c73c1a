"""Floats as integers of the same order, of which the larger one is one instruction.

Of two floats it takes six: a comparison, and a NaN and two zeros to look for.
"""

from __future__ import annotations

from ccodegen.loop.builder import Builder, apply, const
from ccodegen.loop.ir import Expr
from ccodegen.support.element_type import ElementType

F32, S32 = ElementType.F32, ElementType.S32

# Infinity is so far below the largest number that every NaN is above it, those with a sign too.
_NANS = 0x7FFFFF


def has_keys(operator: str, element_type: ElementType) -> bool:
    """Whether the operator's result is that of `maximum` of keys."""
    return operator in ("maximum", "minimum") and element_type is F32


def key(builder: Builder, value: Expr, operator: str) -> Expr:
    """An s32 for an f32, larger for what the operator prefers; -inf has the least for maximum."""
    preferred = apply("negate", value) if operator == "minimum" else value
    bits = builder.let(apply("bitcast-convert", preferred, type=S32), "bits")
    return apply("subtract", _turned(bits), const(S32, _NANS))


def from_key(builder: Builder, key: Expr, operator: str) -> Expr:
    """The float that has this key, or a NaN."""
    turned = builder.let(apply("add", key, const(S32, _NANS)), "turned")
    value = apply("bitcast-convert", _turned(turned), type=F32)
    return apply("negate", value) if operator == "minimum" else value


def _turned(bits: Expr) -> Expr:
    """Below zero the smaller magnitude is the larger number: all bits but the sign turn over."""
    sign = apply("shift-right-arithmetic", bits, const(S32, 31))
    return apply("xor", bits, apply("and", sign, const(S32, 0x7FFFFFFF)))
