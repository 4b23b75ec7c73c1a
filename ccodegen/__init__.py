"""ccodegen: HLO array programs to portable C99.

The rooms, in the order in which they may import one another (each knows only those before it):

    support/    errors, source locations, element types, names, the cache
    target/     what a machine and its compiler are like: targets/*.toml
    loop/       the loop-nest IR between HLO and C
    hlo/        the input language: shapes, graph, text and proto forms, verifier, evaluator
    ops/        one definition per HLO op: attributes, shape, NumPy reference, lowering to loops
    passes/     HLO → HLO: simplify, fold, fuse
    lower/      HLO → loops: schedule, shared memory, a plan per kernel, buffer assignment
    emit/       loops → C99
    frontends/  StableHLO, JAX, files → HLO
    backend/    compilers, programs loaded into this process or run elsewhere

and the front doors: `compile`, `load` and `jit` (jit.py), `export` (package.py), the command line
(cli.py, commands/).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ccodegen.jit import Executable, compile, jit, load
from ccodegen.support.errors import CcodegenError, InputError, InternalError, UnsupportedError
from ccodegen.support.hooks import IO, ArraySpec
from ccodegen.support.version import VERSION as __version__

if TYPE_CHECKING:
    from ccodegen.custom_calls import register_custom_call
    from ccodegen.frontends.read import read
    from ccodegen.package import export
    from ccodegen.reference import evaluate

# What brings the passes or the reference with it is imported when it is asked for.
_LATER = {
    "evaluate": "ccodegen.reference",
    "export": "ccodegen.package",
    "read": "ccodegen.frontends.read",
    "register_custom_call": "ccodegen.custom_calls",
}

__all__ = [
    "IO",
    "ArraySpec",
    "CcodegenError",
    "Executable",
    "InputError",
    "InternalError",
    "UnsupportedError",
    "__version__",
    "compile",
    "evaluate",
    "export",
    "jit",
    "load",
    "read",
    "register_custom_call",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(importlib.import_module(_LATER[name]), name)
    return found
