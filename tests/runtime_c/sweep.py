"""Measures the errors of runtime_c's math functions, in ulp, in default and in strict mode.

    python -m tests.runtime_c.sweep [--type f32] [--step N] [--count N] [FUNCTION ...]

Functions of one f32 are tried with all 2^32 arguments (or every N-th), against the C library in
f64; functions of two, and of f64, with the special values and N drawn arguments, f64 against the C
library in long double. Prints what was found and what the header states; fails if that is less.
Two programs run at a time; all of f32 takes half an hour.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ccodegen.support.accuracy import stated_bounds
from ccodegen.support.runtime_c import header_dir

SOURCES = Path(__file__).resolve().parent
FLAGS = ("-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math")
MODES = {"default_run": (), "strict_run": ("-DCCG_STRICT", "-ffp-contract=off")}
# The C library's functions of the same name, and the references of the others.
SAME_NAME = (
    "exp expm1 log log1p tanh erf sin cos tan asin acos atan sinh cosh asinh acosh atanh sqrt cbrt "
    "floor ceil"
)
UNARY = {
    **{name: f"{name}(a)" for name in SAME_NAME.split()},
    "decay": "exp(-fabs(a))",
    "logistic": "1 / (1 + exp(-a))",
    "rsqrt": "1 / sqrt(a)",
    "abs": "fabs(a)",
    "negate": "-a",
    "is_finite": "a - a == 0",
    "sign": "a == 0 || a != a ? a : copysign(1, a)",
    "round_nearest_even": "rint(a)",
    "round_nearest_afz": "round(a)",
}
BINARY = {
    "atan2": "atan2(a, b)",
    "pow": "pow(a, b)",
    "remainder": "fmod(a, b)",
    "hypot": "hypot(a, b)",
}
CALLS = {
    "decay": "ccg_decay_{t}(-ccg_abs_{t}(x))",
    "hypot": "ccg_abs_{c}(ccg_complex_{c}((x), (y)))",
    "negate": "-(x)",
}
COMPLEX = {"f32": "c64", "f64": "c128"}


@dataclass(frozen=True)
class Found:
    """The largest error of a function in one mode, and where."""

    error: float
    at: str


def sweep(function: str, kind: str, words: list[str], compiler: str = "gcc") -> list[Found]:
    """In default and in strict mode. `words`: the arguments of sweep.c's program."""
    with tempfile.TemporaryDirectory() as folder:
        program = build(function, kind, Path(folder), compiler)
        done = subprocess.run([program, *words], check=True, capture_output=True, text=True)
    lines = [line.split(maxsplit=1) for line in done.stdout.splitlines()]
    return [Found(float(error), at) for error, at in lines]


def build(function: str, kind: str, folder: Path, compiler: str) -> Path:
    types = [f"-DT={'float' if kind == 'f32' else 'double'}"]
    types += [f"-I{header_dir()}", *FLAGS]
    call = CALLS.get(function, "ccg_{f}_{t}(" + ("x, y)" if function in BINARY else "x)"))
    call = call.format(f=function, t=kind, c=COMPLEX[kind])
    objects = []
    for mode, flags in MODES.items():
        objects.append(str(folder / f"{mode}.o"))
        command = [compiler, "-c", *types, *flags, f"-DRUN={mode}", f"-DFUNCTION(x,y)={call}"]
        subprocess.run([*command, SOURCES / "sweep_kernel.c", "-o", objects[-1]], check=True)
    program = folder / "sweep"
    command = [compiler, *types, *reference(function, kind), SOURCES / "sweep.c", *objects]
    subprocess.run([*command, "-o", program, "-lm"], check=True)
    return program


def reference(function: str, kind: str) -> list[str]:
    """The macros that say what is right."""
    text = {**UNARY, **BINARY}[function]
    if kind == "f32":
        vector = function in SAME_NAME.split() and function not in ("floor", "ceil", "sqrt")
        return ["-DWIDE=double", f"-DREFER(a,b)={text}"] + [f"-DLIBMVEC={function}"] * vector
    return ["-DWIDE=long double", "-include", "tgmath.h", f"-DREFER(a,b)={text}"]


def report(function: str, kind: str, options: argparse.Namespace) -> bool:
    """Prints the result. Whether it is within the stated bound."""
    whole = kind == "f32" and function in UNARY
    words = ["0", str(2**32), str(options.step)] if whole else [str(options.count)]
    found = sweep(function, kind, words, options.compiler)
    stated = ("abs", COMPLEX[kind]) if function == "hypot" else (function, kind)
    bound = stated_bounds().get(stated)
    limits = (bound.default, bound.strict) if bound else (0.0, 0.0)
    for mode, f, limit in zip(("default", "strict"), found, limits, strict=True):
        verdict = "" if f.error <= limit else "  ABOVE THE BOUND"
        line = f"{function:18} {kind} {mode:7} {f.error:9.4f} of {limit} at {f.at}{verdict}"
        print(line, flush=True)
    return all(f.error <= limit for f, limit in zip(found, limits, strict=True))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("functions", nargs="*", default=[*UNARY, *BINARY])
    parser.add_argument("--type", default="f32", choices=["f32", "f64"])
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--count", type=int, default=10**7)
    parser.add_argument("--compiler", default="gcc")
    options = parser.parse_args()
    os.nice(19)
    with ThreadPoolExecutor(2) as pool:
        within = pool.map(lambda f: report(f, options.type, options), options.functions)
    return 0 if all(within) else 1


if __name__ == "__main__":
    raise SystemExit(main())
