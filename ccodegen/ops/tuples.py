"""Making and taking apart tuples."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.opdef import OpDef, register


@dataclass(frozen=True)
class GetTupleElement(Attributes):
    index: int = attr(AttrKind.INT)


register(OpDef("tuple", arity=(0, None)))
register(OpDef("get-tuple-element", GetTupleElement))
