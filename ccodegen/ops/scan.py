"""scan: runs a computation over the slices of one dimension, carrying values from turn to turn."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Computation
from ccodegen.hlo.opdef import OpDef, register


@dataclass(frozen=True)
class ScanAttributes(Attributes):
    dimensions: tuple[int, ...] = attr(AttrKind.INTS)
    num_carries: int = attr(AttrKind.INT)
    to_apply: Computation = attr(AttrKind.COMPUTATION)
    is_reverse: bool = attr(AttrKind.BOOL, False)
    is_associative: bool = attr(AttrKind.BOOL, False)


register(OpDef("scan", ScanAttributes, arity=(1, None)))
