"""Ops that only order others: tokens, barriers, domains."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.opdef import OpDef, register


@dataclass(frozen=True)
class Domain(Attributes):
    """`domain={kind="sharding", entry={…}, exit={…}}`, kept as written."""

    domain: str = attr(AttrKind.RAW)


register(OpDef("after-all", arity=(0, None)))
register(OpDef("add-dependency", arity=(2, 2)))
register(OpDef("opt-barrier"))
register(OpDef("domain", Domain))
