"""ragged-dot: a dot whose left rows come in groups, each with a right operand of its own."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import AttrKind, attr
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.ops.dot import Dot


@dataclass(frozen=True)
class RaggedDot(Dot):
    lhs_ragged_dims: tuple[int, ...] = attr(AttrKind.INTS, ())
    rhs_group_dims: tuple[int, ...] = attr(AttrKind.INTS, ())


register(OpDef("ragged-dot", RaggedDot, arity=(3, 3)))
