"""The public functions of JAX's numerical modules, read from the modules themselves."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

MODULES = (
    "jax.numpy",
    "jax.numpy.linalg",
    "jax.numpy.fft",
    "jax.scipy.special",
    "jax.scipy.linalg",
    "jax.scipy.signal",
    "jax.random",
    "jax.lax",
    "jax.lax.linalg",
    "jax.nn",
)

_WRITES = "reads or writes files"
_NO_TRACE = "JAX runs it in Python, on values: it is never part of a program"
_ABOUT = "about types, shapes or printing: its result is no array"
_MESH = "needs a mesh of named devices, or is one end of a transfer between two"
_BUILDS = "makes a description for another function, not an array"

# What is public and callable, but computes nothing from arrays.
NOT_OF_ARRAYS: dict[str, str] = {
    **dict.fromkeys(["save", "savez", "load", "fromfile", "frombuffer"], _WRITES),
    **dict.fromkeys(
        ["fromiter", "fromstring", "from_dlpack", "array_repr", "array_str", "einsum_path"],
        _NO_TRACE,
    ),
    **dict.fromkeys(["mask_indices", "place", "put"], _NO_TRACE),
    **dict.fromkeys(
        ["get_printoptions", "set_printoptions", "printoptions", "promote_types", "result_type"],
        _ABOUT,
    ),
    **dict.fromkeys(["dtype", "issubdtype", "isdtype", "can_cast"], _ABOUT),
    **dict.fromkeys(["key_impl", "key_dtype"], _ABOUT),
    **dict.fromkeys(["pbroadcast", "pcast", "precv", "psend"], _MESH),
    **dict.fromkeys(["ragged_all_to_all", "with_sharding_constraint"], _MESH),
    **dict.fromkeys(["frompyfunc", "vectorize", "get_scaled_dot_general_config"], _BUILDS),
    **dict.fromkeys(["conv_general_permutations", "conv_general_shape_tuple"], _ABOUT),
    **dict.fromkeys(["conv_shape_tuple", "conv_transpose_shape_tuple"], _ABOUT),
    **dict.fromkeys(["reduce_window_shape_tuple", "shape_as_value"], _ABOUT),
    "trim_zeros": "the shape of its result depends on values: JAX cannot compile it",
    **dict.fromkeys(["ConvGeneralDilatedDimensionNumbers", "DotDimensionNumbers"], _BUILDS),
    **dict.fromkeys(["PrecisionLike", "conv_dimension_numbers", "padtype_to_pads"], _BUILDS),
}


@dataclass(frozen=True)
class Function:
    """A public callable. `skipped`: why it is no function of arrays; empty if it is."""

    module: str
    name: str
    call: Callable[..., Any]
    skipped: str = ""

    @property
    def path(self) -> str:
        return f"{self.module}.{self.name}"


def functions(module: str) -> list[Function]:
    """The public callables of a module, in order of their names; its types are left out."""
    loaded = importlib.import_module(module)
    found = []
    for name in sorted(public_names(loaded)):
        value = getattr(loaded, name)
        if callable(value) and not inspect.isclass(value):
            found.append(Function(module, name, value, NOT_OF_ARRAYS.get(name, "")))
    return found


def public_names(module: Any) -> list[str]:
    return [name for name in dir(module) if not name.startswith("_")]
