"""fft against NumPy's, and its loops bit for bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ccodegen.ops.fourier_plan import plan, radices
from tests.c_library import CLibrary
from tests.ops.scope import check_lowering
from tests.three_ways import check, plain_target


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


# All radices, passes of all kinds after others, primes by loops.
LENGTHS = [1, 2, 3, 4, 5, 8, 15, 16, 17, 22, 34, 49]


def lines_case(kind: str, length: int, lines: int) -> tuple[str, np.ndarray, np.ndarray]:
    """The transform of so many lines, and what NumPy makes of them."""
    half = length // 2 + 1
    x = complex_numbers(lines, half if kind == "IRFFT" else length)
    x = x.real.copy() if kind == "RFFT" else x
    function = getattr(np.fft, kind.lower())
    expected = function(x, length)
    types = ("f32" if kind == "RFFT" else "c64", "f32" if kind == "IRFFT" else "c64")
    return fft(kind, types, [x.shape, expected.shape], (length,)), x, expected


@pytest.mark.parametrize("lines", [1, 5, 11])
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("kind", ["FFT", "IFFT", "RFFT", "IRFFT"])
def test_lines_side_by_side(kind, length, lines):
    text, x, expected = lines_case(kind, length, lines)
    (found,) = check_lowering(text, x)
    assert np.allclose(found, expected, atol=2e-6 * max(1, length**0.5))


@pytest.mark.parametrize("shape", [(3, 40), (40, 3), (18, 20), (9, 2, 5), (2, 9, 3)])
@pytest.mark.parametrize("strict", [False, True])
def test_compiled_transforms(shape, strict):
    x = complex_numbers(*shape)
    check(fft("FFT", ("c64", "c64"), [shape, shape], shape), x, strict=strict)
    real, half = x.real.copy(), (*shape[:-1], shape[-1] // 2 + 1)
    check(fft("RFFT", ("f32", "c64"), [shape, half], shape), real, strict=strict)
    spectrum = np.fft.rfftn(real).astype(np.complex64)
    check(fft("IRFFT", ("c64", "f32"), [half, shape], shape), spectrum, strict=strict)


def test_threads_have_rows_of_their_own():
    target = plain_target()
    target = replace(target, machine=replace(target.machine, threads=3))
    x = complex_numbers(2100, 8)
    check(fft("FFT", ("c64", "c64"), [x.shape, x.shape], (8,)), x, strict=True, target=target)


@pytest.mark.parametrize("threads", [1, 3])
def test_rows_of_threads_are_on_cache_lines_of_their_own(threads):
    """Of real numbers they are half as long, and one: two threads would write to one line."""
    target = plain_target()
    target = replace(target, machine=replace(target.machine, threads=threads))
    real, half = (30, 1024), (30, 513)
    x = complex_numbers(*real).real.copy()
    built = check(fft("RFFT", ("f32", "c64"), [real, half], (1024,)), x, target=target)
    buffers = {b.name: b for kernel in built.program.kernels for b in kernel.buffers}
    rows = [b.bytes // threads for name, b in buffers.items() if name.startswith("scratch")]
    assert len(rows) == 2
    assert all(size == 2 * 513 * 4 if threads == 1 else size % 128 == 0 for size in rows)


def test_in_place_of_a_donated_operand():
    x = complex_numbers(20, 12)
    check(fft("IFFT", ("c64", "c64"), [x.shape, x.shape], x.shape), x, strict=True, donate=(0,))


def test_large_primes_stay_accurate():
    x = complex_numbers(5, 101).astype(np.complex128)
    (found,) = check_lowering(fft("FFT", ("c128", "c128"), [x.shape, x.shape], (101,)), x)
    assert np.allclose(found, np.fft.fft(x), rtol=0, atol=1e-13)


def test_infinities_and_nans_stay_in_their_line():
    x = complex_numbers(9, 12)
    x[2, 3], x[5, 1] = np.inf, np.nan
    (found,) = check_lowering(fft("FFT", ("c64", "c64"), [x.shape, x.shape], (12,)), x)
    finite = np.isfinite(found).all(1)
    assert finite.tolist() == [n not in (2, 5) for n in range(9)]


@pytest.mark.parametrize("n", [1, 2, 16, 96, 360, 1009, 2 * 499])
def test_radices_multiply_to_the_length(n):
    assert np.prod(radices(n)) == n
    chosen = plan(n)
    assert np.prod(chosen.radices) == chosen.length
    assert chosen.length == n or chosen.length >= 2 * n - 1


@pytest.mark.parametrize("kind", ["FFT", "IFFT", "RFFT", "IRFFT"])
@pytest.mark.parametrize(("lines", "length"), [(0, 4), (3, 0), (0, 0)])
def test_nothing_to_transform(kind, lines, length):
    half = length // 2 + 1 if length else 0
    given, made = {"RFFT": (length, half), "IRFFT": (half, length)}.get(kind, (length, length))
    types = ("f32" if kind == "RFFT" else "c64", "f32" if kind == "IRFFT" else "c64")
    x = np.zeros((lines, given), np.float32 if kind == "RFFT" else np.complex64)
    check(fft(kind, types, [x.shape, (lines, made)], (length,)), x)


def test_short_lines_in_place_where_there_are_no_vectors():
    """gcc 12 unrolls short loops over a line, and gets vectors of the loop over lines wrong."""
    target = replace(plain_target(), machine=replace(plain_target().machine, vector_bytes=4))
    x = complex_numbers(12, 12, 12)
    built = check(fft("FFT", ("c64", "c64"), [x.shape] * 2, (12, 12)), x, target=target)
    optimised = CLibrary([built.program], target, False, ("gcc",), ("-O3",))
    (found,) = optimised.run(0, [x])
    assert np.allclose(found, np.fft.fft2(x), atol=1e-4)
