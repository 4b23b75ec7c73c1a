"""What a library for this process is linked with."""

from __future__ import annotations

import sys

import pytest

from ccodegen.backend.compilers import find_compiler
from ccodegen.backend.toolchain import link_flags
from ccodegen.emit.unit import POOL_HEADER
from ccodegen.support import runtime_c
from ccodegen.target import load

HOST = load("host")
GCC = find_compiler(HOST)


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
