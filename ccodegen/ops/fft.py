"""fft: discrete Fourier transforms over the last dimensions.

RFFT transforms the last dimension first, IRFFT last, the others from the last to the first; the
inverse ones divide by the length along each dimension. IRFFT takes the second half of the last
dimension's spectrum to be the mirrored conjugate of the first.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import ArrayShape, Shape
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.butterfly import Complex
from ccodegen.ops.fold import Array
from ccodegen.ops.fourier_arrays import ArrayWorkspace
from ccodegen.ops.fourier_axis import AxisTransform, Memory
from ccodegen.ops.fourier_lines import LineTransform, Read, Write
from ccodegen.ops.lowering import NestScope
from ccodegen.ops.shape_checks import arrays, require
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import frozen


@frozen
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
    array = operand
    for axis, line in _transforms(array.ndim, length, kind):
        moved = np.moveaxis(array, axis, -1)
        lines = moved.reshape(int(np.prod(moved.shape[:-1])), moved.shape[-1])
        own = element_type.component if line.kind == "IRFFT" else element_type
        found = np.zeros((len(lines), line.results), own.dtype)
        work = ArrayWorkspace(element_type.component, line.rows, len(lines))
        if lines.size:
            with np.errstate(all="ignore"):
                line.run(work, _reader(lines), _writer(found))
        array = np.moveaxis(found.reshape(*moved.shape[:-1], line.results), -1, axis)
    return array


def _reader(lines: Array) -> Read:
    def read(line: Any, at: Any) -> Any:
        value = lines[line, at]
        return Complex(value.real, value.imag) if np.iscomplexobj(lines) else value

    return read


def _writer(lines: Array) -> Write:
    def write(line: Any, at: Any, value: Any) -> None:
        if isinstance(value, Complex):
            lines.real[line, at], lines.imag[line, at] = value.re, value.im
        else:
            lines[line, at] = value

    return write


def _plan(instruction: Instruction) -> tuple[str, tuple[int, ...], ElementType]:
    """The kind, the lengths, and the complex type to compute in."""
    attributes = attributes_of(instruction, Fft)
    own = instruction.operands[0].array_shape.element_type
    return attributes.fft_type, attributes.fft_length, _COMPLEX.get(own, own)


def _transforms(
    rank: int, length: tuple[int, ...], kind: str
) -> list[tuple[int, LineTransform]]:
    """The transformed dimensions in the order of their transforms."""
    whole = "IFFT" if kind in ("IFFT", "IRFFT") else "FFT"
    first = rank - len(length)
    last = (rank - 1, LineTransform(kind, length[-1]))
    others = [(first + i, LineTransform(whole, n)) for i, n in enumerate(length[:-1])][::-1]
    return [*others, last] if kind == "IRFFT" else [last, *others]


def nest(scope: NestScope, instruction: Instruction) -> None:
    kind, length, element_type = _plan(instruction)
    (source,), (result,) = scope.operands, scope.results
    between = result
    if kind == "IRFFT" and len(length) > 1:
        between = scope.scratch(element_type, source.dimensions)
    transforms = _transforms(len(source.dimensions), length, kind)
    buffers = [source, *([between] * (len(length) - 1)), result]
    axes = [
        AxisTransform(scope, *ends, axis, line)
        for ends, (axis, line) in zip(pairwise(buffers), transforms, strict=True)
    ]
    memory = Memory.of(scope, element_type.component, axes)
    for transform in axes:
        transform.emit(memory)


register(OpDef("fft", Fft, infer=infer, evaluate=evaluate, nest=nest))
