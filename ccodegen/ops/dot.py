"""dot: sums of products over the contracting dimensions."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.opdef import OpDef, register


@dataclass(frozen=True)
class DotAttributes(Attributes):
    lhs_batch_dims: tuple[int, ...] = attr(AttrKind.INTS, ())
    lhs_contracting_dims: tuple[int, ...] = attr(AttrKind.INTS, ())
    rhs_batch_dims: tuple[int, ...] = attr(AttrKind.INTS, ())
    rhs_contracting_dims: tuple[int, ...] = attr(AttrKind.INTS, ())
    operand_precision: str = attr(AttrKind.RAW, "")
    algorithm: str = attr(AttrKind.ENUM, "")


register(OpDef("dot", DotAttributes, arity=(2, 2)))
