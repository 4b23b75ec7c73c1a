"""scatter: windows of updates combined into copies of the operands at places given by indices."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Computation
from ccodegen.hlo.opdef import OpDef, register


@dataclass(frozen=True)
class Scatter(Attributes):
    """XLA's ScatterDimensionNumbers."""

    to_apply: Computation = attr(AttrKind.COMPUTATION)
    update_window_dims: tuple[int, ...] = attr(AttrKind.INTS)
    inserted_window_dims: tuple[int, ...] = attr(AttrKind.INTS)
    scatter_dims_to_operand_dims: tuple[int, ...] = attr(AttrKind.INTS)
    index_vector_dim: int = attr(AttrKind.INT)
    input_batching_dims: tuple[int, ...] = attr(AttrKind.INTS, ())
    scatter_indices_batching_dims: tuple[int, ...] = attr(AttrKind.INTS, ())
    indices_are_sorted: bool = attr(AttrKind.BOOL, False)
    unique_indices: bool = attr(AttrKind.BOOL, False)


register(OpDef("scatter", Scatter, (3, None)))
