"""Ops that change the element type or its precision."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.opdef import OpDef, register


@dataclass(frozen=True)
class ReducePrecision(Attributes):
    exponent_bits: int = attr(AttrKind.INT)
    mantissa_bits: int = attr(AttrKind.INT)


register(OpDef("convert", elementwise=True))
register(OpDef("bitcast-convert"))
register(OpDef("reduce-precision", ReducePrecision, elementwise=True))
register(OpDef("stochastic-convert", arity=(2, 2), elementwise=True))
