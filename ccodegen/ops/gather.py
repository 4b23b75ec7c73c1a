"""gather: slices of the operand from places that an index array names."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.opdef import OpDef, register


@dataclass(frozen=True)
class Gather(Attributes):
    """XLA's GatherDimensionNumbers."""

    offset_dims: tuple[int, ...] = attr(AttrKind.INTS)
    collapsed_slice_dims: tuple[int, ...] = attr(AttrKind.INTS)
    start_index_map: tuple[int, ...] = attr(AttrKind.INTS)
    index_vector_dim: int = attr(AttrKind.INT)
    slice_sizes: tuple[int, ...] = attr(AttrKind.INTS)
    operand_batching_dims: tuple[int, ...] = attr(AttrKind.INTS, ())
    start_indices_batching_dims: tuple[int, ...] = attr(AttrKind.INTS, ())
    indices_are_sorted: bool = attr(AttrKind.BOOL, False)


register(OpDef("gather", Gather, (2, 2)))
