"""Long chains of operations run in stages over blocks, and give what they give turn by turn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from ccodegen.loop.ir import Alloc, For, Kernel, LoopKind
from ccodegen.loop.rebuild import statements
from ccodegen.target import load
from tests.three_ways import check

ROOT_BY_HALVES = [  # of m³ + m = x, between two names
    "s = {t} add({low}, {high})",
    "m = {t} multiply({s}, {half})",
    "q = {t} multiply({m}, {m})",
    "c = {t} multiply({q}, {m})",
    "f = {t} add({c}, {m})",
    "above = pred[{n}] compare({f}, {x}), direction=GT",
    "low = {t} select({above}, {low}, {m})",
    "high = {t} select({above}, {m}, {high})",
]
PARABOLA = ["q = {t} multiply({y}, {y})", "l = {t} subtract({y}, {q})", "y = {t} add({l}, {x})"]


def program(step: Sequence[str], turns: int, shape: str, first: str, result: str) -> str:
    """A step over and over: of a name stands each time what it was given last. `first`: the names
    that are x at first."""
    names = dict.fromkeys((*first.split(), "x"), "x")
    names |= {"half": "half", "t": shape, "n": shape.partition("[")[2].rstrip("]")}
    kind = shape.partition("[")[0]
    lines = [f"x = {shape} parameter(0)", f"h = {kind}[] constant({int(kind[0] != 'f') or 0.5})"]
    lines.append(f"half = {shape} broadcast(h), dimensions={{}}")
    for turn in range(turns):
        for line in step:
            name = line.partition(" ")[0]
            lines.append(f"{name}{turn}{line.removeprefix(name).format(**names)}")
            names[name] = f"{name}{turn}"
    body = "\n  ".join(lines)
    return f"ENTRY e {{\n  {body}\n  ROOT r = {shape} negate({names[result]})\n}}"


def parabola(turns: int = 60, shape: str = "f32[1000]") -> str:
    return program(PARABOLA, turns, shape, "y", "y")


def stages(text: str, *arguments: object, target: str = "host", strict: bool = False) -> int:
    """Of a right program, how many loops over lines it has."""
    built = check(text, *arguments, target=load(target), strict=strict)
    return sum(map(_stages, built.program.kernels))


def _stages(kernel: Kernel) -> int:
    inside = statements(kernel.body)
    has_lines = any(isinstance(s, Alloc) and s.buffer.dimensions for s in inside)
    loops = [s for s in inside if isinstance(s, For) and s.kind is LoopKind.VECTOR]
    return len(loops) if has_lines else 0


def small(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return np.random.default_rng(7).uniform(0.1, 0.9, shape).astype(dtype)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("size", [64, 255, 256, 257, 1000, 1024])
def test_any_size(size: int, strict: bool) -> None:
    text = parabola(shape=f"f32[{size}]")
    assert stages(text, small(size), strict=strict) > 1


def test_other_types() -> None:
    assert stages(parabola(shape="f64[300]"), small(300, dtype=np.float64)) > 1
    whole = np.arange(300, dtype=np.int32) * 7919
    assert stages(parabola(shape="s32[300]"), whole) > 1


def test_two_lines_between_stages() -> None:
    text = program(ROOT_BY_HALVES, 30, "f32[300]", "low high", "low")
    assert stages(text, small(300)) > 1


def test_rows_and_an_argument_that_is_written() -> None:
    text = parabola(shape="f32[5,300]")
    assert stages(text, small(5, 300)) > 1
    aliased = f"HloModule m, input_output_alias={{ {{}}: (0, {{}}, may-alias) }}\n{text}"
    assert stages(aliased, small(5, 300)) > 1


def test_stages_of_functions() -> None:
    step = ["e = {t} tanh({y})", "y = {t} add({e}, {x})"]
    assert stages(program(step, 12, "f32[1000]", "y", "y"), small(1000)) > 1


def test_what_processors_see_stays_whole() -> None:
    assert stages(parabola(turns=20), small(1000)) == 0


def test_few_turns_stay_whole() -> None:
    assert stages(parabola(shape="f32[63]"), small(63)) == 0


def test_chains_side_by_side_stay_whole() -> None:
    """Their operations do not wait for one another."""
    chains = [
        line
        for n, operator in enumerate(["add", "subtract", "maximum", "minimum"])
        for line in (
            f"q{n}_ = {{t}} multiply({{y{n}_}}, {{y{n}_}})",
            f"y{n}_ = {{t}} {operator}({{q{n}_}}, {{x}})",
        )
    ]
    sums = ["p = {t} add({y0_}, {y1_})", "q = {t} add({p}, {y2_})", "s = {t} add({q}, {y3_})"]
    text = program([*chains, *sums], 20, "f32[1000]", "y0_ y1_ y2_ y3_", "s")
    assert stages(text, small(1000)) == 0


def test_processors_that_take_one_operation_after_the_other() -> None:
    assert stages(parabola(), small(1000), target="cortex-m4") == 0
