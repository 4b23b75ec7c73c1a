"""jax.numpy.fft and jax.scipy.signal."""

from __future__ import annotations

from tests.jax_functions.arrays import Arrays
from tests.jax_functions.use import Table, Use, use


def _one_axis(a: Arrays) -> list[Use]:
    return [
        use(a(8)),
        use(a(3, 7)),
        use(a(6, 3), axis=0, norm="ortho"),
        use(a(2, 5), n=8),
        use(a(9), n=6, norm="forward"),
        use(a(1)),
        use(a(2, 67)),
    ]


def _two_axes(a: Arrays) -> list[Use]:
    return [use(a(4, 6)), use(a(2, 5, 3), norm="ortho"), use(a(3, 4), s=(5, 2))]


def _axes(a: Arrays) -> list[Use]:
    return [use(a(4, 6)), use(a(2, 3, 4)), use(a(2, 3, 4), axes=(0, 2)), use(a(3, 5), s=(4, 4))]


def _sampled(a: Arrays) -> list[Use]:
    return [use(a(64), nperseg=16), use(a(2, 50), nperseg=16, noverlap=4)]


def _shifts(a: Arrays) -> list[Use]:
    return [use(a(5)), use(a(4, 5)), use(a(4, 5), axes=1)]


TABLE: Table = {
    **dict.fromkeys(["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"], _one_axis),
    **dict.fromkeys(["fft2", "ifft2", "rfft2", "irfft2"], _two_axes),
    **dict.fromkeys(["fftn", "ifftn", "rfftn", "irfftn"], _axes),
    **dict.fromkeys(["fftshift", "ifftshift"], _shifts),
    **dict.fromkeys(
        ["fftfreq", "rfftfreq"], lambda a: [use(8, dtype=a.dtype), use(7, 0.5, dtype=a.dtype)]
    ),
}


def _sliding(a: Arrays) -> list[Use]:
    modes = ("full", "same", "valid")
    return [use(a(9), a(4)), *(use(a(5, 6), a(3, 2), mode=mode) for mode in modes)]


def _sliding_by_fft(a: Arrays) -> list[Use]:
    return [*_sliding(a), use(a(9), a(4), method="fft")]


SIGNAL: Table = {
    "convolve": _sliding_by_fft,
    "correlate": _sliding_by_fft,
    "convolve2d": _sliding,
    "correlate2d": _sliding,
    "fftconvolve": lambda a: [*_sliding(a), use(a(3, 6), a(3, 4), axes=1)],
    "csd": lambda a: [use(a(64), a(64), nperseg=16), use(a(2, 40), a(2, 40), nperseg=16)],
    "welch": _sampled,
    "stft": _sampled,
    "istft": lambda a: [use(a(9, 7), nperseg=16)],
    "detrend": lambda a: [use(a(9)), use(a(3, 8), type="constant"), use(a(8), bp=3)],
}
