"""Running sums and their kin by rows and by several elements at a time: three ways of running them
agree, to the bit where strict mode or the operator says so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ccodegen.loop.ir import For, LoopKind
from ccodegen.loop.rebuild import statements
from ccodegen.support.element_type import HLO_TYPES
from tests.three_ways import check, plain_target

INITIAL = {"add": "0", "multiply": "1", "maximum": "-inf", "minimum": "inf"}
SHAPES = [((0,), 0), ((1,), 0), ((7,), 0), ((131,), 0), ((3, 64), 1), ((5, 67, 1), 1), ((2, 0), 1)]
SHAPES += [((9, 5), 0), ((3, 4, 2059), 1), ((13, 2), 0), ((3, 17, 2, 3), 1), ((2, 3, 1, 600), 0)]
SHAPES += [((130, 9), 1), ((2, 70, 3), 2)]


def program(element: str, operator: str, shape: tuple[int, ...], axis: int, back: bool) -> str:
    sizes, n = ",".join(map(str, shape)), shape[axis]
    initial = "(0, 0)" if element == "c64" else INITIAL[operator]
    if "inf" in initial and element[0] in "su":
        info = np.iinfo(HLO_TYPES[element].dtype)
        initial = str(info.min if operator == "maximum" else info.max)
    pads = [(0, 0)] * len(shape)
    pads[axis] = (0, max(0, n - 1)) if back else (max(0, n - 1), 0)
    window = "x".join(str(n) if d == axis else "1" for d in range(len(shape)))
    pad = "x".join(f"{low}_{high}" for low, high in pads)
    return f"""
f {{ a = {element}[] parameter(0)  b = {element}[] parameter(1)
  ROOT r = {element}[] {operator}(a, b) }}
ENTRY e {{ x = {element}[{sizes}] parameter(0)  i = {element}[] constant({initial})
  ROOT r = {element}[{sizes}] reduce-window(x, i), window={{size={window} pad={pad}}}, to_apply=f
}}"""


def numbers(element: str, shape: tuple[int, ...]) -> Any:
    random, dtype = np.random.default_rng(sum(shape)), HLO_TYPES[element].dtype
    if element[0] in "su":
        info = np.iinfo(dtype)
        return random.integers(info.min, info.max, shape, dtype, endpoint=True)
    return random.uniform(0.8, 1.25, shape).astype(dtype)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("operator", list(INITIAL))
@pytest.mark.parametrize("element", ["f32", "s32"])
def test_all_shapes(element: str, operator: str, back: bool, strict: bool) -> None:
    for shape, axis in SHAPES:
        if 0 in shape and shape[axis] == 0:
            continue  # a window of no elements is none
        text = program(element, operator, shape, axis, back)
        check(text, numbers(element, shape), strict=strict)


@pytest.mark.parametrize(
    ("columns", "widths"),
    [(256, {128}), (200, {200}), (131, {131})],  # of 200, rows' halves share a cache line
)
def test_threads_have_whole_cache_lines_of_rows(columns: int, widths: set[int]) -> None:
    target = plain_target()
    target = replace(target, machine=replace(target.machine, threads=2))
    shape = (9, columns)
    built = check(program("f32", "add", shape, 0, back=False), numbers("f32", shape), target=target)
    loops = (s for k in built.program.kernels for s in statements(k.body) if isinstance(s, For))
    assert {loop.extent for loop in loops if loop.kind is LoopKind.VECTOR} == widths


@pytest.mark.parametrize("element", ["f64", "u64", "s8", "f16", "bf16", "c64"])
def test_other_types(element: str) -> None:
    for shape, axis in [((70,), 0), ((5, 3), 0), ((70, 9), 1)]:
        if element == "c64":
            x = numbers("f32", shape) + 1j * numbers("f32", shape)
        else:
            x = numbers(element, shape)
        check(program(element, "add", shape, axis, back=False), x, strict=True)
        if HLO_TYPES[element].bits >= 32:
            check(program(element, "add", shape, axis, back=True), x)


@pytest.mark.parametrize("operator", ["maximum", "minimum"])
@pytest.mark.parametrize("back", [False, True])
def test_zeros_and_nans(operator: str, back: bool) -> None:
    values = np.array([0.0, -0.0, np.inf, -np.inf, 1, -1, np.nan], np.float32)
    for seed in range(4):
        x = np.random.default_rng(seed).choice(values[: 7 - seed % 2], 83)
        check(program("f32", operator, (83,), 0, back), x, strict=True)
        check(program("f32", operator, (83,), 0, back), x)


def test_infinities_and_zeros_are_summed() -> None:
    for x in (np.full(40, -0.0, np.float32), np.full(40, np.inf, np.float32)):
        check(program("f32", "add", (40,), 0, back=False), x)


@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_any_computation(shape: tuple[int, ...], axis: int, back: bool) -> None:
    """The last of the elements that are not the init value: in the order of the axis."""
    if 0 in shape:
        return
    text = program("s32", "add", shape, axis, back).replace("constant(0)", "constant(-1)")
    body = """i = s32[] constant(-1)  n = pred[] compare(b, i), direction=EQ
  ROOT r = s32[] select(n, a, b) }"""
    text = text.replace("ROOT r = s32[] add(a, b) }", body)
    x = np.random.default_rng(sum(shape)).integers(-1, 5, shape, np.int32)
    for strict in (False, True):
        check(text, x, strict=strict)


@pytest.mark.parametrize("back", [False, True])
def test_an_op_that_is_not_associative_keeps_its_order(back: bool) -> None:
    text = program("f32", "add", (9, 40), 1, back).replace("add(a, b)", "subtract(a, b)")
    check(text, numbers("f32", (9, 40)))
