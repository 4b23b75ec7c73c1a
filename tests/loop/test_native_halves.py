"""Loops over f16 in f16 itself: the same bits, where the processor computes in it and where not."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ccodegen.backend.build import Build
from ccodegen.emit import runtime
from ccodegen.loop.operators import IN_HALVES, OPERATORS, computes_in_halves, evaluate
from ccodegen.loop.parts import applied
from ccodegen.loop.rebuild import expressions
from ccodegen.support.element_type import ElementType
from ccodegen.target import load
from tests.runtime_c.compiled import WARNINGS
from tests.runtime_c.test_half import assert_same_bits, patterns
from tests.three_ways import check, plain_target

F16 = ElementType.F16
MACHINE = replace(plain_target().machine, converts_f16=True, computes_f16=True)
TARGET = replace(plain_target(), machine=MACHINE)


def natives(built: Build) -> list[str]:
    """The operators that are computed in f16."""
    bodies = [kernel.body for kernel in built.program.kernels]
    found = [a.operator for body in bodies for a in applied(*expressions(body))]
    return sorted(o for o in found if computes_in_halves(o))


def mapped(operators: str, shape: str = "300") -> str:
    return f"""ENTRY e {{ x = f16[{shape}] parameter(0)  y = f16[{shape}] parameter(1)
      p = pred[{shape}] compare(x, y), direction=LT
      c0 = f16[] constant(0)  zero = f16[{shape}] broadcast(c0), dimensions={{}}
      c1 = f16[] constant(-1.5)  k = f16[{shape}] broadcast(c1), dimensions={{}}
      {operators.replace("$", f"[{shape}]")} }}"""


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("operators", "found"),
    [
        ("s = f16$ multiply(x, y)  ROOT r = f16$ add(s, x)", ["add", "multiply"]),
        ("s = f16$ divide(x, y)  ROOT r = f16$ subtract(k, s)", ["divide", "subtract"]),
        ("a = f16$ abs(x)  ROOT r = f16$ sqrt(a)", ["abs", "sqrt"]),
        ("ROOT r = f16$ negate(x)", ["negate"]),
        ("ROOT r = f16$ maximum(x, zero)", ["maximum"]),
        ("ROOT r = f16$ minimum(zero, x)", ["minimum"]),
        ("ROOT r = f16$ maximum(x, y)", ["maximum"]),
        ("ROOT r = f16$ minimum(x, y)", ["minimum"]),
        ("ROOT r = f16$ clamp(k, x, zero)", ["clamp"]),
        ("ROOT r = f16$ clamp(y, x, k)", ["clamp"]),
        ("ROOT r = f16$ select(p, x, zero)", ["compare-lt", "same"]),
        ("ROOT r = f16$ convert(p)", ["compare-lt", "same"]),
        ("a = f16$ select(p, x, y)  ROOT r = f16$ multiply(a, a)", ["compare-lt", "multiply"]),
        ("b = u16$ bitcast-convert(x)  c = u16$ add(b, b)  h = f16$ bitcast-convert(c)"
         " ROOT r = f16$ add(h, y)", ["add"]),
        ("v = f16$ reverse(x), dimensions={0}  ROOT r = f16$ add(v, y)", ["add"]),
    ],
)  # fmt: skip
def test_what_is_computed_in_halves(operators: str, found: list[str], strict: bool) -> None:
    built = check(mapped(operators), target=TARGET, strict=strict)
    assert natives(built) == [f"half-{name}" for name in found]


@pytest.mark.parametrize(
    "operators",
    [
        "ROOT r = f16$ tanh(x)",
        "f = f32$ convert(x)  g = f32$ add(f, f)  ROOT r = f16$ convert(g)",
        "a = f16$ add(x, y)  i = s32$ convert(a)  ROOT r = s32$ add(i, i)",
        "s = f16$ remainder(x, y)  ROOT r = f16$ add(s, x)",
        "ROOT r = f16$ copy(x)",
        "ROOT r = f16$ divide(x, k)",
        "ROOT r = f16$ reverse(x), dimensions={0}",
    ],
)
def test_what_needs_f32_is_as_before(operators: str) -> None:
    assert natives(check(mapped(operators), target=TARGET)) == []


@pytest.mark.parametrize("shape", ["8", "9", "31", "33", "64", "7,30", "2,1,3,2,2,64", "1009"])
def test_sizes(shape: str) -> None:
    built = check(mapped("s = f16$ multiply(x, y)  ROOT r = f16$ add(s, x)", shape), target=TARGET)
    assert natives(built)


@pytest.mark.parametrize("shape", ["", "1", "7", "0"])
def test_what_fills_no_vector(shape: str) -> None:
    built = check(mapped("s = f16$ multiply(x, y)  ROOT r = f16$ add(s, x)", shape), target=TARGET)
    assert not natives(built)


@pytest.mark.parametrize(("step", "is_near"), [(4, True), (5, False)])
def test_elements_that_are_far_apart_are_converted_one_by_one(step: int, is_near: bool) -> None:
    text = f"""ENTRY e {{ x = f16[{300 * step}] parameter(0)  y = f16[300] parameter(1)
      s = f16[300] slice(x), slice={{[0:{300 * step}:{step}]}}  ROOT r = f16[300] add(s, y) }}"""
    assert bool(natives(check(text, target=TARGET))) == is_near


def test_a_line_that_is_chosen_once() -> None:
    text = """ENTRY e { x = f16[20,300] parameter(0)  i = s32[] parameter(1)  z = s32[] constant(0)
      d = f16[1,300] dynamic-slice(x, i, z), dynamic_slice_sizes={1,300}  r = f16[300] reshape(d)
      b = f16[20,300] broadcast(r), dimensions={1}  ROOT s = f16[20,300] add(x, b) }"""
    x = np.random.default_rng(1).normal(size=(20, 300)).astype(np.float16)
    assert natives(check(text, x, np.int32(17), target=TARGET)) == ["half-add"]


def test_what_is_computed_in_halves_is_not_converted() -> None:
    """Nor are the names of it, though they are of columns of which the best are chosen."""
    text = """best { a = f16[] parameter(0)  i = s32[] parameter(1)
      b = f16[] parameter(2)  j = s32[] parameter(3)
      p = pred[] compare(a, b), direction=GE
      v = f16[] select(p, a, b)  n = s32[] select(p, i, j)
      ROOT r = (f16[], s32[]) tuple(v, n) }
    ENTRY e { x = f16[30,50] parameter(0)  i = s32[30,50] iota(), iota_dimension=0
      least = f16[] constant(-inf)  none = s32[] constant(0)
      ROOT r = (f16[50], s32[50]) reduce(x, i, least, none), dimensions={0}, to_apply=best }"""
    built = check(text, target=TARGET)
    assert "half-compare-ge" in natives(built)
    assert not any("_f16" in str(kernel.body) for kernel in built.program.kernels)


def test_only_where_the_processor_does() -> None:
    for name in ("x86-64", "arm64", "cortex-m4"):
        assert natives(check(mapped("ROOT r = f16$ add(x, y)"), target=load(name))) == []


PROGRAM = """#include <stdio.h>
#include "ccg_half_arithmetic.h"
static uint16_t x[65536], y[65536], z[65536], r[65536];
int main(void)
{
    for (long i = 0; i < 65536; ++i) {
        x[i] = (uint16_t)i;
        y[i] = (uint16_t)(i * 40503 + 7);
        z[i] = (uint16_t)(i * 9973 + 1);
    }
$   return 0;
}
"""
LOOP = """    for (long i = 0; i < 65536 - 1; ++i) {
        r[i] = %s;
    }
    fwrite(r, 2, 65535, stdout);
"""


def spelled(name: str) -> str:
    arguments = ("x[i]", "y[i]", "z[i]")[: OPERATORS[f"half-{name}"].arity]
    return f"ccg_{name.replace('-', '_')}_f16({', '.join(arguments)})"


LIMITS = {
    f"ccg_at_{end}_f16(x[i], ccg_f16_from_f32({limit}f))": (operator, limit)
    for end, operator in (("least", "maximum"), ("most", "minimum"))
    for limit in ("0.0", "-0.0", "1.5", "-2.0")
}


@pytest.mark.parametrize(
    ("compiler", "flags", "emulator"),
    [
        ("gcc", "-O3 -march=native -mprefer-vector-width=512 -fno-math-errno", ""),
        ("clang", "-O3 -march=native -fno-math-errno", ""),
        ("gcc", "-O0 -march=native", ""),
        ("gcc", "-O3 -DCCG_PLAIN", ""),
        ("aarch64-linux-gnu-gcc", "-O3 -march=armv8.2-a+fp16 -fno-math-errno", "qemu-aarch64"),
    ],
)
def test_functions(compiler: str, flags: str, emulator: str, tmp_path: Path) -> None:
    """Of all halves each, with others that are far apart."""
    if missing := [tool for tool in (compiler, emulator) if tool and shutil.which(tool) is None]:
        pytest.skip(f"needs {', '.join(missing)}")
    for file, text in runtime.closure(["ccg_half_arithmetic.h"]).items():
        (tmp_path / file).write_text(text)
    loops = [LOOP % call for call in (*map(spelled, IN_HALVES), *LIMITS)]
    (tmp_path / "halves.c").write_text(PROGRAM.replace("$", "".join(loops)))
    command = [compiler, *WARNINGS.split(), *flags.split(), "halves.c", "-o", "halves", "-lm"]
    if emulator:
        command.append("-static")
    subprocess.run(command, check=True, cwd=tmp_path)
    run = [emulator, "./halves"] if emulator else ["./halves"]
    done = subprocess.run(run, capture_output=True, check=True, cwd=tmp_path)
    results = np.frombuffer(done.stdout, np.uint16).reshape(-1, 65535)
    i = patterns(F16)[:-1].astype(np.uint32)
    x, y, z = (bits.astype(np.uint16).view(np.float16) for bits in (i, i * 40503 + 7, i * 9973 + 1))
    wanted = [(name, (x, y, z)[: OPERATORS[f"half-{name}"].arity]) for name in IN_HALVES]
    wanted += [(operator, (x, np.full_like(x, float(of)))) for operator, of in LIMITS.values()]
    for (name, arguments), got in zip(wanted, results, strict=True):
        result = OPERATORS[f"half-{name}"].result(F16)
        want = evaluate(f"half-{name}", arguments, result)
        if result is F16:
            assert_same_bits(got, want.view(np.uint16), F16)
        else:
            np.testing.assert_array_equal(got, want)


CHOICES = """#include "ccg_half_arithmetic.h"
#define AT_LEAST(a, b) ccg_at_least_f16(ccg_subtract_f16(a, b), ccg_f16_from_f32(0.0f))
#define AT_MOST(a, b) ccg_at_most_f16(ccg_subtract_f16(a, b), ccg_f16_from_f32(0.0f))
#define CHOICE(a, b) (ccg_compare_lt_f16(a, b) ? ccg_add_f16(a, b) : ccg_same_f16(0))
void choices(const uint16_t *CCG_RESTRICT b, uint16_t *CCG_RESTRICT y);
void choices(const uint16_t *CCG_RESTRICT b, uint16_t *CCG_RESTRICT y)
{
    for (ptrdiff_t i = 0; i < 1000; ++i) {
        for (ptrdiff_t j = 0; j < 1000; ++j) {
            y[i * 1000 + j] = ccg_multiply_f16($(b[i * 4 + 2], b[j * 4 + 2]), $(b[i * 4], b[j]));
        }
    }
}
"""


@pytest.mark.parametrize("choice", ["AT_LEAST", "AT_MOST", "CHOICE"])
def test_gcc_makes_instructions_that_there_are(choice: str, tmp_path: Path) -> None:
    """Not those that gcc 12 makes of a choice of zero, which assemblers refuse."""
    machine = "-march=sapphirerapids"
    known = subprocess.run(["gcc", machine, "-xc", "-E", "-"], input=b"", capture_output=True)
    if known.returncode:
        pytest.skip(f"this gcc does not know {machine}")
    for file, text in runtime.closure(["ccg_half_arithmetic.h"]).items():
        (tmp_path / file).write_text(text)
    (tmp_path / "choices.c").write_text(CHOICES.replace("$", choice))
    command = ["gcc", *WARNINGS.split(), "-O3", machine, "-mprefer-vector-width=512"]
    subprocess.run([*command, "-c", "choices.c"], check=True, cwd=tmp_path)
