"""convolution: sums of products under a sliding window, over the kernel and input features."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, DimLabels, Window, attr
from ccodegen.hlo.opdef import OpDef, register


@dataclass(frozen=True)
class ConvolutionAttributes(Attributes):
    dim_labels: DimLabels = attr(AttrKind.DIM_LABELS)
    window: Window = attr(AttrKind.WINDOW, Window())
    feature_group_count: int = attr(AttrKind.INT, 1)
    batch_group_count: int = attr(AttrKind.INT, 1)
    operand_precision: str = attr(AttrKind.RAW, "")
    conv_kind: str = attr(AttrKind.ENUM, "")
    convolution_kind: str = attr(AttrKind.ENUM, "")


register(OpDef("convolution", ConvolutionAttributes, arity=(2, 2)))
