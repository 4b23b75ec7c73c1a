"""rng-get-and-update-state: a counter that lives from one call of the program to the next."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.opdef import OpDef, register


@dataclass(frozen=True)
class RngGetAndUpdateState(Attributes):
    """`delta` is added to the state after it is read."""

    delta: int = attr(AttrKind.INT)


register(OpDef("rng-get-and-update-state", RngGetAndUpdateState, (0, 0), side_effect=True))
