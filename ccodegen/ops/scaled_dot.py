"""scaled-dot: a dot of operands that are multiplied by a scale per block of elements first."""

from __future__ import annotations

from ccodegen.hlo.opdef import OpDef, register
from ccodegen.ops.dot import Dot

register(OpDef("scaled-dot", Dot, arity=(4, 4)))
