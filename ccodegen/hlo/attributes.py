"""Attributes of instructions: the base class, the kinds of values, and the values with structure.

Every op has a frozen dataclass of its own (in `ccodegen.ops`) whose fields are declared with
`attr(KIND)`. The kind says how the value is spelled in HLO text and stored in a proto; `hlo.text`
and `hlo.proto` derive parsing and printing from it.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Mapping
from dataclasses import field, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ccodegen.support.immutable import frozen

if TYPE_CHECKING:
    from ccodegen.hlo.ir import Computation


class AttrKind(enum.Enum):
    """How an attribute is written; the Python type of its value stands behind."""

    INT = enum.auto()  # index=3                      int
    BOOL = enum.auto()  # is_stable=true              bool
    FLOAT = enum.auto()  # epsilon=0.001              float
    INTS = enum.auto()  # dimensions={0,1}            tuple[int, ...]
    ENUM = enum.auto()  # direction=LT                str
    STRING = enum.auto()  # custom_call_target="x"    str
    SHAPE = enum.auto()  # outfeed_shape=f32[2]       Shape
    SHAPES = enum.auto()  # operand_layout_constraints={f32[2]{0}}   tuple[Shape, ...]
    COMPUTATION = enum.auto()  # to_apply=%f, or inline        Computation
    COMPUTATIONS = enum.auto()  # branch_computations={%f, %g} tuple[Computation, ...]
    WINDOW = enum.auto()  # window={size=3x3 pad=0_1x0_1}      Window
    PADDING = enum.auto()  # padding=0_1_0x0_0_2      tuple[PaddingDimension, ...]
    SLICE = enum.auto()  # slice={[0:3:1],[2:4]}      tuple[SliceDimension, ...]
    DIM_LABELS = enum.auto()  # dim_labels=b01f_01io->b01f     DimLabels
    LITERAL = enum.auto()  # the parenthesis of constant(...)  Literal
    RAW = enum.auto()  # anything balanced, kept as written (one space for white space)   str


_UNSET: Any = object()


def attr(kind: AttrKind, default: Any = _UNSET, text: str = "") -> Any:
    """Declares a field of an Attributes class.

    Without `default` the attribute is required. `text` is its spelling in HLO text where that is
    not the field's name. An attribute equal to its default is not printed.
    """
    metadata = {"kind": kind, "text": text}
    if default is _UNSET:
        return field(metadata=metadata)
    return field(default=default, metadata=metadata)


@frozen
class Attributes:
    """Base of all attribute classes; itself the attributes of an op that has none."""

    @classmethod
    @functools.cache
    def spelled(cls) -> Mapping[str, tuple[str, AttrKind]]:
        """Field name and kind by the name used in HLO text, in declaration order."""
        return MappingProxyType(
            {
                f.metadata["text"] or f.name: (f.name, f.metadata["kind"])
                for f in fields(cls)
                if "kind" in f.metadata
            }
        )

    def computations(self) -> tuple[Computation, ...]:
        """The computations called, in field order."""
        found: list[Computation] = []
        for name, kind in self._callee_fields():
            value = getattr(self, name)
            if kind is AttrKind.COMPUTATIONS:
                found.extend(value)
            elif value is not None:
                found.append(value)
        return tuple(found)

    @classmethod
    @functools.cache
    def _callee_fields(cls) -> tuple[tuple[str, AttrKind], ...]:
        calls = (AttrKind.COMPUTATION, AttrKind.COMPUTATIONS)
        return tuple((name, kind) for name, kind in cls.spelled().values() if kind in calls)


NO_ATTRIBUTES = Attributes()


@frozen
class WindowDimension:
    """One spatial dimension of a window, as XLA defines it. Padding may be negative."""

    size: int = 1
    stride: int = 1
    pad_low: int = 0
    pad_high: int = 0
    lhs_dilation: int = 1
    rhs_dilation: int = 1
    reversal: bool = False

    @property
    def extent(self) -> int:
        """Elements spanned by the dilated window."""
        return (self.size - 1) * self.rhs_dilation + 1 if self.size else 0

    def output_size(self, input_size: int) -> int:
        """Number of window positions over `input_size` elements."""
        dilated = (input_size - 1) * self.lhs_dilation + 1 if input_size else 0
        padded = dilated + self.pad_low + self.pad_high
        return (padded - self.extent) // self.stride + 1 if padded >= self.extent else 0


@frozen
class Window:
    dimensions: tuple[WindowDimension, ...] = ()


@frozen
class PaddingDimension:
    """Edge padding (negative: cropping) and the number of elements put between neighbours."""

    low: int
    high: int
    interior: int = 0


@frozen
class SliceDimension:
    start: int
    limit: int
    stride: int = 1


@frozen
class DimLabels:
    """Which dimension plays which role in a convolution; spatial ones in window order.

    Labels `?` take no part; `unknown` is how many the input, kernel and output have.
    """

    input_batch: int
    input_feature: int
    input_spatial: tuple[int, ...]
    kernel_input_feature: int
    kernel_output_feature: int
    kernel_spatial: tuple[int, ...]
    output_batch: int
    output_feature: int
    output_spatial: tuple[int, ...]
    unknown: tuple[int, int, int] = (0, 0, 0)
