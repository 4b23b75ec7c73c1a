"""Each trap of HLO's semantics that has bitten somebody: the values that are right, three ways.

`agree` evaluates, compares to the bit with what is written here, and then runs the compiled C and
the loops of the interpreter against it, in strict mode.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ccodegen.hlo.evaluate import evaluate, value_leaves
from ccodegen.support.element_type import HLO_TYPES
from ccodegen.support.errors import InputError
from tests.passes.checking import assert_same_bits
from tests.three_ways import check, module_of

NAN, INF = np.nan, np.inf
LEAST, MOST = -(2**31), 2**31 - 1


def agree(text: str, arguments: list[np.ndarray[Any, Any]], *expected: Any) -> None:
    check(text, *arguments, strict=True)
    found = list(value_leaves(evaluate(module_of(text), *arguments)))
    for value, wanted in zip(found, expected, strict=True):
        assert_same_bits(value, np.asarray(wanted, value.dtype))


def apply(op: str, kind: str, *operands: list[Any], result: str = "", more: str = "") -> Any:
    """A program of one op over vectors, and its arguments."""
    n = len(operands[0])
    names = [f"x{i}" for i in range(len(operands))]
    lines = [f"{x} = {kind}[{n}] parameter({i})" for i, x in enumerate(names)]
    lines.append(f"ROOT r = {result or kind}[{n}] {op}({', '.join(names)}){more}")
    arguments = [np.array(o).astype(HLO_TYPES[kind].dtype) for o in operands]
    return "ENTRY e {\n" + "\n".join(lines) + " }", arguments


def test_maximum_and_minimum_propagate_nan_and_order_zeros():
    a, b = [NAN, 1, 0.0, -0.0], [1, NAN, -0.0, 0.0]
    agree(*apply("maximum", "f32", a, b), [NAN, NAN, 0.0, 0.0])
    agree(*apply("minimum", "f32", a, b), [NAN, NAN, -0.0, -0.0])


def test_clamp_propagates_nan_from_any_operand():
    a, x, b = [NAN, 0, 0, 0], [1, NAN, 1, 5], [2, 2, NAN, 2]
    agree(*apply("clamp", "f32", a, x, b), [NAN, NAN, NAN, 2])


@pytest.mark.parametrize("strict", [False, True])
def test_a_maximum_of_many_propagates_nan(strict):
    text = """max { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b) }
ENTRY e { x = f32[2,40] parameter(0)
  z = f32[] constant(-inf)
  ROOT r = f32[2] reduce(x, z), dimensions={1}, to_apply=max }"""
    x = np.arange(80, dtype=np.float32).reshape(2, 40)
    x[1, 7] = NAN
    check(text, x, strict=strict)
    assert np.array_equal(evaluate(module_of(text), x), [39, NAN], equal_nan=True)


@pytest.mark.parametrize(("kind", "low", "high"), [
    ("s4", -8, 7), ("u4", 0, 15), ("s8", -128, 127), ("u8", 0, 255), ("s32", LEAST, MOST),
    ("u32", 0, 2**32 - 1), ("s64", -(2**63), 2**63 - 1), ("u64", 0, 2**64 - 1),
])  # fmt: skip
def test_floats_become_integers_by_saturation_and_truncation(kind, low, high):
    x = [NAN, INF, -INF, 1e30, -1e30, 2.9, -2.9 if low else -0.9]
    wanted = [0, high, low, high, low, 2, -2 if low else 0]
    text, arguments = apply("convert", "f32", x, result=kind)
    agree(text, arguments, np.array(wanted, dtype=object))


def test_nan_is_true():
    agree(*apply("convert", "f32", [NAN, 0.0, -0.0, 1e-45], result="pred"),
          [True, False, False, True])


def test_integers_become_narrower_ones_by_wrapping():
    agree(*apply("convert", "s32", [300, -129, 128], result="s8"), [44, 127, -128])
    agree(*apply("convert", "s32", [9, -9, 16], result="s4"), np.array([-7, 7, 0], np.int8))


def test_narrow_floats_round_to_even_and_overflow_as_they_must():
    x = [464.0, 465, -1e9, 17, 19]
    agree(*apply("convert", "f32", x, result="f8e4m3fn"), [448, NAN, NAN, 16, 20])
    agree(*apply("convert", "f32", [57344, 61440, -1e9], result="f8e5m2"), [57344, INF, -INF])
    agree(*apply("convert", "f32", [65519, 65520], result="f16"), [65504, INF])
    agree(*apply("convert", "f32", [1 + 2**-8, 1 + 3 * 2**-8], result="bf16"), [1, 1 + 2**-6])


def test_shifts_by_too_much():
    x, by = [-8, -8, 8, -8], [32, -1, 33, 1]
    agree(*apply("shift-left", "s32", x, by), [0, 0, 0, -16])
    agree(*apply("shift-right-logical", "s32", x, by), [0, 0, 0, 2**31 - 4])
    agree(*apply("shift-right-arithmetic", "s32", x, by), [-1, -1, 0, -4])


def test_division_by_zero_and_of_the_least_integer():
    a, b = [7, -7, LEAST, -7], [0, 0, -1, 2]
    agree(*apply("divide", "s32", a, b), [-1, -1, LEAST, -3])
    agree(*apply("remainder", "s32", a, b), [7, -7, 0, -1])
    agree(*apply("divide", "u8", [7], [0]), [255])
    agree(*apply("remainder", "u8", [7], [0]), [7])
    agree(*apply("remainder", "f32", [7, -7, 1], [-4, 4, 0]), [3, -3, NAN])


def test_powers():
    agree(*apply("power", "s32", [2, 1, -1, -1, 0, 3], [-1, -5, -3, -2, -1, 4]),
          [0, 1, -1, 1, 0, 81])
    agree(*apply("power", "f32", [0, 1, NAN], [0, NAN, 0]), [1, 1, 1])


def test_edges_of_unary_ops():
    agree(*apply("abs", "s32", [LEAST, -1]), [LEAST, 1])
    agree(*apply("count-leading-zeros", "s32", [0, 1, -1]), [32, 31, 0])
    agree(*apply("count-leading-zeros", "u4", [0, 1, 15]), np.array([4, 3, 0], np.uint8))
    agree(*apply("sign", "f32", [-0.0, 0.0, NAN, -3]), [-0.0, 0.0, NAN, -1])


def test_total_order():
    x = [-NAN, -INF, -1, -0.0, 0.0, 1, INF, NAN]
    x = np.array(x, np.float32)
    x[0], x[-1] = np.copysign(NAN, -1), np.copysign(NAN, 1)
    text, _ = apply("compare", "f32", [0] * 7, [0] * 7, result="pred",
                    more=", direction=LT, type=TOTALORDER")
    agree(text, [x[:-1], x[1:]], [True] * 7)
    text, _ = apply("compare", "f32", [0] * 8, [0] * 8, result="pred", more=", direction=LT")
    agree(text, [x, np.roll(x, -1)], [False, True, True, False, True, True, False, False])


@pytest.mark.parametrize("strict", [False, True])
def test_denormals_are_kept(strict):
    text, arguments = apply("add", "f32", [1e-40, 1e-45], [0, 1e-45])
    check(text, *arguments, strict=strict)
    assert np.array_equal(evaluate(module_of(text), *arguments), arguments[0] + arguments[1])


def test_starts_are_clamped():
    text = """ENTRY e { x = s32[5] parameter(0)
  i = s32[] parameter(1)
  u = s32[2] constant({7, 8})
  a = s32[2] dynamic-slice(x, i), dynamic_slice_sizes={2}
  b = s32[5] dynamic-update-slice(x, u, i)
  j = s32[1] reshape(i)
  c = s32[2] gather(x, j), offset_dims={0}, collapsed_slice_dims={}, start_index_map={0},
    index_vector_dim=0, slice_sizes={2}
  ROOT t = (s32[2], s32[5], s32[2]) tuple(a, b, c) }"""
    x = np.arange(5, dtype=np.int32)
    agree(text, [x, np.int32(9)], [3, 4], [0, 1, 2, 7, 8], [3, 4])
    agree(text, [x, np.int32(-9)], [0, 1], [7, 8, 2, 3, 4], [0, 1])


def test_a_scatter_drops_windows_out_of_bounds_and_adds_duplicates():
    text = """add { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = s32[] add(a, b) }
ENTRY e { x = s32[5] parameter(0)
  i = s32[4,1] constant({{4}, {1}, {1}, {-1}})
  u = s32[4,2] constant({{1,1}, {10,20}, {100,200}, {5,5}})
  ROOT r = s32[5] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add }"""
    agree(text, [np.zeros(5, np.int32)], [0, 110, 220, 0, 0])


def test_window_padding_holds_the_init_value():
    text = """add { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = s32[] add(a, b) }
ENTRY e { x = s32[4] parameter(0)
  z = s32[] constant(10)
  ROOT r = s32[5] reduce-window(x, z), window={size=2 pad=1_1}, to_apply=add }"""
    agree(text, [np.arange(1, 5, dtype=np.int32)], [21, 13, 15, 17, 24])


def test_elements_below_a_byte_are_one_a_byte():
    text, arguments = apply("add", "s4", [7, -8, 3], [1, -1, 2])
    agree(text, arguments, np.array([-8, 7, 5], np.int8))
    assert arguments[0].dtype == ml_dtypes.int4 and arguments[0].nbytes == 3


def test_sort_by_total_order_puts_nans_at_the_ends():
    text = """lt { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT, type=TOTALORDER }
ENTRY e { x = f32[5] parameter(0)
  ROOT s = f32[5] sort(x), dimensions={0}, to_apply=lt }"""
    x = np.array([NAN, 0.0, 1, -0.0, -INF], np.float32)
    agree(text, [x], [-INF, -0.0, 0.0, 1, NAN])


def test_topk_takes_nan_as_largest_and_the_first_of_equals():
    text = """ENTRY e { x = f32[6] parameter(0)
  ROOT t = (f32[4], s32[4]) topk(x), k=4, largest=true }"""
    agree(text, [np.array([1, 5, NAN, 5, INF, 2], np.float32)], [NAN, INF, 5, 5], [2, 4, 1, 3])


def test_select_and_scatter_takes_the_first_tie():
    text = """ge { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=GE }
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY e { x = f32[4] parameter(0)
  s = f32[2] parameter(1)
  z = f32[] constant(0)
  ROOT r = f32[4] select-and-scatter(x, s, z), window={size=2 stride=2}, select=ge, scatter=add }"""
    agree(text, [np.array([3, 3, 1, 2], np.float32), np.array([10, 20], np.float32)],
          [10, 0, 0, 20])


@pytest.mark.parametrize(("i", "wanted"), [(0, 1), (1, 2), (2, 3), (3, 3), (-1, 3), (LEAST, 3)])
def test_an_index_out_of_range_takes_the_last_branch(i, wanted):
    branch = """b{0} {{ p = s32[] parameter(0)
  ROOT c = s32[] constant({0}) }}
"""
    text = "".join(branch.format(n) for n in (1, 2, 3)) + """ENTRY e { i = s32[] parameter(0)
  ROOT r = s32[] conditional(i, i, i, i), branch_computations={b1, b2, b3} }"""
    agree(text, [np.int32(i)], wanted)


def test_cholesky_of_what_is_not_positive_definite_is_nan():
    text = """ENTRY e { x = f32[2,2] parameter(0)
  ROOT r = f32[2,2] cholesky(x), lower=true }"""
    x = np.array([[1, 2], [2, 1]], np.float32)
    check(text, x, strict=True)
    assert np.isnan(evaluate(module_of(text), x)[np.tril_indices(2)]).any()


@pytest.mark.parametrize(("algorithm", "size"), [
    ("rng_default", 2), ("rng_default", 3), ("rng_philox", 2), ("rng_philox", 3),
    ("rng_three_fry", 2),
])  # fmt: skip
def test_states_of_the_bit_generators(algorithm, size):
    def text(name: str) -> str:
        return f"""ENTRY e {{ s = u64[{size}] parameter(0)
  ROOT r = (u64[{size}], u32[5]) rng-bit-generator(s), algorithm={name} }}"""

    state = np.arange(1, size + 1, dtype=np.uint64)
    check(text(algorithm), state, strict=True)
    if algorithm == "rng_default":
        default, philox = (evaluate(module_of(text(n)), state) for n in (algorithm, "rng_philox"))
        assert np.array_equal(default[1], philox[1])


def test_a_dot_is_of_its_declared_type():
    dot = """ENTRY e {{ x = {0}[1,3] parameter(0)
  y = {0}[3,1] parameter(1)
  ROOT r = {1}[1,1] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}} }}"""
    x, y = np.full((1, 3), 100, np.int8), np.full((3, 1), 100, np.int8)
    agree(dot.format("s8", "s8"), [x, y], [[48]])
    agree(dot.format("s8", "s32"), [x, y], [[30000]])
    one, tiny = np.ones((3, 1), ml_dtypes.bfloat16), np.array([[1, 2**-12, 2**-12]])
    agree(dot.format("bf16", "f32"), [tiny.astype(ml_dtypes.bfloat16), one], [[1 + 2**-11]])


@pytest.mark.parametrize("op", ["maximum", "minimum"])
def test_the_larger_of_complex_numbers_is_refused(op):
    with pytest.raises(InputError, match="not defined for c64"):
        module_of(f"""ENTRY e {{ x = c64[2] parameter(0)
  ROOT r = {op}(x, x) }}""")


def test_what_is_real_only_is_refused_for_complex_numbers():
    for op in ("erf", "ceil", "floor", "is-finite"):
        with pytest.raises(InputError, match="c64"):
            module_of(f"ENTRY e {{ x = c64[2] parameter(0)\n ROOT r = {op}(x) }}")
