"""Slices whose place is known at run time; start indices are clamped so that they fit."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.opdef import OpDef, register


@dataclass(frozen=True)
class DynamicSlice(Attributes):
    dynamic_slice_sizes: tuple[int, ...] = attr(AttrKind.INTS)


register(OpDef("dynamic-slice", DynamicSlice, (1, None)))
register(OpDef("dynamic-update-slice", arity=(2, None)))
