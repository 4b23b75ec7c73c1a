"""ccodegen: HLO array programs to portable C99.

The rooms, in the order in which they may import one another (each knows only those before it):

    support/    errors, source locations, element types, names
    target/     what a machine and its compiler are like: targets/*.toml
    loop/       the loop-nest IR between HLO and C
    hlo/        the input language: shapes, graph, text and proto forms, verifier, evaluator
    ops/        one definition per HLO op: attributes, shape, NumPy reference, lowering to loops
    passes/     HLO → HLO: simplify, fold, fuse
    lower/      HLO → loops: schedule, shared memory, a plan per kernel, buffer assignment
    emit/       loops → C99
    frontends/  StableHLO, JAX, files → HLO
    backend/    compilers, the cache, programs loaded into this process or run elsewhere

and the front doors: `compile` and `jit` (jit.py), `export` (export.py), the command line (cli.py,
commands/).
"""

from ccodegen.custom_calls import register_custom_call
from ccodegen.export import export
from ccodegen.frontends.read import read
from ccodegen.jit import Executable, compile, jit
from ccodegen.reference import evaluate
from ccodegen.support.errors import CcodegenError, InputError, InternalError, UnsupportedError
from ccodegen.support.hooks import IO, ArraySpec
from ccodegen.support.version import VERSION as __version__

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
    "read",
    "register_custom_call",
]
