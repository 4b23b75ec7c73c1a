"""The array functions that workloads are written with, once for JAX and once for PyTorch.

Both classes have the same methods. Images are NHWC with HWIO filters in JAX, which XLA:CPU is best
at, and NCHW with OIHW filters in PyTorch; a workload sees neither.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Array = Any


class JaxFunctions:
    """Bound to JAX."""

    def __init__(self) -> None:
        import jax

        self._jax, self._np, self._lax = jax, jax.numpy, jax.lax

    def tanh(self, x: Array) -> Array:
        return self._np.tanh(x)

    def exp(self, x: Array) -> Array:
        return self._np.exp(x)

    def sqrt(self, x: Array) -> Array:
        return self._np.sqrt(x)

    def sigmoid(self, x: Array) -> Array:
        return self._jax.nn.sigmoid(x)

    def relu(self, x: Array) -> Array:
        return self._jax.nn.relu(x)

    def relu6(self, x: Array) -> Array:
        return self._jax.nn.relu6(x)

    def gelu(self, x: Array) -> Array:
        """The exact one, by erf."""
        return self._jax.nn.gelu(x, approximate=False)

    def softmax(self, x: Array) -> Array:
        """Along the last dimension."""
        return self._jax.nn.softmax(x, axis=-1)

    def layer_norm(self, x: Array, factor: Array, offset: Array) -> Array:
        """Along the last dimension."""
        centred = x - x.mean(-1, keepdims=True)
        variance = (centred * centred).mean(-1, keepdims=True)
        return centred * self._lax.rsqrt(variance + 1e-5) * factor + offset

    def matmul(self, a: Array, b: Array) -> Array:
        return self._np.matmul(a, b)

    def integer_matmul(self, a: Array, b: Array) -> Array:
        """s8 times s8, added up in s32."""
        numbers = (((1,), (0,)), ((), ()))
        return self._lax.dot_general(a, b, numbers, preferred_element_type=self._np.int32)

    def dense(self, x: Array, weight: Array, bias: Array) -> Array:
        return x @ weight + bias

    def conv(
        self, x: Array, weight: Array, bias: Array, stride: int = 1, pad: int = 0, groups: int = 1
    ) -> Array:
        product = self._lax.conv_general_dilated(
            x,
            weight,
            (stride, stride),
            [(pad, pad)] * 2,
            feature_group_count=groups,
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        )
        return product + bias

    def max_pool(self, x: Array, size: int, stride: int, pad: int) -> Array:
        window, strides = (1, size, size, 1), (1, stride, stride, 1)
        padding = [(0, 0), (pad, pad), (pad, pad), (0, 0)]
        return self._lax.reduce_window(x, -self._np.inf, self._lax.max, window, strides, padding)

    def average_pool(self, x: Array, size: int) -> Array:
        """Windows side by side."""
        window = (1, size, size, 1)
        total = self._lax.reduce_window(x, 0.0, self._lax.add, window, window, "VALID")
        return total / (size * size)

    def global_average(self, x: Array) -> Array:
        return x.mean((1, 2))

    def flatten_image(self, x: Array) -> Array:
        """Each image as a vector in the order C, H, W."""
        return self._np.transpose(x, (0, 3, 1, 2)).reshape(x.shape[0], -1)

    def permute(self, x: Array, *order: int) -> Array:
        return self._np.transpose(x, order)

    def concatenate(self, arrays: Sequence[Array], axis: int) -> Array:
        return self._np.concatenate(arrays, axis)

    def rows(self, table: Array, indices: Array) -> Array:
        return table[indices]

    def sum(self, x: Array, axis: int | None = None) -> Array:
        return x.sum(axis)

    def argmax(self, x: Array, axis: int | None = None) -> Array:
        return self._np.argmax(x, axis)

    def cumsum(self, x: Array) -> Array:
        return self._np.cumsum(x)

    def sort(self, x: Array) -> Array:
        return self._np.sort(x)

    def roll(self, x: Array, by: int, axis: int) -> Array:
        return self._np.roll(x, by, axis)

    def repeat(self, turns: int, step: Callable[[Array], Array], x: Array) -> Array:
        """step(step(… x))."""
        return self._lax.fori_loop(0, turns, lambda _, value: step(value), x)

    def lstm(
        self, x: Array, weight_x: Array, weight_h: Array, bias_x: Array, bias_h: Array
    ) -> Array:
        """All outputs of one layer from zero state: [steps, 1, inputs] → [steps, 1, hidden].
        Gates are stacked as in PyTorch: input, forget, cell, output."""

        def step(state: tuple[Array, Array], projected: Array) -> tuple[tuple[Array, Array], Array]:
            hidden, cell = state
            stacked = projected + hidden @ weight_h.T + bias_h
            entry, forget, new, output = self._np.split(stacked, 4, -1)
            cell = self.sigmoid(forget) * cell + self.sigmoid(entry) * self.tanh(new)
            hidden = self.sigmoid(output) * self.tanh(cell)
            return (hidden, cell), hidden

        zero = self._np.zeros((1, weight_h.shape[1]), x.dtype)
        return self._lax.scan(step, (zero, zero), x @ weight_x.T + bias_x)[1]

    def scatter_add(self, size: int, indices: Array, x: Array) -> Array:
        """Zeros to which x is added at the indices."""
        return self._np.zeros(size, self._np.float32).at[indices].add(x)

    def uniform(self, key: Array, size: int) -> Array:
        """Random numbers in [0, 1) by Threefry from two words of key."""
        wrapped = self._jax.random.wrap_key_data(key, impl="threefry2x32")
        return self._jax.random.uniform(wrapped, (size,))

    def fft2(self, x: Array) -> Array:
        return self._np.fft.fft2(x)

    def cholesky(self, x: Array) -> Array:
        return self._np.linalg.cholesky(x)

    def solve_lower(self, lower: Array, b: Array) -> Array:
        return self._jax.scipy.linalg.solve_triangular(lower, b, lower=True)


class TorchFunctions:
    """Bound to PyTorch."""

    def __init__(self) -> None:
        import torch

        self._torch, self._nn = torch, torch.nn.functional

    def tanh(self, x: Array) -> Array:
        return self._torch.tanh(x)

    def exp(self, x: Array) -> Array:
        return self._torch.exp(x)

    def sqrt(self, x: Array) -> Array:
        return self._torch.sqrt(x)

    def sigmoid(self, x: Array) -> Array:
        return self._torch.sigmoid(x)

    def relu(self, x: Array) -> Array:
        return self._torch.relu(x)

    def relu6(self, x: Array) -> Array:
        return self._nn.relu6(x)

    def gelu(self, x: Array) -> Array:
        return self._nn.gelu(x)

    def softmax(self, x: Array) -> Array:
        return self._nn.softmax(x, dim=-1)

    def layer_norm(self, x: Array, factor: Array, offset: Array) -> Array:
        return self._nn.layer_norm(x, (x.shape[-1],), factor, offset, 1e-5)

    def matmul(self, a: Array, b: Array) -> Array:
        return self._torch.matmul(a, b)

    def integer_matmul(self, a: Array, b: Array) -> Array:
        return self._torch._int_mm(a, b)

    def dense(self, x: Array, weight: Array, bias: Array) -> Array:
        return x @ weight + bias

    def conv(
        self, x: Array, weight: Array, bias: Array, stride: int = 1, pad: int = 0, groups: int = 1
    ) -> Array:
        return self._nn.conv2d(x, weight, bias, stride, pad, 1, groups)

    def max_pool(self, x: Array, size: int, stride: int, pad: int) -> Array:
        return self._nn.max_pool2d(x, size, stride, pad)

    def average_pool(self, x: Array, size: int) -> Array:
        return self._nn.avg_pool2d(x, size, size)

    def global_average(self, x: Array) -> Array:
        return x.mean((2, 3))

    def flatten_image(self, x: Array) -> Array:
        return x.reshape(x.shape[0], -1)

    def permute(self, x: Array, *order: int) -> Array:
        return x.permute(*order)

    def concatenate(self, arrays: Sequence[Array], axis: int) -> Array:
        return self._torch.cat(arrays, axis)

    def rows(self, table: Array, indices: Array) -> Array:
        # Exported as Gather; indexing becomes a GatherND, which ONNX Runtime has for s64 only.
        return self._torch.index_select(table, 0, indices)

    def sum(self, x: Array, axis: int | None = None) -> Array:
        return x.sum() if axis is None else x.sum(axis)

    def argmax(self, x: Array, axis: int | None = None) -> Array:
        return self._torch.argmax(x, axis)

    def cumsum(self, x: Array) -> Array:
        return self._torch.cumsum(x, 0)

    def sort(self, x: Array) -> Array:
        return self._torch.sort(x)[0]

    def roll(self, x: Array, by: int, axis: int) -> Array:
        return self._torch.roll(x, by, axis)

    def repeat(self, turns: int, step: Callable[[Array], Array], x: Array) -> Array:
        for _ in range(turns):
            x = step(x)
        return x

    def lstm(
        self, x: Array, weight_x: Array, weight_h: Array, bias_x: Array, bias_h: Array
    ) -> Array:
        zero = self._torch.zeros(1, 1, weight_h.shape[1])
        weights = [weight_x, weight_h, bias_x, bias_h]
        has_biases, layers, dropout, train, bidirectional, batch_first = True, 1, 0.0, *[False] * 3
        options = (has_biases, layers, dropout, train, bidirectional, batch_first)
        return self._torch.lstm(x, (zero, zero), weights, *options)[0]

    def scatter_add(self, size: int, indices: Array, x: Array) -> Array:
        return self._torch.zeros(size).index_add(0, indices, x)

    def uniform(self, key: Array, size: int) -> Array:
        """By PyTorch's own generator, another algorithm."""
        return self._torch.rand(size)

    def fft2(self, x: Array) -> Array:
        return self._torch.fft.fft2(x)

    def cholesky(self, x: Array) -> Array:
        return self._torch.linalg.cholesky(x)

    def solve_lower(self, lower: Array, b: Array) -> Array:
        return self._torch.linalg.solve_triangular(lower, b, upper=False)
