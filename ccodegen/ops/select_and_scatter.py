"""select-and-scatter: adds each source element to the one its window selects (max-pool's grad)."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, Window, attr
from ccodegen.hlo.ir import Computation
from ccodegen.hlo.opdef import OpDef, register


@dataclass(frozen=True)
class SelectAndScatterAttributes(Attributes):
    select: Computation = attr(AttrKind.COMPUTATION)
    scatter: Computation = attr(AttrKind.COMPUTATION)
    window: Window = attr(AttrKind.WINDOW, Window())


register(OpDef("select-and-scatter", SelectAndScatterAttributes, arity=(3, 3)))
