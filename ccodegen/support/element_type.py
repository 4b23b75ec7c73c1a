"""The element types of HLO, and the index type of generated loops."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any

import ml_dtypes
import numpy as np


class Kind(enum.Enum):
    """How the bits of an element are read."""

    PRED = enum.auto()
    SIGNED = enum.auto()
    UNSIGNED = enum.auto()
    FLOAT = enum.auto()
    COMPLEX = enum.auto()
    INDEX = enum.auto()


class ElementType(enum.Enum):
    """One element type: its HLO name, kind, width in bits, and NumPy type of a host literal.

    A sub-byte type takes one byte an element on the host (ml_dtypes' convention). INDEX is not an
    HLO type: it counts loop turns and addresses elements, and is `ptrdiff_t` in C.
    """

    PRED = ("pred", Kind.PRED, 1, np.bool_)
    S1 = ("s1", Kind.SIGNED, 1, ml_dtypes.int1)
    S2 = ("s2", Kind.SIGNED, 2, ml_dtypes.int2)
    S4 = ("s4", Kind.SIGNED, 4, ml_dtypes.int4)
    S8 = ("s8", Kind.SIGNED, 8, np.int8)
    S16 = ("s16", Kind.SIGNED, 16, np.int16)
    S32 = ("s32", Kind.SIGNED, 32, np.int32)
    S64 = ("s64", Kind.SIGNED, 64, np.int64)
    U1 = ("u1", Kind.UNSIGNED, 1, ml_dtypes.uint1)
    U2 = ("u2", Kind.UNSIGNED, 2, ml_dtypes.uint2)
    U4 = ("u4", Kind.UNSIGNED, 4, ml_dtypes.uint4)
    U8 = ("u8", Kind.UNSIGNED, 8, np.uint8)
    U16 = ("u16", Kind.UNSIGNED, 16, np.uint16)
    U32 = ("u32", Kind.UNSIGNED, 32, np.uint32)
    U64 = ("u64", Kind.UNSIGNED, 64, np.uint64)
    F16 = ("f16", Kind.FLOAT, 16, np.float16)
    BF16 = ("bf16", Kind.FLOAT, 16, ml_dtypes.bfloat16)
    F32 = ("f32", Kind.FLOAT, 32, np.float32)
    F64 = ("f64", Kind.FLOAT, 64, np.float64)
    F8E5M2 = ("f8e5m2", Kind.FLOAT, 8, ml_dtypes.float8_e5m2)
    F8E4M3 = ("f8e4m3", Kind.FLOAT, 8, ml_dtypes.float8_e4m3)
    F8E4M3FN = ("f8e4m3fn", Kind.FLOAT, 8, ml_dtypes.float8_e4m3fn)
    F8E4M3B11FNUZ = ("f8e4m3b11fnuz", Kind.FLOAT, 8, ml_dtypes.float8_e4m3b11fnuz)
    F8E3M4 = ("f8e3m4", Kind.FLOAT, 8, ml_dtypes.float8_e3m4)
    F8E5M2FNUZ = ("f8e5m2fnuz", Kind.FLOAT, 8, ml_dtypes.float8_e5m2fnuz)
    F8E4M3FNUZ = ("f8e4m3fnuz", Kind.FLOAT, 8, ml_dtypes.float8_e4m3fnuz)
    F8E8M0FNU = ("f8e8m0fnu", Kind.FLOAT, 8, ml_dtypes.float8_e8m0fnu)
    F4E2M1FN = ("f4e2m1fn", Kind.FLOAT, 4, ml_dtypes.float4_e2m1fn)
    F6E3M2FN = ("f6e3m2fn", Kind.FLOAT, 6, ml_dtypes.float6_e3m2fn)
    F6E2M3FN = ("f6e2m3fn", Kind.FLOAT, 6, ml_dtypes.float6_e2m3fn)
    C64 = ("c64", Kind.COMPLEX, 64, np.complex64)
    C128 = ("c128", Kind.COMPLEX, 128, np.complex128)
    INDEX = ("index", Kind.INDEX, 64, np.int64)

    def __init__(self, text: str, kind: Kind, bits: int, dtype: Any) -> None:
        self.text = text
        self.kind = kind
        self.bits = bits
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.is_integer = kind in (Kind.SIGNED, Kind.UNSIGNED)
        self.is_float = kind is Kind.FLOAT
        self.is_narrow_float = self.is_float and bits < 32  # computed with in f32
        self.is_complex = kind is Kind.COMPLEX

    @property
    def bytes(self) -> int:
        """Size of one stored element in bytes; sub-byte types are stored one a byte."""
        return (self.bits + 7) // 8

    @property
    def component(self) -> ElementType:
        """The type of the real part: c64 → f32, c128 → f64, others unchanged."""
        return {"c64": ElementType.F32, "c128": ElementType.F64}.get(self.text, self)

    def __repr__(self) -> str:
        return self.text

    __hash__ = object.__hash__  # Enum's is a function of Python's, which expressions ask often


HLO_TYPES = {t.text: t for t in ElementType if t is not ElementType.INDEX}
_BY_DTYPE = {t.dtype: t for t in HLO_TYPES.values()}


def widest_float(types: Iterable[ElementType]) -> ElementType:
    """Of floating-point types the one with the largest range, and of those the most precise."""

    def width(element_type: ElementType) -> tuple[int, int]:
        info = ml_dtypes.finfo(element_type.dtype)  # type: ignore[no-untyped-call]
        return int(info.maxexp), int(info.nmant)

    return max(types, key=width)


def from_dtype(dtype: Any) -> ElementType:
    """The element type whose literals have this NumPy type. Raises KeyError for others."""
    return _BY_DTYPE[np.dtype(dtype)]


def array_text(array: np.ndarray[Any, Any]) -> str:
    """Type and dimensions as HLO spells them, `f32[2,3]`; NumPy's name for a type HLO lacks."""
    known = _BY_DTYPE.get(array.dtype)
    return f"{known.text if known else array.dtype}[{','.join(map(str, array.shape))}]"
