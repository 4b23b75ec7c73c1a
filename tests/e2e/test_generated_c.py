"""The C of real programs: no warning from any compiler, nothing undefined when it runs, the same
bytes each time. All programs with CCODEGEN_FULL=1."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("jax")

import jax
import pycparser

import ccodegen
from ccodegen.hlo.ir import Module
from ccodegen.support.c_preprocessor import preprocess
from tests.e2e.agreement import FULL, Example
from tests.e2e.jax_models import lenet
from tests.e2e.jax_programs import PROGRAMS
from tests.emit.c_compiler import WARNINGS

SAMPLE = (
    "switch", "scan_with_swapped_carry", "sort", "top_k", "cumulative", "scatter", "gather",
    "convolutions", "pooling_gradient", "reductions", "elementwise_functions",
    "integer_arithmetic", "predicates", "half_precision", "contractions", "complex_arithmetic",
    "rbg", "cholesky",
    "solve_triangular", "movement",
)  # fmt: skip
NAMES = [*(PROGRAMS if FULL else SAMPLE), "lenet"]
Packages = Callable[[str, str], Path]

COMPILERS = (
    ("x86-64", "gcc", ("-O2", "-march=x86-64-v3")),
    ("x86-64", "clang", ("-O1", "-march=x86-64-v3")),
    ("cortex-m4", "arm-none-eabi-gcc", ("-mcpu=cortex-m4", "-mthumb", "-fsyntax-only")),
)
SANITIZE = ("-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all")

_EXPORT = """
import sys, ccodegen
text, directory = sys.argv[1:]
ccodegen.export(text, "x86-64", "program", directory, test=False)
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Packages:
    """The package of a program for a target; made once."""
    root = tmp_path_factory.mktemp("packages")

    def make(name: str, target: str) -> Path:
        directory = root / target / name
        if not directory.exists():
            inputs = [np.asarray(a) for a in jax.tree_util.tree_leaves(example(name).arguments)]
            ccodegen.export(module(name), target, "program", directory, inputs=inputs)
        return directory

    return make


def example(name: str) -> Example:
    return lenet() if name == "lenet" else PROGRAMS[name]()


def module(name: str) -> Module:
    made = example(name)
    traced = jax.jit(made.function, keep_unused=True).trace(*made.arguments)
    return ccodegen.read(traced.lower(lowering_platforms=(made.platform,)))


def run(*command: str | Path) -> str:
    words = ["timeout", "300", *map(str, command)]
    done = subprocess.run(words, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout[-2000:]}{done.stderr[:3000]}"
    return done.stdout


def sources(folder: Path, *parts: str) -> list[Path]:
    return [file for part in parts for file in sorted((folder / part).glob("*.c"))]


@pytest.mark.parametrize(("target", "compiler", "flags"), COMPILERS, ids=[c[1] for c in COMPILERS])
@pytest.mark.parametrize("name", NAMES)
def test_no_warnings(
    name: str, target: str, compiler: str, flags: Sequence[str], package: Packages, tmp_path: Path
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    folder = package(name, target)
    for file in sources(folder, "src", "test"):
        include = f"-I{folder / 'include'}", f"-I{folder / 'runtime'}"
        run(compiler, *WARNINGS, *flags, *include, "-c", file, "-o", tmp_path / "out.o")


@pytest.mark.parametrize("name", NAMES)
def test_nothing_undefined(name: str, package: Packages, tmp_path: Path) -> None:
    if shutil.which("clang") is None:
        pytest.skip("clang is not installed")
    folder = package(name, "x86-64")
    include = f"-I{folder / 'include'}", f"-I{folder / 'runtime'}"
    files = sources(folder, "src", "test")
    program = tmp_path / "program"
    run("clang", "-std=c99", "-O1", "-g", *SANITIZE, *include, *files, "-o", program, "-lm")
    assert run(program).endswith("PASS\n")


@pytest.mark.parametrize("name", NAMES)
def test_pycparser_reads_it(name: str, package: Packages, tmp_path: Path) -> None:
    folder = package(name, "x86-64")
    for part in ("include", "runtime", "src"):
        shutil.copytree(folder / part, tmp_path, dirs_exist_ok=True)
    types = [f"{s}int{n}_t" for s in ("", "u") for n in (8, 16, 32, 64)]
    types += ["ptrdiff_t", "size_t", "uintptr_t"]
    declared = "".join(f"typedef int {one};\n" for one in types)
    text = preprocess("#define CCG_PLAIN 1\n" + (tmp_path / "program.c").read_text(), tmp_path)
    pycparser.CParser().parse(declared + text)


def test_same_bytes_in_each_process(tmp_path: Path) -> None:
    """Whatever the order of sets is. And no byte says where or when."""
    for name in ("lenet", "movement", "scan_with_swapped_carry", "reductions"):
        text = tmp_path / f"{name}.hlo"
        text.write_text(module(name).to_text())
        made = []
        for seed in ("1", "2"):
            folder = tmp_path / seed / name
            environment = {**os.environ, "PYTHONHASHSEED": seed}
            command = [sys.executable, "-c", _EXPORT, str(text), str(folder)]
            subprocess.run(command, check=True, env=environment)
            files = sorted(file for file in folder.rglob("*") if file.is_file())
            made.append({str(f.relative_to(folder)): f.read_bytes() for f in files})
        assert made[0] == made[1]
        assert not [n for n, data in made[0].items() if str(tmp_path).encode() in data]
