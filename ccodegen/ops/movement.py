"""Ops that move elements by a fixed rule."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, PaddingDimension, SliceDimension, attr
from ccodegen.hlo.opdef import OpDef, register


@dataclass(frozen=True)
class Broadcast(Attributes):
    """Operand dimension i becomes output dimension `dimensions[i]`."""

    dimensions: tuple[int, ...] = attr(AttrKind.INTS, ())


@dataclass(frozen=True)
class Reshape(Attributes):
    """`inferred_dimension`: the one whose size a dynamic reshape derives; None: none."""

    inferred_dimension: int | None = attr(AttrKind.INT, None)


@dataclass(frozen=True)
class Transpose(Attributes):
    """Output dimension i is operand dimension `dimensions[i]`."""

    dimensions: tuple[int, ...] = attr(AttrKind.INTS)


@dataclass(frozen=True)
class Slice(Attributes):
    slice: tuple[SliceDimension, ...] = attr(AttrKind.SLICE)


@dataclass(frozen=True)
class Concatenate(Attributes):
    """`dimensions` holds one number."""

    dimensions: tuple[int, ...] = attr(AttrKind.INTS)


@dataclass(frozen=True)
class Pad(Attributes):
    padding: tuple[PaddingDimension, ...] = attr(AttrKind.PADDING, ())


@dataclass(frozen=True)
class Reverse(Attributes):
    dimensions: tuple[int, ...] = attr(AttrKind.INTS)


register(OpDef("broadcast", Broadcast))
register(OpDef("reshape", Reshape))
register(OpDef("transpose", Transpose))
register(OpDef("slice", Slice))
register(OpDef("concatenate", Concatenate, (1, None)))
register(OpDef("pad", Pad, (2, 2)))
register(OpDef("reverse", Reverse))
register(OpDef("copy", elementwise=True))
register(OpDef("bitcast"))
