"""Packages: their C is clean under gcc and clang, and their tests pass where the target runs."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ccodegen.package import export
from ccodegen.support.errors import InputError, UnsupportedError

PROGRAM = """HloModule step
ENTRY main {
  x = f32[4,8] parameter(0)
  w = f32[8,16] parameter(1)
  half = f16[3] parameter(2)
  c = c64[2] parameter(3)
  count = s32[5] parameter(4)
  d = f32[4,16] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  e = f32[4,16] exponential(d)
  y = f32[4,8] multiply(x, x)
  half2 = f16[3] add(half, half)
  cc = c64[2] multiply(c, c)
  twice = s32[5] add(count, count)
  ROOT t = (f32[4,16], f32[4,8], f16[3], c64[2], s32[5]) tuple(e, y, half2, cc, twice)
}
"""
WIDE = "ENTRY e { x = f32[99999] parameter(0)\n ROOT y = f32[99999] exponential(x) }"
PRODUCT = """ENTRY e {
  x = f32[250,300] parameter(0)
  y = f32[300,190] parameter(1)
  ROOT r = f32[250,190] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}"""
WEIGHTS: dict[int | str, Any] = {
    "w": np.random.default_rng(0).standard_normal((8, 16)).astype(np.float32)
}
MODES: list[dict[str, Any]] = [{}, {"strict": True, "donate": (0,)}, {"weights_binary": True}]
MODES += [{"threads": True}, {"threads": True, "weights_binary": True}]
IDS = ["default", "strict", "binary", "threads", "threads-binary"]
WERROR = "WARNINGS=-pedantic -Wall -Wextra -Wconversion -Wshadow -Wmissing-prototypes -Werror"


def needs(*commands: str) -> None:
    for command in commands:
        if shutil.which(command) is None:
            pytest.skip(f"{command} is not installed")


def make(folder: Path, *settings: str) -> str:
    """What `make test` prints."""
    command = ["timeout", "120", "make", "-s", "-C", str(folder), "test", WERROR, *settings]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("types", ["s8 s32", "bf16 f32"])
def test_code_for_this_machine_runs_in_a_process_of_its_own(types: str, tmp_path: Path) -> None:
    """One that has asked the system for nothing."""
    given, made = types.split()
    product = f"""ENTRY e {{ x = {given}[64,128] parameter(0)  y = {given}[128,64] parameter(1)
  ROOT r = {made}[64,64] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}} }}"""
    export(f"HloModule m\n{product}", target="host", directory=tmp_path)
    assert "PASS" in make(tmp_path)


def contents(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@pytest.mark.parametrize("text", [WIDE, PRODUCT])
def test_a_package_for_threads_shares_its_large_loops(text: str, tmp_path: Path) -> None:
    needs("gcc", "make")
    export(text, "x86-64", "wide", tmp_path, threads=True)
    assert "ccg_in_parts(threads, " in (tmp_path / "src/wide.c").read_text()
    assert '#include "ccg_threads.h"' in (tmp_path / "include/wide.h").read_text()
    assert (tmp_path / "include/ccg_threads.h").is_file()
    assert make(tmp_path, "CC=gcc").endswith("PASS\n")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("mode", MODES, ids=IDS)
def test_package_runs_here(mode: dict[str, Any], compiler: str, tmp_path: Path) -> None:
    needs(compiler)
    export(PROGRAM, "x86-64", "step", tmp_path / "out", WEIGHTS, **mode)
    printed = make(tmp_path / "out", f"CC={compiler}")
    assert printed.endswith("PASS\n")
    assert printed.count("\n") == 6


@pytest.mark.parametrize(
    ("target", "tools"),
    [
        ("arm64", ("aarch64-linux-gnu-gcc", "qemu-aarch64")),
        ("cortex-m4", ("arm-none-eabi-gcc", "qemu-system-arm")),
    ],
)
@pytest.mark.parametrize("mode", MODES[:3], ids=IDS[:3])
def test_package_runs_under_emulator(
    target: str, tools: tuple[str, ...], mode: dict[str, Any], tmp_path: Path
) -> None:
    needs(*tools)
    export(PROGRAM, target, "step", tmp_path / "out", WEIGHTS, **mode)
    assert make(tmp_path / "out").endswith("PASS\n")


def test_package_without_test(tmp_path: Path) -> None:
    needs("gcc", "make", "cmake")
    export(PROGRAM, "x86-64", "step", tmp_path / "out", WEIGHTS, test=False)
    command = ["make", "-s", "-C", str(tmp_path / "out")]
    assert subprocess.run(command, capture_output=True).returncode == 0
    done = subprocess.run([*command, "test"], capture_output=True, text=True)
    assert done.returncode != 0
    assert "this package has no test" in done.stderr
    build = ["cmake", "-S", str(tmp_path / "out"), "-B", str(tmp_path / "cmake")]
    assert subprocess.run(build, capture_output=True).returncode == 0


def test_wrong_code_fails_its_test(tmp_path: Path) -> None:
    needs("gcc")
    export(PROGRAM, "x86-64", "step", tmp_path / "out", WEIGHTS)
    source = tmp_path / "out" / "src" / "step.c"
    text = source.read_text()
    assert "x[" in text
    source.write_text(text.replace("x[", "1.5f * x[", 1))
    done = subprocess.run(
        ["make", "-s", "-C", str(tmp_path / "out"), "test"], capture_output=True, text=True
    )
    assert done.returncode != 0
    assert "wrong" in done.stdout
    assert done.stdout.endswith("FAIL\n")


def test_cmake_builds_and_tests(tmp_path: Path) -> None:
    needs("cmake", "gcc", "make")
    export(PROGRAM, "x86-64", "step", tmp_path / "out", WEIGHTS)
    build = str(tmp_path / "build")
    for command in (
        ["cmake", "-S", str(tmp_path / "out"), "-B", build],
        ["cmake", "--build", build],
        ["ctest", "--test-dir", build],
    ):
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_header_is_c_plus_plus_too(tmp_path: Path) -> None:
    needs("g++")
    export(PROGRAM, "x86-64", "step", tmp_path / "out", WEIGHTS)
    user = tmp_path / "user.cpp"
    user.write_text('#include "step.h"\nint main() { return STEP_ARENA_ALIGN == 0; }\n')
    include = f"-I{tmp_path / 'out' / 'include'}"
    subprocess.run(["g++", "-Wall", "-Werror", "-fsyntax-only", include, str(user)], check=True)


def test_same_input_same_bytes(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        export(PROGRAM, "cortex-m4", "step", tmp_path / folder, WEIGHTS)
    first = contents(tmp_path / "a")
    assert first == contents(tmp_path / "b")
    assert not any(str(tmp_path).encode() in data for data in first.values())


def test_report_says_what_there_is(tmp_path: Path) -> None:
    made = export(PROGRAM, "cortex-m4", "step", tmp_path / "out", WEIGHTS)
    facts = json.loads((tmp_path / "out" / "report.json").read_text())
    assert facts["files"] == sorted(contents(tmp_path / "out"))
    assert facts["constants"] == made.constants == 8 * 16 * 4
    assert facts["arena"] == made.arena >= facts["lower_bound"]
    assert [a["direction"] for a in facts["arguments"]].count("in") == 4
    header = (tmp_path / "out" / "include" / "step.h").read_text()
    assert f"#define STEP_ARENA_SIZE {made.arena}u" in header


def test_only_the_runtime_that_is_needed(tmp_path: Path) -> None:
    export("HloModule m\nENTRY e { ROOT x = s32[2] parameter(0) }", "x86-64", "m", tmp_path / "out")
    assert "runtime/ccg_base.h" in contents(tmp_path / "out")
    assert "runtime/ccg_math_f32.h" not in contents(tmp_path / "out")


def test_weights_apart_in_the_byte_order_of_the_target(tmp_path: Path) -> None:
    export(PROGRAM, "cortex-m4", "step", tmp_path / "out", WEIGHTS, weights_binary=True)
    data = (tmp_path / "out" / "step_weights.bin").read_bytes()
    np.testing.assert_array_equal(np.frombuffer(data, "<f4").reshape(8, 16), WEIGHTS["w"])
    assert not (tmp_path / "out" / "src" / "step_weights.c").exists()


def test_many_arguments_come_in_a_struct(tmp_path: Path) -> None:
    needs("gcc")
    lines = [f"  p{n} = f32[2] parameter({n})" for n in range(9)]
    sums = [f"  s{n} = f32[2] add({'s' if n > 1 else 'p'}{n - 1}, p{n})" for n in range(1, 9)]
    text = "\n".join(["HloModule m", "ENTRY e {", *lines, *sums, "  ROOT r = f32[2] negate(s8)"])
    export(text + "\n}\n", "x86-64", "sums", tmp_path / "out")
    assert "struct sums_args {" in (tmp_path / "out" / "include" / "sums.h").read_text()
    assert make(tmp_path / "out").endswith("PASS\n")


def test_files_of_before_are_replaced_and_others_stay(tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "src").mkdir(parents=True)
    (out / "src" / "step.c").write_text("old")
    (out / "mine.txt").write_text("mine")
    export(PROGRAM, "x86-64", "step", out, WEIGHTS)
    assert (out / "src" / "step.c").read_text() != "old"
    assert (out / "mine.txt").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("name", ["", "int", "1x", "a b", "a/../b", "ccg_x", "stdio", "x" * 30])
def test_bad_names(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="prefix"):
        export(PROGRAM, "x86-64", name, tmp_path / "out", WEIGHTS)
    assert not (tmp_path / "out").exists()


def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write the folder"):
        export(PROGRAM, "x86-64", "step", tmp_path / "file" / "out", WEIGHTS)
    with pytest.raises(InputError, match="cannot write the folder"):
        export(PROGRAM, "x86-64", "step", tmp_path / "file", WEIGHTS)
    assert (tmp_path / "file").read_text() == ""


def test_unsupported_program_writes_nothing(tmp_path: Path) -> None:
    text = "HloModule m\nENTRY e { x = f32[2]{0} parameter(0)\n ROOT r = f32[2] custom-call(x), "
    text += 'custom_call_target="no_such_function" }'
    with pytest.raises((UnsupportedError, InputError)):
        export(text, "x86-64", "m", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_names_that_would_break_out_of_c(compiler: str, tmp_path: Path) -> None:
    needs(compiler)
    hostile = r"*/ int evil; /* ??/ \" \\ \n #include \"x\" %s"
    lines = ["HloModule int.main", "ENTRY while.1 {"]
    for number, name in enumerate(("int", "main", "memory", "given_x", "step_run", "NULL", "I")):
        metadata = f'metadata={{op_name="{hostile}" source_file="{hostile}" source_line=1}}'
        lines.append(f"  {name} = f32[3] parameter({number}), {metadata}")
    lines += ["  a = f32[3] add(int, main)", "  b = f32[3] add(memory, given_x)"]
    lines += ["  c = f32[3] add(step_run, NULL)", "  d = f32[3] add(a, b)"]
    lines += ["  e = f32[3] add(c, I)", f"  ROOT f = f32[3] add(d, e), {metadata}", "}"]
    export("\n".join(lines), "x86-64", "step", tmp_path / "out")
    assert make(tmp_path / "out", f"CC={compiler}").endswith("PASS\n")
