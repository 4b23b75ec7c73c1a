"""custom-call: an op that HLO does not define, found by the name of its target."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, DimLabels, Window, attr
from ccodegen.hlo.ir import Computation
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import Shape


@dataclass(frozen=True)
class CustomCall(Attributes):
    """`operand_layout_constraints` None: there are none; `literal`: `s32[] 1`, as written."""

    custom_call_target: str = attr(AttrKind.STRING)
    window: Window | None = attr(AttrKind.WINDOW, None)
    dim_labels: DimLabels | None = attr(AttrKind.DIM_LABELS, None)
    feature_group_count: int = attr(AttrKind.INT, 1)
    batch_group_count: int = attr(AttrKind.INT, 1)
    operand_layout_constraints: tuple[Shape, ...] | None = attr(AttrKind.SHAPES, None)
    custom_call_has_side_effect: bool = attr(AttrKind.BOOL, False)
    to_apply: Computation | None = attr(AttrKind.COMPUTATION, None)
    called_computations: tuple[Computation, ...] = attr(AttrKind.COMPUTATIONS, ())
    output_to_operand_aliasing: str = attr(AttrKind.RAW, "")
    padding_type: str = attr(AttrKind.ENUM, "")
    literal: str = attr(AttrKind.RAW, "")
    operand_precision: str = attr(AttrKind.RAW, "")
    schedule: str = attr(AttrKind.ENUM, "")
    api_version: str = attr(AttrKind.ENUM, "")


register(OpDef("custom-call", CustomCall, (0, None)))
