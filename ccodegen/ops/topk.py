"""topk: the k largest or smallest elements of the last dimension, and their indices."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.opdef import OpDef, register


@dataclass(frozen=True)
class TopKAttributes(Attributes):
    k: int = attr(AttrKind.INT)
    largest: bool = attr(AttrKind.BOOL, True)


register(OpDef("topk", TopKAttributes))
