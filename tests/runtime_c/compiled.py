"""Compiles every function of runtime_c behind a loop over arrays, and calls it from NumPy."""

from __future__ import annotations

import ctypes
import functools
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from ccodegen.support.c_function import HEADERS, Function, function_of, library
from ccodegen.support.runtime_c import header_dir

WARNINGS = "-std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Wmissing-prototypes -Werror"
FAST = "-O2 -march=native -fno-math-errno -fno-trapping-math"
STRICT = "-O1 -DCCG_STRICT -ffp-contract=off"
SANITIZED = "-O0 -fsanitize=undefined,float-cast-overflow -fsanitize-undefined-trap-on-error"

_DTYPES = {"ccg_c64": np.dtype(np.complex64), "ccg_c128": np.dtype(np.complex128)}


def public_functions() -> dict[str, Function]:
    """Those whose operands and results are elements, and so can stand in arrays."""
    return {
        name: found
        for name, found in ((name, function_of(name)) for name in library().functions)
        if all(_is_element(kind) for kind in (*_kinds(found), found.result))
    }


def build(compiler: str = "gcc", flags: str = FAST) -> Path:
    """A shared library with `run_<function>(count, result, operands…)` for each function."""
    return _build(compiler, flags)


def call(name: str, *arguments: Any, compiler: str = "gcc", flags: str = FAST) -> Any:
    """The compiled function over arrays that broadcast."""
    function = public_functions()[name]
    arrays = [
        np.ascontiguousarray(array, dtype)
        for array, dtype in zip(
            np.broadcast_arrays(*arguments), map(element_dtype, _kinds(function)), strict=True
        )
    ]
    result = np.empty(arrays[0].shape, element_dtype(function.result))
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (result, *arrays)]
    run = getattr(ctypes.CDLL(str(_build(compiler, flags))), f"run_{name}")
    run(ctypes.c_size_t(result.size), *pointers)
    return result


@functools.cache
def _build(compiler: str, flags: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="ccodegen-runtime-"))
    source, built = folder / "functions.c", folder / "functions.so"
    includes = [f'#include "{h}"' for h in HEADERS if (header_dir() / h).is_file()]
    loops = [_loop(name, function) for name, function in public_functions().items()]
    source.write_text("\n".join([*includes, *loops, ""]))
    command = [compiler, *WARNINGS.split(), *flags.split(), "-fPIC", "-shared"]
    command += [f"-I{header_dir()}", str(source), "-o", str(built), "-lm"]
    subprocess.run(command, check=True)
    return built


def _loop(name: str, function: Function) -> str:
    names = [f"a{i}" for i in range(len(function.parameters))]
    parameters = [f"{_c_type(function.result)} *CCG_RESTRICT r"] + [
        f"const {_c_type(k)} *CCG_RESTRICT {a}"
        for k, a in zip(_kinds(function), names, strict=True)
    ]
    signature = f"void run_{name}(size_t n, {', '.join(parameters)})"
    body = f"r[i] = {name}({', '.join(f'{a}[i]' for a in names)});"
    return f"{signature};\n{signature}\n{{\n    for (size_t i = 0; i < n; i++)\n        {body}\n}}"


def _kinds(function: Function) -> list[Any]:
    return [kind for _, kind in function.parameters]


def _is_element(kind: Any) -> bool:
    return isinstance(kind, np.dtype) or kind in _DTYPES


def element_dtype(kind: Any) -> np.dtype[Any]:
    return kind if isinstance(kind, np.dtype) else _DTYPES[kind]


def _c_type(kind: Any) -> str:
    if isinstance(kind, str):
        return kind
    return {"float32": "float", "float64": "double"}.get(kind.name, f"{kind.name}_t")
