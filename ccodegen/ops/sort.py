"""sort: orders one dimension of several operands together, by any comparator; always stable."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Computation
from ccodegen.hlo.opdef import OpDef, register


@dataclass(frozen=True)
class SortAttributes(Attributes):
    dimensions: tuple[int, ...] = attr(AttrKind.INTS)
    to_apply: Computation = attr(AttrKind.COMPUTATION)
    is_stable: bool = attr(AttrKind.BOOL, False)


register(OpDef("sort", SortAttributes, arity=(1, None)))
