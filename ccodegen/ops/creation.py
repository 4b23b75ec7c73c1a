"""Ops without operands: constants, parameters, iota."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.literal import Literal
from ccodegen.hlo.opdef import OpDef, register


@dataclass(frozen=True)
class Constant(Attributes):
    """`constant(LITERAL)`: the literal stands where other ops have operands."""

    literal: Literal = attr(AttrKind.LITERAL)


@dataclass(frozen=True)
class Parameter(Attributes):
    """`parameter(NUMBER)`: the number stands where other ops have operands."""

    number: int = attr(AttrKind.INT)


@dataclass(frozen=True)
class Iota(Attributes):
    iota_dimension: int = attr(AttrKind.INT)


register(OpDef("constant", Constant, (0, 0)))
register(OpDef("parameter", Parameter, (0, 0)))
register(OpDef("iota", Iota, (0, 0)))
