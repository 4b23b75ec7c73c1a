"""The units of a program for loading: some are complete before all kernels are made."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ccodegen.backend.build import build
from ccodegen.backend.options import BuildOptions, with_threads
from ccodegen.emit import effort, table
from ccodegen.emit.effort import Effort
from ccodegen.emit.source import Sources
from ccodegen.emit.table import TablePrinter, emit_table
from ccodegen.emit.unit import Unit, pool_unit, python_unit
from ccodegen.hlo.text import parse
from ccodegen.loop.ir import Kernel
from ccodegen.loop.steps import called_kernels
from ccodegen.support import runtime_c
from ccodegen.target import load
from tests.emit import programs
from tests.emit.c_compiler import assert_clean
from tests.ops.test_lapack_schur import geev

HOST = load("host")
PYTHON = python_unit(1)
ENTRY = "\nint ccg_call(void *const *table)\n"
# Products of matrices of many sizes are one kernel each.
SIZES = [8 * n for n in range(4, 20)]
TEXT = "\n".join(
    [
        "HloModule m\nENTRY e {\n  x0 = f32[32,32] parameter(0)",
        *(f"  w{n} = f32[{SIZES[n - 1]},{SIZES[n]}] parameter({n})" for n in range(1, len(SIZES))),
        *(
            f"  x{n} = f32[32,{SIZES[n]}] dot(x{n - 1}, w{n}), lhs_contracting_dims={{1}},"
            " rhs_contracting_dims={0}"
            for n in range(1, len(SIZES))
        ),
        f"  ROOT r = f32[32,{SIZES[-1]}] negate(x{len(SIZES) - 1})\n}}",
    ]
)


def product(depth: int) -> str:
    return f"""HloModule m
    ENTRY e {{
      x = f32[96,{depth}] parameter(0)
      y = f32[{depth},90] parameter(1)
      ROOT r = f32[96,90] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
    }}"""


def test_units_are_sent_while_kernels_are_made() -> None:
    sent: list[Unit] = []
    counts: list[int] = []
    printer = TablePrinter(HOST, False, sent.append)

    def made(kernel: Kernel) -> None:
        printer.add(kernel)
        counts.append(len(sent))

    program = build(parse(TEXT), BuildOptions(HOST), made).program
    assert len(counts) == len(called_kernels(program.steps)) >= 15
    assert counts[0] == 0
    assert counts[-1] >= 2
    units = printer.finish(program).units
    assert units == (*sent, PYTHON)
    assert units == emit_table(program, HOST).units
    entries = [unit for unit in units if ENTRY in unit.text]
    assert len(entries) == 1
    for unit in units[:-1]:
        assert unit in entries or unit.text.count("\nvoid jit_") < len(counts)


@pytest.mark.parametrize(("n", "shared"), [(1000000, True), (4, False)])
def test_a_program_with_hooks_has_no_function_for_python(n: int, shared: bool) -> None:
    text = f"""HloModule m
    ENTRY e {{
      t = token[] after-all()
      i = (f32[{n}], token[]) infeed(t), infeed_config="x"
      x = f32[{n}] get-tuple-element(i), index=0
      ROOT y = f32[{n}] exponential(x)
    }}"""
    target = with_threads(HOST, 2)
    units = emit_table(build(parse(text), BuildOptions(target)).program, target).units
    assert python_unit(2) not in units
    assert (pool_unit(2) in units) == shared


def test_kernels_with_little_work_that_loops_call_become_part_of_the_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What another unit has is called, and keeps a loop's state in memory."""
    monkeypatch.setattr(table, "_FEW_LINES", 0)
    units = emit_table(programs.counting(), HOST).units
    (hot,) = [unit.text for unit in units if unit.effort is Effort.MOST]
    (cold,) = [u.text for u in units if u.effort is Effort.LITTLE and u != PYTHON]
    assert ENTRY in hot
    assert "\nstatic void jit_" in hot
    assert "100.0f" not in hot
    assert "100.0f" in cold
    monkeypatch.setattr(effort, "_LITTLE_WORK", 0)
    *own, _ = emit_table(programs.counting(), HOST).units
    assert all(unit.effort is Effort.MOST for unit in own)


def test_a_program_of_little_work_is_one_unit() -> None:
    alone, python = emit_table(programs.counting(), HOST).units
    assert alone.effort is Effort.MOST
    assert ENTRY in alone.text
    assert python == PYTHON


@pytest.mark.parametrize(("n", "worth"), [(3, Effort.LITTLE), (30, Effort.MOST)])
def test_linear_algebra_is_worth_optimising_unless_it_is_small(n: int, worth: Effort) -> None:
    program = build(parse(geev("s", n, n)), BuildOptions(HOST)).program
    (unit,) = [unit for unit in emit_table(program, HOST).units if "ccg_geev_f32(" in unit.text]
    assert unit.effort is worth


def test_a_few_lines_go_with_those_that_are_hot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "_LITTLE_WORK", 50)
    alone, python = emit_table(programs.mlp(), HOST).units
    assert alone.effort is Effort.MOST
    assert python == PYTHON


@pytest.mark.parametrize(("n", "shared"), [(4096, True), (4, False)])
def test_the_threads_stand_apart_from_kernels_that_share_them(n: int, shared: bool) -> None:
    target = with_threads(HOST, 2)
    printer = TablePrinter(target, False)
    text = f"""HloModule m
    ENTRY e {{
      x = f32[{n},{n}] parameter(0)
      ROOT y = f32[{n},{n}] exponential(x)
    }}"""
    program = build(parse(text), BuildOptions(target), printer.add).program
    kernels, *others = printer.finish(program).units
    assert others == [python_unit(2)]
    declared = "extern const ccg_threads ccg_shared_threads;" in kernels.text
    assert declared == shared
    assert "pool.h" not in kernels.text


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_tiles_of_one_unit_are_another(
    compiler: str, strict: bool, threads: int, tmp_path: Path
) -> None:
    """With the numbers that all calls give them."""
    target = with_threads(HOST, threads)
    tile = r"(ccg_tile_f32_\w+)"
    program = build(parse(product(200)), BuildOptions(target, strict=strict)).program
    entry, tiles, _ = emit_table(program, target, strict).units
    (name,) = re.findall(rf'#include "{tile}\.h"', tiles.text)
    assert ENTRY in entry.text
    assert f"{name}(sums, " in entry.text
    assert f"{name}.h" not in entry.text
    assert re.search(rf"tile_of_{name}\(a0, a1, a2, a3, 200, 1, \w+, 200\);", tiles.text)
    assert all(("#define CCG_STRICT 1" in unit.text) == strict for unit in (entry, tiles))
    both = Sources({unit.name: unit.text for unit in (entry, tiles)}, runtime=())
    assert_clean(both, tmp_path, compiler)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_a_large_first_kernel_with_parts_is_two_units(compiler: str, tmp_path: Path) -> None:
    target = with_threads(HOST, 2)
    text = """HloModule m
    less { a = f32[] parameter(0)  b = f32[] parameter(1)
      ROOT r = pred[] compare(a, b), direction=LT }
    ENTRY e {
      x = f32[1000000] parameter(0)
      ROOT y = f32[1000000] sort(x), dimensions={0}, to_apply=less
    }"""
    sources = emit_table(build(parse(text), BuildOptions(target)).program, target)
    first, second = (unit for unit in sources.units if unit.effort is Effort.SOME)
    assert ENTRY in second.text
    apart = re.findall(r"^CCG_APART void (\w+)\(", first.text, re.MULTILINE)
    assert apart
    for name in apart:
        assert len(re.findall(rf"^void {name}\([^;]*;", second.text, re.MULTILINE)) == 1
    assert re.search(r"^CCG_APART static void \w+_turns", second.text, re.MULTILINE)
    assert 0.5 < len(first.text) / len(second.text) < 2
    both = Sources({unit.name: unit.text for unit in (first, second)}, runtime=())
    assert_clean(both, tmp_path, compiler)


def test_compilers_begin_with_a_large_first_kernel_while_the_next_is_made() -> None:
    text = """HloModule m
    ENTRY e {
      x = c64[512,512] parameter(0)
      ROOT y = c64[512,512] fft(x), fft_type=FFT, fft_length={512,512}
    }"""
    sent: list[Unit] = []
    counts: list[int] = []
    printer = TablePrinter(HOST, False, sent.append)

    def made(kernel: Kernel) -> None:
        counts.append(len(sent))
        printer.add(kernel)

    program = build(parse(text), BuildOptions(HOST), made).program
    assert counts == [0, 1]
    first, second, _ = printer.finish(program).units
    assert ENTRY in second.text
    assert first.effort is second.effort is Effort.SOME


def test_kernels_worth_less_optimising_are_units_of_their_own() -> None:
    text = """HloModule m
    ENTRY e {
      x = f32[64,64] parameter(0)
      product = f32[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      y = c64[96,96] parameter(1)
      spectrum = c64[96,96] fft(y), fft_type=FFT, fft_length={96,96}
      ROOT r = (f32[64,64], c64[96,96]) tuple(product, spectrum)
    }"""
    units = emit_table(build(parse(text), BuildOptions(HOST)).program, HOST).units
    of_product = [unit.effort for unit in units if "ccg_tile" in unit.text]
    of_spectrum = [unit.effort for unit in units if re.search(r"spectrum\w*\([^;]*\{", unit.text)]
    assert of_product == [Effort.MOST]
    assert set(of_spectrum) == {Effort.SOME}


def test_no_kernel_has_the_name_of_a_function_of_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime_c, "_FUNCTIONS", {"jit_dot"})
    text = "".join(unit.text for unit in emit_table(programs.mlp(), HOST).units)
    assert "jit_dot(" not in text
    assert "void jit_dot_2(" in text
