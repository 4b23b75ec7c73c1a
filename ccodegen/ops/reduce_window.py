"""reduce-window: folds the elements under a sliding window with a computation."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, Window, attr
from ccodegen.hlo.ir import Computation
from ccodegen.hlo.opdef import OpDef, register


@dataclass(frozen=True)
class ReduceWindowAttributes(Attributes):
    to_apply: Computation = attr(AttrKind.COMPUTATION)
    window: Window = attr(AttrKind.WINDOW, Window())


register(OpDef("reduce-window", ReduceWindowAttributes, arity=(2, None)))
