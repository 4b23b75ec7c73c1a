"""Loops over f16 in blocks of f32: the same bits, where an instruction converts lines of them."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ccodegen
from ccodegen.backend.build import Build
from ccodegen.emit import runtime
from ccodegen.loop.builder import apply, const, index
from ccodegen.loop.ir import Buffer, CallC, For, Let, Load, LoopKind, Space, Store, Var
from ccodegen.loop.parts import applied
from ccodegen.loop.rebuild import expressions, statements
from ccodegen.loop.widen_halves import widen_halves
from ccodegen.support.element_type import ElementType
from ccodegen.target import load
from tests.emit.test_tile import runs_here
from tests.runtime_c.compiled import WARNINGS, call
from tests.runtime_c.test_half import assert_same_bits, floats, patterns
from tests.three_ways import check, plain_target

F16 = ElementType.F16


TARGET = replace(plain_target(), machine=replace(plain_target().machine, converts_f16=True))


def widened(text: str, *arguments: Any, strict: bool = False) -> int:
    """Whether the program is right, and how many lines are converted in it."""
    built = check(text, *arguments, target=TARGET, strict=strict)
    return calls(built, "ccg_widen_f16") + calls(built, "ccg_narrow_f16")


def calls(built: Build, function: str) -> int:
    return sum(str(k.body).count(function) for k in built.program.kernels)


def mapped(operators: str, shape: str) -> str:
    return f"""ENTRY e {{ x = f16[{shape}] parameter(0)  y = f16[{shape}] parameter(1)
      p = pred[{shape}] compare(x, y), direction=LT
      {operators.replace("$", f"[{shape}]")} }}"""


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("shape", ["32", "255", "256", "257", "1000", "7,300", "2,1,3,2,2,64"])
def test_sizes(shape: str, strict: bool) -> None:
    text = mapped("s = f16$ multiply(x, y)  ROOT r = f16$ add(s, x)", shape)
    assert widened(text, strict=strict) == 3


@pytest.mark.parametrize(
    ("operators", "count"),
    [
        ("ROOT r = f16$ maximum(x, y)", 3),
        ("ROOT r = f16$ negate(x)", 2),
        ("ROOT r = f32$ convert(x)", 1),
        ("f = f32$ convert(x)  e = f32$ exponential(f)  ROOT r = f16$ convert(e)", 2),
        ("i = s32$ convert(x)  ROOT r = f16$ convert(i)", 2),
        ("s = f16$ select(p, x, y)  ROOT r = f16$ add(s, s)", 3),
        ("a = f16$ add(x, y)  ROOT r = f16$ select(p, a, x)", 3),
        ("a = f16$ add(x, y)  b = f16$ tanh(a)  c = f16$ multiply(a, b)"
         " d = f16$ multiply(a, c)  ROOT r = f16$ select(p, c, d)", 3),
        ("a = f16$ add(x, y)  b = f16$ tanh(a)  c = f16$ select(p, b, a)"
         "  d = f16$ multiply(c, c)  ROOT r = (f16$, f16$) tuple(c, d)", 4),
        ("ROOT r = pred$ is-finite(x)", 1),
        ("ROOT r = f16$ select(p, x, y)", 2),
        ("ROOT r = f16$ copy(x)", 0),
        ("b = u16$ bitcast-convert(x)  ROOT r = u16$ add(b, b)", 0),
        ("k = f16[] constant(-1.5)  c = f16$ broadcast(k), dimensions={}"
         " ROOT r = f16$ subtract(c, x)", 2),
        ("v = f16$ reverse(x), dimensions={0}  ROOT r = f16$ add(v, y)", 2),
    ],
)  # fmt: skip
def test_operators(operators: str, count: int) -> None:
    assert widened(mapped(operators, "333")) == count


def test_names_of_what_is_read_and_of_choices_between_it_hold_f32s() -> None:
    text = mapped(
        "n = f16$ negate(y)  s = f16$ select(p, x, n)  t = f16$ tanh(s)"
        " a = f16$ multiply(t, s)  ROOT r = f16$ add(a, x)",
        "333",
    )
    (kernel,) = check(text, target=TARGET).program.kernels
    types = {s.var.type for s in statements(kernel.body) if isinstance(s, Let)}
    assert ElementType.F32 in types
    assert F16 not in types


def test_padding() -> None:
    text = """ENTRY e { x = f16[3,500] parameter(0)  z = f16[] constant(0)
      p = f16[3,510] pad(x, z), padding=0_0x10_0  ROOT r = f16[3,510] exponential(p) }"""
    assert widened(text) >= 1


def test_what_a_turn_reads_on_a_condition_or_behind_its_store_stays() -> None:
    i, (x, y) = Var("i"), [Buffer(name, F16, (100,), Space.ARGUMENT) for name in "xy"]
    value = Load(x, (i,))
    doubled = apply("add", value, value)
    later = Store(x, (i,), apply("multiply", value, Load(y, (i,))))
    inside = apply("compare-lt", i, index(50), type=ElementType.PRED)
    chosen = apply("select", inside, doubled, const(F16, 0))

    def converted(*body: Store) -> list[str]:
        """The lines that are read and written as f32."""
        widened = widen_halves((For(i, 100, body, LoopKind.VECTOR),), lambda hint: hint, 16)
        calls = [s for s in statements(widened) if isinstance(s, CallC)]
        return [b.name for call in calls for b in call.buffers if b.type is F16]

    assert converted(Store(y, (i,), doubled)) == ["x", "y"]
    assert converted(Store(y, (i,), chosen)) == ["y"]
    assert converted(Store(x, (i,), doubled)) == ["x", "x"]
    assert converted(Store(y, (i,), doubled), later) == ["x", "x"]
    assert converted(Store(y, (i,), doubled), Store(y, (i,), doubled)) == ["x"]
    assert converted(Store(x, (apply("subtract", index(99), i),), doubled)) == []


def test_special_values() -> None:
    bits = patterns(F16).view(np.float16)
    for operator in ("add", "multiply", "subtract", "divide"):
        shape = str(bits.size)
        assert widened(mapped(f"ROOT r = f16$ {operator}(x, y)", shape), bits, bits[::-1]) == 3


def test_rows_sums_and_threads() -> None:
    text = """add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
    ENTRY e { x = f16[90,1000] parameter(0)  f = f32[90,1000] convert(x)  z = f32[] constant(0)
      t = f32[90] reduce(f, z), dimensions={1}, to_apply=add
      b = f32[90,1000] broadcast(t), dimensions={0}
      d = f32[90,1000] divide(f, b)  ROOT r = f16[90,1000] convert(d) }"""
    assert widened(text) >= 1
    x = np.random.default_rng(0).random((90, 1000)).astype(np.float16)
    results = [np.asarray(ccodegen.compile(text, threads=n)(x)) for n in (1, 2, 3)]
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize(
    "flags", ["-DCCG_PLAIN", "-mf16c -mavx2 -O3", "-mf16c -mavx512f -O3", "-march=native -O2"]
)
def test_lines_are_converted_as_one_is(flags: str, compiler: str, tmp_path: Path) -> None:
    sizes = "ptrdiff_t first, ptrdiff_t count, ptrdiff_t size"
    functions = {
        f"widen(float *y, const uint16_t *x, {sizes})": "ccg_widen_f16(y, x, first, count, size)",
        f"narrow(uint16_t *y, const float *x, {sizes})":
            "(void)size, ccg_narrow_f16(y, x, first, count)",
        f"nearest(float *y, const float *x, {sizes})":
            "(void)first, memcpy(y, x, (size_t)size * 4), ccg_round_f16(y, count)",
    }
    source = '#include "ccg_half_lines.h"\n'
    for given, text in functions.items():
        source += f"void run_{given};\nvoid run_{given} {{ {text}; }}\n"
    for file, text in runtime.closure(["ccg_half_lines.h"]).items():
        (tmp_path / file).write_text(text)
    (tmp_path / "lines.c").write_text(source)
    command = [compiler, *WARNINGS.split(), *flags.split(), "-shared", "-fPIC"]
    command += [str(tmp_path / "lines.c"), "-o", str(tmp_path / "lines.so")]
    subprocess.run(command, check=True)
    if not runs_here(flags):
        pytest.skip(f"this machine has not all of {flags}")
    library = ctypes.CDLL(str(tmp_path / "lines.so"))

    def run(name: str, y: Any, x: Any, *sizes: int) -> None:
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in (y, x)]
        library[f"run_{name}"](*pointers, *map(ctypes.c_ssize_t, sizes))

    bits, x = patterns(F16), floats(F16, np.float32)
    expected = call("ccg_f32_from_f16", bits).view(np.uint32)
    rounded = call("ccg_f16_from_f32", x)
    for count in (0, 1, 4, 5, 7, 8, 9, 15, 16, 17, 30, 31, 40, bits.size - 10):
        wide = np.zeros(bits.size, np.float32)
        run("widen", wide, bits, 3, count, count + 7)
        np.testing.assert_array_equal(wide[:count].view(np.uint32), expected[3 : 3 + count])
        assert (wide[count : count + 7] == 1).all() and not wide[count + 7 :].any()
    for count in (0, 1, 4, 5, 7, 8, 9, 15, 16, 17, 30, 31, 40, x.size - 2):
        half = np.zeros(x.size + 5, np.uint16)
        run("narrow", half, x, 5, count, count)
        assert_same_bits(half[5 : 5 + count], rounded[:count], F16)
        assert not half[:5].any() and not half[5 + count :].any()
        nearest = np.zeros(x.size, np.float32)
        run("nearest", nearest, x, 0, count, x.size)
        exact = call("ccg_f32_from_f16", rounded[:count])
        np.testing.assert_array_equal(nearest[:count].view(np.uint32), exact.view(np.uint32))
        np.testing.assert_array_equal(nearest[count:], x[count:])


COMPARED = """
#include <stdio.h>
#include "ccg_half_lines.h"
enum { SIZE = 1 << 16 };
static float wide[SIZE], lines[SIZE];
static uint16_t half[SIZE], narrow[SIZE];

int main(void)
{
    unsigned wrong = 0;
    for (uint32_t part = 0; part < 300; ++part) {
        const ptrdiff_t count = part < 40 ? (ptrdiff_t)part : SIZE - 4;
        for (uint32_t i = 0; i < SIZE; ++i) {
            half[i] = (uint16_t)i;
            wide[i] = lines[i] = ccg_f32_bits(part % 2 ? i << 16 | part * 219u : i << 13 | part);
        }
        ccg_round_f16(lines, count);
        ccg_narrow_f16(narrow, wide, 3, count);
        for (ptrdiff_t i = 0; i < count; ++i) {
            const float nearest = ccg_nearest_f16(wide[i]);
            const float one = ccg_one_nearest_f16(wide[i]);
            wrong += ccg_bits_f32(lines[i]) != ccg_bits_f32(nearest);
            wrong += ccg_bits_f32(one) != ccg_bits_f32(nearest);
            wrong += narrow[i + 3] != ccg_f16_from_f32(wide[i]);
            wrong += narrow[i + 3] != ccg_one_f16_from_f32(wide[i]);
        }
        wrong += ccg_bits_f32(lines[count]) != ccg_bits_f32(wide[count]);
        ccg_widen_f16(lines, half, 1, count, count + 2);
        for (ptrdiff_t i = 0; i < count; ++i) {
            const uint32_t bits = ccg_bits_f32(ccg_f32_from_f16(half[i + 1]));
            wrong += ccg_bits_f32(lines[i]) != bits;
            wrong += ccg_bits_f32(ccg_one_f32_from_f16(half[i + 1])) != bits;
        }
        wrong += lines[count] != 1 || lines[count + 1] != 1;
    }
    printf("%u wrong", wrong);
    return 0;
}
"""


@pytest.mark.parametrize("flags", ["-O2", "-O3 -DCCG_PLAIN"])
def test_lines_on_arm_are_converted_as_one_is(flags: str, tmp_path: Path) -> None:
    compiler, emulator = "aarch64-linux-gnu-gcc", "qemu-aarch64"
    if missing := [tool for tool in (compiler, emulator) if shutil.which(tool) is None]:
        pytest.skip(f"needs {', '.join(missing)}")
    for file, text in runtime.closure(["ccg_half_lines.h"]).items():
        (tmp_path / file).write_text(text)
    (tmp_path / "lines.c").write_text(COMPARED)
    command = [compiler, *WARNINGS.split(), *flags.split(), "-static", "lines.c", "-o", "lines"]
    subprocess.run(command, check=True, cwd=tmp_path)
    done = subprocess.run([emulator, "lines"], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout == "0 wrong"


def test_a_row_that_memory_tells() -> None:
    """Its start is read once, before the loop."""
    text = """ENTRY e { x = f16[20,300] parameter(0)  i = s32[] parameter(1)  z = s32[] constant(0)
      d = f16[1,300] dynamic-slice(x, i, z), dynamic_slice_sizes={1,300}
      ROOT s = f32[1,300] convert(d) }"""
    x = np.random.default_rng(1).normal(size=(20, 300)).astype(np.float16)
    for row in (-5, 0, 17, 30):
        assert widened(text, x, np.int32(row)) == 1


def test_only_where_there_is_the_instruction() -> None:
    text = mapped("ROOT r = f16$ add(x, y)", "500")
    for name, has in (("x86-64", True), ("arm64", True), ("cortex-m4", False)):
        built = check(text, target=load(name))
        assert ("ccg_half_lines.h" in str(built.program.kernels[0].body)) == has


def test_lines_of_local_arrays() -> None:
    """Of rows side by side: what a row has one of is rounded once, before its elements."""
    text = """max { a = f16[] parameter(0)  b = f16[] parameter(1)  ROOT c = f16[] maximum(a, b) }
    add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
    ENTRY e { x = f16[300,40] parameter(0)  least = f16[] constant(-inf)  zero = f32[] constant(0)
      m = f16[300] reduce(x, least), dimensions={1}, to_apply=max
      most = f16[300,40] broadcast(m), dimensions={0}  s = f16[300,40] subtract(x, most)
      w = f16[300,40] exponential(s)  v = f32[300,40] convert(w)
      t = f32[300] reduce(v, zero), dimensions={1}, to_apply=add  n = f16[300] convert(t)
      total = f16[300,40] broadcast(n), dimensions={0}  ROOT y = f16[300,40] divide(w, total) }"""
    wide = replace(TARGET, machine=replace(TARGET.machine, vector_bytes=64, vector_registers=32))
    built = check(text, target=wide)
    assert calls(built, "ccg_widen_f16") > 0
    for kernel in built.program.kernels:
        converted = [a for a in applied(*expressions(kernel.body)) if a.operator == "convert"]
        read = [x for a in converted for x in a.arguments if isinstance(x, Load | Var)]
        assert not any(x.type is F16 for x in read)


@pytest.mark.parametrize("shape", ["9", "255", "1000", "7,30"])
def test_what_lies_in_an_array_is_narrowed_from_there(shape: str) -> None:
    text = f"ENTRY e {{ x = f32[{shape}] parameter(0)  ROOT h = f16[{shape}] convert(x) }}"
    built = check(text, target=TARGET, strict=True)
    assert calls(built, "ccg_narrowed_f16") == 1 and calls(built, "ccg_narrow_f16") == 0
    text = f"""ENTRY e {{ x = f32[{shape}] parameter(0)  y = f16[{shape}] parameter(1)
      h = f16[{shape}] convert(x)  s = f16[{shape}] add(h, y)
      ROOT t = (f16[{shape}], f16[{shape}]) tuple(h, s) }}"""
    assert calls(check(text, target=TARGET, strict=True), "ccg_narrowed_f16") == 0
