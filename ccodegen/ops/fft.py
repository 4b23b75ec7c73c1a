"""fft: discrete Fourier transforms over the last dimensions.

RFFT transforms the last dimension first, IRFFT last, the others from the last to the first; the
inverse ones divide by the length along each dimension. IRFFT takes the second half of the last
dimension's spectrum to be the mirrored conjugate of the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import ArrayShape, Shape
from ccodegen.loop.builder import Builder, apply, const, index
from ccodegen.loop.ir import Buffer, Expr, Index
from ccodegen.ops.arithmetic import conjugate, real_part
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.fold import Array
from ccodegen.ops.fourier import LineTransformer, transform
from ccodegen.ops.lowering import NestScope
from ccodegen.ops.shape_checks import arrays, require
from ccodegen.support.element_type import ElementType


@dataclass(frozen=True)
class Fft(Attributes):
    fft_type: str = attr(AttrKind.ENUM)
    fft_length: tuple[int, ...] = attr(AttrKind.INTS)


_COMPLEX = {ElementType.F32: ElementType.C64, ElementType.F64: ElementType.C128}
_TYPES = ("FFT", "IFFT", "RFFT", "IRFFT")


def infer(shapes: tuple[Shape, ...], attributes: Fft) -> Shape:
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


def evaluate(evaluator: Any, instruction: Instruction, operand: Array) -> Array:
    kind, length, element_type = _plan(instruction)
    array = operand.astype(element_type.dtype)
    for axis in _axes(array.ndim, length, kind):
        if kind == "IRFFT" and axis == array.ndim - 1:
            array = _mirrored(array, length[-1])
        lines = np.moveaxis(array, axis, -1)
        flat = lines.reshape(int(np.prod(lines.shape[:-1])), lines.shape[-1])
        found = transform(flat, element_type, kind in ("IFFT", "IRFFT"))
        array = np.moveaxis(found.reshape(lines.shape), -1, axis)
        if kind == "RFFT" and axis == array.ndim - 1:
            array = array[..., : length[-1] // 2 + 1]
    return array.real if kind == "IRFFT" else array


def _mirrored(array: Array, n: int) -> Array:
    """The whole spectrum of real numbers, of which the first half is given."""
    rest = array[..., 1 : n - n // 2][..., ::-1].conj()
    return np.concatenate([array, rest], -1)


def _plan(instruction: Instruction) -> tuple[str, tuple[int, ...], ElementType]:
    """The kind, the lengths, and the complex type to compute in."""
    attributes = attributes_of(instruction, Fft)
    own = instruction.operands[0].array_shape.element_type
    return attributes.fft_type, attributes.fft_length, _COMPLEX.get(own, own)


def _axes(rank: int, length: tuple[int, ...], kind: str) -> list[int]:
    """The transformed dimensions in the order of their transforms."""
    axes = list(range(rank - len(length), rank))[::-1]
    return axes[1:] + axes[:1] if kind == "IRFFT" else axes


def nest(scope: NestScope, instruction: Instruction) -> None:
    kind, length, element_type = _plan(instruction)
    (source,), (result,) = scope.operands, scope.results
    rank, between = len(source.dimensions), result
    if kind == "IRFFT" and len(length) > 1:
        between = scope.scratch(element_type, source.dimensions)
    axes = _axes(rank, length, kind)
    for axis in axes:
        target = result if axis == axes[-1] else between
        _emit_axis(scope, instruction, source, target, axis)
        source = target


def _emit_axis(
    scope: NestScope, instruction: Instruction, source: Buffer, target: Buffer, axis: int
) -> None:
    kind, length, element_type = _plan(instruction)
    b, rank = scope.builder, len(source.dimensions)
    n = length[axis - rank + len(length)]
    lines = LineTransformer(scope, n, element_type, kind in ("IFFT", "IRFFT"))
    outer = list(source.dimensions)
    del outer[axis]
    is_mirrored = kind == "IRFFT" and axis == rank - 1
    with b.loops(outer, "line") as line:

        def place(i: Expr) -> Index:
            return (*line[:axis], i, *line[axis:])

        def read(t: Expr) -> Expr:
            if is_mirrored:
                return _load_mirrored(b, source, line, n, t)
            value = b.load(source, place(t))
            if value.type.is_complex:
                return value
            return apply("complex", value, const(value.type, 0), type=element_type)

        def write(q: Expr, value: Expr) -> None:
            real = target.type is not element_type
            b.store(target, place(q), real_part(value) if real else value)

        lines.transform(read, write, target.dimensions[axis])


def _load_mirrored(b: Builder, source: Buffer, line: Index, n: int, t: Expr) -> Expr:
    """x[t], or the conjugate of x[n - t] in the half that is not given."""
    half = index(n // 2)
    given = apply("compare-le", t, half, type=ElementType.PRED)
    other = b.load(source, (*line, apply("subtract", index(n), t)))
    return apply("select", given, b.load(source, (*line, t)), conjugate(other))


register(OpDef("fft", Fft, infer=infer, evaluate=evaluate, nest=nest))
