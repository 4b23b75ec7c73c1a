"""Mixed precision: what programs may leave to be converted, and that all ways compute it alike."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ccodegen
from ccodegen.hlo.precision import settled
from ccodegen.hlo.text import parse
from ccodegen.hlo.verify import verify
from ccodegen.support.element_type import ElementType, widest_float
from ccodegen.support.errors import InputError

BF16, F16, F32 = ml_dtypes.bfloat16, np.float16, np.float32

PROGRAM = """HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
both {
  a = f32[] parameter(0) i = s32[] parameter(1) b = f32[] parameter(2) j = s32[] parameter(3)
  s = f32[] add(a, b) t = s32[] add(i, j) ROOT c = (f32[], s32[]) tuple(s, t)
}
ENTRY e {
  p = bf16[2,3] parameter(0)
  q = f32[2,3] parameter(1)
  h = f16[] parameter(2)
  zero = bf16[] constant(0)
  at = s32[] constant(0)
  k = s32[2,3] constant({{1,2,3},{4,5,6}})
  less = pred[2,3] compare(p, q), direction=LT
  row = bf16[1,3] slice(p), slice={[0:1],[0:3]}
  RESULT
}"""


def arguments() -> tuple[Any, Any, Any]:
    values = np.random.default_rng(0).normal(size=(2, 2, 3))
    return values[0].astype(BF16), values[1].astype(F32), np.asarray(0.3, F16)


def expected(result: Any, dtype: Any) -> Any:
    return np.asarray(result).astype(dtype)


P, Q, H = arguments()
WIDE = P.astype(F32)
CASES = {
    "f32[2,3] add(p, p)": WIDE + WIDE,
    "bf16[2,3] add(p, q)": expected(WIDE + Q, BF16),
    "add(p, q)": WIDE + Q,
    "pred[2,3] compare(p, q), direction=LT": WIDE < Q,
    "f16[2,3] select(less, p, q)": expected(np.where(WIDE < Q, WIDE, Q), F16),
    "f32[2,3] clamp(zero, q, h)": np.clip(Q, F32(0), F32(H)),
    "f32[2,4] pad(p, h), padding=0_0x0_1": np.pad(WIDE, ((0, 0), (0, 1)), constant_values=H),
    "concatenate(q, p), dimensions={0}": np.concatenate([Q, WIDE]),
    "f16[2] reduce(p, zero), dimensions={1}, to_apply=add": expected(
        WIDE[:, 0] + WIDE[:, 1] + WIDE[:, 2], F16
    ),
    "bf16[2,2] reduce-window(q, zero), window={size=1x2}, to_apply=add": expected(
        Q[:, :2] + Q[:, 1:], BF16
    ),
    "f64[2,3] map(p, q), dimensions={0,1}, to_apply=add": expected(WIDE + Q, np.float64),
    "bf16[2,3] dynamic-update-slice(q, row, at, at)": expected(
        np.stack([WIDE[0], Q[1]]), BF16
    ),
    "f32[3,2] transpose(p), dimensions={1,0}": WIDE.T,
    "bf16[2,3] copy(q)": expected(Q, BF16),
}


@pytest.mark.parametrize("text", CASES)
def test_computes_in_the_widest_type_and_rounds_once(text: str) -> None:
    program = PROGRAM.replace("RESULT", f"ROOT r = {text}")
    for run in (ccodegen.evaluate, lambda *a: ccodegen.compile(a[0], strict=True)(*a[1:])):
        result = run(program, *arguments())
        assert result.dtype == CASES[text].dtype
        np.testing.assert_array_equal(result, CASES[text])


def test_results_of_a_tuple() -> None:
    text = "ROOT r = (bf16[2], s32[2]) reduce(q, k, zero, at), dimensions={1}, to_apply=both"
    sums, counts = ccodegen.evaluate(PROGRAM.replace("RESULT", text), *arguments())
    np.testing.assert_array_equal(sums, expected(Q[:, 0] + Q[:, 1] + Q[:, 2], BF16))
    np.testing.assert_array_equal(counts, [6, 15])


@pytest.mark.parametrize(
    "text",
    [
        "add(p, k)",
        "s32[2,3] add(p, q)",
        "(bf16[2,3]) tuple(q)",
        "bf16[2,3] opt-barrier(q)",
        "select(less, q, k)",
    ],
)
def test_what_is_no_matter_of_precision(text: str) -> None:
    with pytest.raises(InputError):
        verify(parse(PROGRAM.replace("RESULT", f"ROOT r = {text}")))


def test_settled_module_has_one_precision() -> None:
    text = "ROOT r = bf16[2,3] add(p, q)"
    module = parse(PROGRAM.replace("RESULT", text))
    with pytest.raises(InputError, match="operands of one precision"):
        verify(module, mixed_precision=False)
    verify(settled(module), mixed_precision=False)
    assert settled(settled(module)).to_text() == settled(module).to_text()


def test_uniform_module_stays_the_same_object() -> None:
    module = parse("ENTRY e { q = f32[2] parameter(0) ROOT r = f32[2] add(q, q) }")
    assert settled(module) is module


def test_widest_float() -> None:
    t = ElementType
    assert widest_float([t.F16, t.BF16]) is t.BF16
    assert widest_float([t.F64, t.F32, t.F16]) is t.F64
    assert widest_float([t.F8E4M3FN, t.F8E5M2]) is t.F8E5M2
