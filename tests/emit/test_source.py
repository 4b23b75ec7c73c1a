"""Printed programs: the text people read, warnings, pycparser, names from outside."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pycparser
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ccodegen.emit.source import emit
from ccodegen.loop.builder import Builder
from ccodegen.loop.ir import Argument, Program
from ccodegen.support.c_preprocessor import preprocess
from ccodegen.support.element_type import ElementType
from ccodegen.support.errors import InputError
from ccodegen.target import load
from tests.emit import programs
from tests.emit.c_compiler import assert_clean, write

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
PROGRAMS = (programs.mlp, programs.counting, programs.conjugate, lambda: programs.adding(9))
EVIL = ("*/ int x; /*", '"; }', "a\nb", "\\", "??/", "float", "INT_MAX", "ccg_base", "_Bool", "π")


@pytest.mark.parametrize("make", PROGRAMS)
def test_golden(make: Callable[[], Program], request: pytest.FixtureRequest) -> None:
    program = make()
    sources = emit(program, load("x86-64"), program.name, input_hash="0123456789abcdef")
    text = "\n".join(f"==== {name} ====\n{text}" for name, text in sources.files.items())
    path = GOLDEN / f"{program.name}.txt"
    if request.config.getoption("--update-golden"):
        path.write_text(text)
    assert text == path.read_text(), "see the difference, then run pytest --update-golden"


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("make", PROGRAMS)
def test_no_warnings(make: Callable[[], Program], compiler: str, tmp_path: Path) -> None:
    program = make()
    for strict in (False, True):
        sources = emit(program, load("x86-64"), program.name, strict)
        assert_clean(sources, tmp_path, compiler)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_every_operator_of_every_type_compiles_without_warnings(
    compiler: str, tmp_path: Path
) -> None:
    sources = emit(programs.every_operator(), load("x86-64"), "every")
    assert_clean(sources, tmp_path, compiler, ["-O0"])


@pytest.mark.parametrize("make", [*PROGRAMS, programs.every_operator])
def test_pycparser_reads_it_with_empty_macros(make: Callable[[], Program], tmp_path: Path) -> None:
    program = make()
    for file in write(emit(program, load("x86-64"), program.name).files, tmp_path):
        text = preprocess(file.read_text(), tmp_path)
        types = "ptrdiff_t size_t " + " ".join(f"{s}int{n}_t" for s in ("", "u") for n in (8, 16))
        types += " int32_t uint32_t int64_t uint64_t uintptr_t"
        declared = "".join(f"typedef int {name};\n" for name in types.split())
        pycparser.CParser().parse(declared + text)


def test_same_bytes_each_time() -> None:
    first, second = (emit(programs.mlp(), load("host"), "mlp").files for _ in range(2))
    assert dict(first) == dict(second)
    assert list(first) == list(second)


def test_header_is_cpp_and_alone(tmp_path: Path) -> None:
    sources = emit(programs.adding(9), load("x86-64"), "adding")
    write(sources.files, tmp_path)
    for compiler, name in (("g++", "a.cpp"), ("gcc", "a.c")):
        (tmp_path / name).write_text('#include "adding.h"\n#include "adding.h"\n')
        flags = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only"]
        subprocess.run([compiler, *flags, tmp_path / name], check=True)


def test_more_than_eight_buffers_go_in_a_struct() -> None:
    header = emit(programs.adding(8), load("x86-64"), "adding").files["include/adding.h"]
    assert "int adding_run(const struct adding_args *args, void *arena);" in header
    header = emit(programs.adding(7), load("x86-64"), "adding").files["include/adding.h"]
    assert "float *y, void *arena);" in header


def test_donated_argument_is_one_pointer_that_is_written() -> None:
    header = emit(programs.counting(), load("x86-64"), "count").files["include/count.h"]
    assert "int count_run(float *n, const int32_t *pick, void *arena);" in header
    assert "n     in-out  f32[]" in header


def test_kernels_have_origins_and_the_prefix() -> None:
    source = emit(programs.mlp(), load("x86-64"), "mlp").files["src/mlp.c"]
    assert "/* dot.1, model.py:12 */\nstatic void mlp_dot(" in source
    functions = re.findall(r"^(?:static )?\w+ (\w+)\(", source, re.MULTILINE)
    assert all(name.startswith("mlp_") for name in functions)


@pytest.mark.parametrize("prefix", ["", "2x", "int", "class", "math", "ccg_x", "a-b", "x" * 30])
def test_unusable_prefixes_are_errors(prefix: str) -> None:
    with pytest.raises(InputError, match="prefix"):
        emit(programs.mlp(), load("x86-64"), prefix)


def _named(name: str) -> Program:
    """A program in which everything is called so."""
    x, y = (programs.argument(name, ElementType.F32, 2) for _ in range(2))
    b = Builder()
    b.note(name)
    with b.loop(2, "for") as i:
        b.store(y, (i,), b.let(b.load(x, (i,)), "double"))
    program = programs.one_kernel(name, (x,), y, b)
    kernel = replace(program.kernels[0], name=name, origin=name)
    call = replace(program.steps[0], kernel=kernel, origin=name)
    arguments = (Argument(name, x, 0), Argument(name, y, None, 0))
    return replace(
        program, kernels=(kernel,), steps=(call,), arguments=arguments, signature=name, name=name
    )


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_names_from_outside_stay_outside(compiler: str, tmp_path: Path) -> None:
    for number, name in enumerate([*EVIL, "".join(EVIL)]):
        sources = emit(_named(name), load("x86-64"), f"evil{number}")
        assert_clean(sources, tmp_path, compiler, ["-O0", "-Wcomment", "-trigraphs"])


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=60))
def test_any_name_leaves_the_same_code(name: str) -> None:
    """But for comments, a name from outside changes only names."""
    plain, other = (_skeleton(_named(n)) for n in ("plain", name))
    assert other == plain


def _skeleton(program: Program) -> list[str]:
    """The source's tokens, with one word for all identifiers."""
    text = emit(program, load("x86-64"), "p").files["src/p.c"]
    assert text.isascii()
    assert "??" not in text
    text = re.sub(r"/\*.*?\*/|0x[0-9a-f]{8}\b", "", text, flags=re.DOTALL)
    return ["name" if token[0].isalpha() else token for token in re.findall(r"\w+|[^\w\s]", text)]
