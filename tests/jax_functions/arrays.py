"""Arrays of one element type to call functions with: the same values in every type."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

TYPES = {"f32": np.float32, "f64": np.float64, "c64": np.complex64, "s32": np.int32}
_SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -2.5, 30.0, -30.0, 1e-3, 1e3]


class Arrays:
    """Makes arrays; the n-th of one maker is the same from call to call.

    Values are rounded to f32 before they get their type, so that a result in f64 tells what the
    one in f32 should have been.
    """

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name
        self.dtype = np.dtype(TYPES[type_name])
        self._random = np.random.default_rng(7)

    @property
    def real_dtype(self) -> np.dtype[Any]:
        """The type of absolute values."""
        return np.empty(0, self.dtype).real.dtype

    def __call__(self, *shape: int) -> Array:
        """Standard normal; integers from -9 to 9."""
        return self._typed(lambda: self._random.standard_normal(shape), shape)

    def positive(self, *shape: int) -> Array:
        """From 0.1 to 4; complex numbers have imaginary parts alike."""
        return self._typed(lambda: self._random.uniform(0.1, 4, shape), shape, low=1)

    def unit(self, *shape: int) -> Array:
        """From 0.05 to 0.95."""
        return self._typed(lambda: self._random.uniform(0.05, 0.95, shape), shape, low=0)

    def real(self, *shape: int) -> Array:
        """Standard normal, in the type of absolute values."""
        return self(*shape).real.astype(self.real_dtype)

    def special(self) -> Array:
        """Zeros, ones, infinities, NaN, small and large numbers; of integers, the extremes."""
        if self.dtype.kind == "i":
            return np.array([0, 1, -1, 7, -(2**31), 2**31 - 1], self.dtype)
        finite = [x for x in _SPECIAL if np.isfinite(x)]
        return np.array(finite if self.dtype.kind == "c" else _SPECIAL, self.dtype)

    def ints(self, *shape: int, below: int = 10, least: int = 0) -> Array:
        """s32."""
        return self._random.integers(least, below, shape).astype(np.int32)

    def bools(self, *shape: int) -> Array:
        return self._random.random(shape) < 0.5

    def matrix(self, *shape: int) -> Array:
        """Square and well conditioned."""
        return (self(*shape) + 4 * np.eye(shape[-1])).astype(self.dtype)

    def lower(self, *shape: int) -> Array:
        """Lower triangular and well conditioned."""
        return np.tril(self.matrix(*shape))

    def definite(self, *shape: int) -> Array:
        """Hermitian and positive definite, with simple eigenvalues."""
        factor = self(*shape) / 4
        product = factor @ np.conj(np.swapaxes(factor, -1, -2)) + np.diag(np.arange(shape[-1]) + 1)
        return product.astype(self.dtype)

    def ascending(self, *shape: int) -> Array:
        return np.sort(self(*shape), axis=-1)

    def _typed(self, draw: Any, shape: tuple[int, ...], low: int = -9) -> Array:
        if self.dtype.kind == "i":
            return self._random.integers(low, 10, shape).astype(self.dtype)
        real = np.asarray(draw(), np.float32)
        if self.dtype.kind != "c":
            return real.astype(self.dtype)
        return (real + 1j * np.asarray(draw(), np.float32)).astype(self.dtype)
