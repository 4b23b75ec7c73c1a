"""rng-bit-generator: uniform bits and the next state, by Threefry or Philox."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.opdef import OpDef, register


@dataclass(frozen=True)
class RngBitGeneratorAttributes(Attributes):
    algorithm: str = attr(AttrKind.ENUM)


register(OpDef("rng-bit-generator", RngBitGeneratorAttributes))
