"""What units are compiled with, and a library for this process is linked with."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ccodegen.backend.build import build
from ccodegen.backend.compilers import find_compiler
from ccodegen.backend.options import BuildOptions
from ccodegen.backend.toolchain import link_flags, own_flags, unit_flags
from ccodegen.emit.table import emit_table
from ccodegen.emit.unit import POOL_HEADER
from ccodegen.hlo.text import parse
from ccodegen.support import runtime_c
from ccodegen.target import load
from tests.emit.c_compiler import write

HOST = load("host")
GCC = find_compiler(HOST)
ENTRY = "ccg_call"


def leaves_libc_out(flags: tuple[str, ...], *runtime: str) -> bool:
    return "-nostdlib" in link_flags(GCC, HOST, flags, runtime)


@pytest.mark.skipif(sys.platform != "linux" or GCC.words != ("gcc",), reason="gcc on Linux only")
def test_libc_is_left_to_the_process_where_any_version_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert leaves_libc_out(("-O3",), "ccg_base.h")
    assert leaves_libc_out(("-O3",), "ccg_base.h", POOL_HEADER)
    assert not leaves_libc_out(("-O3", "-fsanitize=address"), "ccg_base.h")
    monkeypatch.setattr(runtime_c, "_ADDED", {"own.h": "int own(void);"})
    assert not leaves_libc_out(("-O3",), "ccg_base.h")


def test_threads_of_32_bit_processors_need_functions_of_a_newer_version(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "maxsize", (1 << 31) - 1)
    links = link_flags(GCC, HOST, ("-O3",), ("ccg_base.h", POOL_HEADER))
    assert "-nostdlib" not in links and links[-1] == "-pthread"


@pytest.mark.skipif(GCC.words != ("gcc",), reason="gcc only")
def test_lines_of_tiles_are_copied_in_place(tmp_path: Path) -> None:
    text = """ENTRY e { x = f32[500,5] parameter(0)  y = f32[5,40] parameter(1)
        ROOT r = f32[500,40] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} }"""
    units = emit_table(build(parse(text), BuildOptions(HOST)).program, HOST).units
    (unit,) = [u for u in units if "ccg_tile_" in u.text and ENTRY in u.text]
    (source,) = write({unit.name: unit.text}, tmp_path)
    flags = (*HOST.compile_flags(False), *own_flags(GCC), *unit_flags(GCC, unit))
    command = [*GCC.words, *flags, "-S", str(source), "-o", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ENTRY in done.stdout
    assert not re.search(r"\b(memcpy|rep)\b", done.stdout)
