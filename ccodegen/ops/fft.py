"""fft: discrete Fourier transforms over the last dimensions."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import ArrayShape, Shape
from ccodegen.ops.shape_checks import arrays, require
from ccodegen.support.element_type import ElementType


@dataclass(frozen=True)
class FftAttributes(Attributes):
    fft_type: str = attr(AttrKind.ENUM)
    fft_length: tuple[int, ...] = attr(AttrKind.INTS)


_COMPLEX = {ElementType.F32: ElementType.C64, ElementType.F64: ElementType.C128}
_TYPES = ("FFT", "IFFT", "RFFT", "IRFFT")


def infer(shapes: tuple[Shape, ...], attributes: FftAttributes) -> Shape:
    """RFFT keeps the first half and one of the last dimension; IRFFT takes that back."""
    (x,) = arrays("fft", shapes)
    kind, length = attributes.fft_type, attributes.fft_length
    require(kind in _TYPES, f"fft: fft_type is one of {', '.join(_TYPES)}, not {kind}")
    require(1 <= len(length) <= x.rank, f"fft over {len(length)} dimensions of {x}")
    half = length[-1] // 2 + 1 if length[-1] else 0
    taken = (*length[:-1], half) if kind == "IRFFT" else length
    require(
        x.dimensions[x.rank - len(length) :] == taken,
        f"fft: {kind} of length {list(length)} takes last dimensions {list(taken)}, not {x}",
    )
    is_real = x.element_type in _COMPLEX
    wanted = "f32 or f64" if kind == "RFFT" else "c64 or c128"
    fits = is_real if kind == "RFFT" else x.element_type.is_complex
    require(fits, f"fft: {kind} takes {wanted}, not {x.element_type.text}")
    return _result(x, kind, length[-1], half)


def _result(x: ArrayShape, kind: str, last: int, half: int) -> ArrayShape:
    if kind == "RFFT":
        return ArrayShape(_COMPLEX[x.element_type], (*x.dimensions[:-1], half), x.dynamic)
    if kind == "IRFFT":
        return ArrayShape(x.element_type.component, (*x.dimensions[:-1], last), x.dynamic)
    return x


register(OpDef("fft", FftAttributes, arity=(1, 1), infer=infer))
