"""triangular-solve: solves op(a)·x = b or x·op(a) = b for triangular matrices a."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.opdef import OpDef, register


@dataclass(frozen=True)
class TriangularSolveAttributes(Attributes):
    left_side: bool = attr(AttrKind.BOOL, False)
    lower: bool = attr(AttrKind.BOOL, False)
    unit_diagonal: bool = attr(AttrKind.BOOL, False)
    transpose_a: str = attr(AttrKind.ENUM, "NO_TRANSPOSE")


register(OpDef("triangular-solve", TriangularSolveAttributes, arity=(2, 2)))
