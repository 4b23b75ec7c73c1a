"""fft: discrete Fourier transforms over the last dimensions."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.opdef import OpDef, register


@dataclass(frozen=True)
class FftAttributes(Attributes):
    fft_type: str = attr(AttrKind.ENUM)
    fft_length: tuple[int, ...] = attr(AttrKind.INTS)


register(OpDef("fft", FftAttributes, arity=(1, 1)))
