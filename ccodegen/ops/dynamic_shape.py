"""Ops on the sizes of bounded dynamic dimensions."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.opdef import OpDef, register


@dataclass(frozen=True)
class DimensionSize(Attributes):
    """`dimensions` holds one number."""

    dimensions: tuple[int, ...] = attr(AttrKind.INTS)


register(OpDef("dynamic-reshape", arity=(1, None)))
register(OpDef("get-dimension-size", DimensionSize))
register(OpDef("set-dimension-size", DimensionSize, (2, 2)))
