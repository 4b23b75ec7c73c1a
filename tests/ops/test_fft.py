"""fft against NumPy's, and its loops bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ops.scope import check_lowering


def complex_numbers(*shape: int) -> np.ndarray:
    random = np.random.default_rng(6)
    return (random.standard_normal(shape) + 1j * random.standard_normal(shape)).astype("complex64")


def fft(kind: str, types: tuple[str, str], shapes: list[tuple[int, ...]], length) -> str:
    x, y = (f"{t}[{','.join(map(str, s))}]" for t, s in zip(types, shapes, strict=True))
    return f"""ENTRY e {{ x = {x} parameter(0)
  ROOT r = {y} fft(x), fft_type={kind}, fft_length={{{",".join(map(str, length))}}} }}"""


@pytest.mark.parametrize("shape", [(1,), (2,), (7,), (8,), (12,), (30,), (3, 6), (2, 3, 5)])
@pytest.mark.parametrize("kind", ["FFT", "IFFT"])
def test_complex_transforms(kind, shape):
    x = complex_numbers(2, *shape)
    (found,) = check_lowering(fft(kind, ("c64", "c64"), [x.shape, x.shape], shape), x)
    axes = tuple(range(1, x.ndim))
    expected = np.fft.fftn(x, axes=axes) if kind == "FFT" else np.fft.ifftn(x, axes=axes)
    assert np.allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("shape", [(1,), (2,), (7,), (8,), (3, 6), (4, 5), (2, 3, 4)])
def test_real_transforms(shape):
    x = complex_numbers(2, *shape).real.copy()
    axes = tuple(range(1, x.ndim))
    expected = np.fft.rfftn(x, axes=axes).astype(np.complex64)
    text = fft("RFFT", ("f32", "c64"), [x.shape, expected.shape], shape)
    (spectrum,) = check_lowering(text, x)
    assert np.allclose(spectrum, expected, atol=1e-5)
    text = fft("IRFFT", ("c64", "f32"), [expected.shape, x.shape], shape)
    (back,) = check_lowering(text, expected)
    assert np.allclose(back, x, atol=1e-5)


def test_double_precision():
    x = complex_numbers(60).astype(np.complex128)
    (found,) = check_lowering(fft("FFT", ("c128", "c128"), [(60,), (60,)], (60,)), x)
    assert np.allclose(found, np.fft.fft(x), rtol=1e-13, atol=1e-13)
