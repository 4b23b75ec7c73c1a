"""cholesky: the triangular factor of symmetric positive definite matrices."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.opdef import OpDef, register


@dataclass(frozen=True)
class CholeskyAttributes(Attributes):
    lower: bool = attr(AttrKind.BOOL, False)


register(OpDef("cholesky", CholeskyAttributes))
