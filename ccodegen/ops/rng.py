"""rng: numbers of a distribution from a generator that the implementation chooses."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.opdef import OpDef, register


@dataclass(frozen=True)
class Rng(Attributes):
    distribution: str = attr(AttrKind.ENUM)


register(OpDef("rng", Rng, arity=(2, 2), side_effect=True))
