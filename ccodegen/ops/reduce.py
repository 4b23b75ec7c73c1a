"""reduce: folds dimensions of one or several operands with a computation."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Computation
from ccodegen.hlo.opdef import OpDef, register


@dataclass(frozen=True)
class ReduceAttributes(Attributes):
    dimensions: tuple[int, ...] = attr(AttrKind.INTS)
    to_apply: Computation = attr(AttrKind.COMPUTATION)


register(OpDef("reduce", ReduceAttributes, arity=(2, None)))
