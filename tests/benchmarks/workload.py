"""What a workload is, and the registry of all of them."""

from __future__ import annotations

import enum
import functools
import importlib
import math
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Draw = Callable[[np.random.Generator, tuple[int, ...]], Array]


class Kind(enum.Enum):
    """How an operand lies in memory: definitions are NCHW and OIHW, JAX gets NHWC and HWIO."""

    PLAIN = "plain"
    IMAGE = "image"
    FILTER = "filter"


class Onnx(enum.Enum):
    """How a workload becomes an ONNX model. NONE: not at all, and no TFLite model either, as both
    start from what PyTorch exports, which lacks something or unrolls loops without end."""

    TORCH = "by PyTorch's exporter"
    INTEGER_MATMUL = "a MatMulInteger node, which that exporter does not make"
    LSTM = "by PyTorch's older exporter, which keeps the LSTM in one node"
    NONE = "not at all"


def standard_normal(generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return generator.standard_normal(shape, np.float32)


@dataclass(frozen=True)
class Operand:
    """An array to be drawn. `dtype`: what peers get, where it is not that of the drawn array."""

    shape: tuple[int, ...]
    draw: Draw = standard_normal
    kind: Kind = Kind.PLAIN
    dtype: str = ""

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def array(self, seed: int) -> Array:
        """The array, as it is defined; the same for the same seed."""
        drawn = self.draw(np.random.default_rng(seed), self.shape)
        if not self.dtype:
            return drawn
        import ml_dtypes

        return drawn.astype(getattr(ml_dtypes, self.dtype))


def plain(*shape: int, draw: Draw = standard_normal, dtype: str = "") -> Operand:
    return Operand(shape, draw, dtype=dtype)


def image(*shape: int) -> Operand:
    """A batch of images: N, C, H, W."""
    return Operand(shape, kind=Kind.IMAGE)


def scaled(by: float) -> Draw:
    return lambda generator, shape: standard_normal(generator, shape) * np.float32(by)


def ones(_: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return np.ones(shape, np.float32)


def below(limit: int) -> Draw:
    """Indices of 32 bits."""
    return lambda generator, shape: generator.integers(0, limit, shape, np.int32)


class Weights:
    """Collects the weights of a model, scaled such that activations stay of the order of one."""

    def __init__(self) -> None:
        self.operands: list[Operand] = []

    def conv(self, outputs: int, inputs: int, size: int) -> None:
        """A filter of `size` squared and its bias."""
        draw = scaled(1 / math.sqrt(inputs * size * size))
        self.operands.append(Operand((outputs, inputs, size, size), draw, Kind.FILTER))
        self.vector(outputs)

    def dense(self, inputs: int, outputs: int) -> None:
        """A matrix and its bias."""
        self.matrix(inputs, outputs, 1 / math.sqrt(inputs))
        self.vector(outputs)

    def matrix(self, rows: int, columns: int, scale: float) -> None:
        self.operands.append(plain(rows, columns, draw=scaled(scale)))

    def vector(self, size: int) -> None:
        self.operands.append(plain(size, draw=scaled(0.1)))

    def norm(self, size: int) -> None:
        """The factor and the offset of a layer norm."""
        self.operands.append(plain(size, draw=ones))
        self.vector(size)


@dataclass(frozen=True)
class Workload:
    """`function(f, *inputs, *weights)`, f being one of the bindings of functions.py.

    `flops`: that a call needs at least, a multiply-add being two; `arithmetic`: in which type,
    "f32", "s8" or "bf16". Bytes come from the operands and results, each once in each of `turns`.
    `tolerance`: relative to the largest magnitude of a result; integers must be equal. `compare`:
    False where peers draw random numbers of their own. `whole_model`: runs in fresh processes, so
    that their peak memory is its own. `numpy`: the same on arrays of NumPy, where NumPy or SciPy
    has a function for it; `numba`: a kernel of peers/numba.py. `without`: peers that cannot.
    """

    function: Callable[..., Any]
    inputs: Sequence[Operand]
    weights: Sequence[Operand] = ()
    flops: float = 0
    arithmetic: str = "f32"
    turns: int = 1
    output: Kind = Kind.PLAIN
    onnx: Onnx = Onnx.TORCH
    tolerance: float = 2e-3
    compare: bool = True
    whole_model: bool = False
    numpy: Callable[..., Any] | None = None
    numba: str = ""
    without: frozenset[str] = frozenset()

    @property
    def operands(self) -> tuple[Operand, ...]:
        return (*self.inputs, *self.weights)


_registry: dict[str, tuple[str, Workload]] = {}


def add(group: str, name: str, workload: Workload) -> None:
    """Registers a workload. `name`: a part of file names, so letters, digits and _ only."""
    assert name not in _registry, f"two workloads are called {name}"
    _registry[name] = (group, workload)


@functools.cache
def all_workloads() -> dict[str, Workload]:
    """The workloads by name, group after group."""
    _load()
    return {name: workload for name, (_, workload) in _registry.items()}


def group_of(name: str) -> str:
    _load()
    return _registry[name][0]


@functools.cache
def _load() -> None:
    from tests.benchmarks import workloads

    for module in workloads.MODULES:
        importlib.import_module(f"{workloads.__name__}.{module}")
    assert {m.name for m in pkgutil.iter_modules(workloads.__path__)} == set(workloads.MODULES)
