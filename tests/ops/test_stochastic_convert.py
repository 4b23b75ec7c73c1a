"""stochastic-convert, three ways: between the neighbours, by chance, in proportion."""

from __future__ import annotations

import numpy as np
import pytest

from ccodegen.hlo.evaluate import evaluate
from ccodegen.hlo.verify import verify
from ccodegen.support.element_type import HLO_TYPES
from ccodegen.support.errors import InputError
from tests.three_ways import check, module_of

COUNT = 4000


def text(source: str, bits: str, target: str, count: int = COUNT) -> str:
    return f"""ENTRY e {{ x = {source}[{count}] parameter(0)
  r = {bits}[{count}] parameter(1)
  ROOT y = {target}[{count}] stochastic-convert(x, r) }}"""


def random_bits(kind: str, count: int = COUNT) -> np.ndarray:
    bits = np.random.default_rng(5).integers(0, 256, count * int(kind[1:]) // 8, np.uint8)
    return bits.view(kind.replace("u", "uint") if kind == "u1" else f"u{int(kind[1:]) // 8}")


@pytest.mark.parametrize("target", ["s4", "s8", "u8", "s16", "s32", "u32", "s64", "f16", "bf16",
                                    "f8e4m3fn", "f8e5m2", "f4e2m1fn", "f6e3m2fn", "f6e2m3fn",
                                    "f8e4m3b11fnuz", "f8e8m0fnu"])
@pytest.mark.parametrize(("source", "bits"), [("f32", "u32"), ("f16", "u16"), ("f64", "u64")])
def test_three_ways(source, bits, target):
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e9, -1e9, 0.25, -0.25, 127.5, -128.5, 6e-8]
    x = np.random.default_rng(6).standard_normal(60) * 3
    with np.errstate(all="ignore"):
        x = np.concatenate([special, x]).astype(HLO_TYPES[source].dtype)
    check(text(source, bits, target, len(x)), x, random_bits(bits, len(x)), strict=True)


@pytest.mark.parametrize(("value", "target", "down", "up"), [
    (2.25, "s32", 2, 3),
    (-2.25, "s8", -2, -3),
    (1 + 2**-9, "bf16", 1, 1 + 2**-7),
    (-(1 + 2**-5), "f8e4m3fn", -1, -1.125),
    (3 * 2.0**-26, "f16", 0, 2.0**-24),
    (-2.3125, "f6e2m3fn", -2.25, -2.5),
    (2.0**-6, "f6e3m2fn", 0, 2.0**-4),
])  # fmt: skip
def test_chances_are_in_proportion(value, target, down, up):
    x = np.full(COUNT, value, np.float32)
    found = evaluate(module_of(text("f32", "u32", target)), x, random_bits("u32"))
    found = found.astype(np.float64)
    assert set(found) == {down, up}
    share = (value - down) / (up - down)
    assert abs(np.mean(found == up) - share) < 0.03


def test_limits_and_exact_values():
    x = np.array([np.nan, np.inf, -np.inf, 127.5, -129, 5, -0.0], np.float32)
    bits = np.zeros(7, np.uint32)
    got = evaluate(module_of(text("f32", "u32", "s8", 7)), x, bits)
    assert got.tolist() == [0, 127, -128, 127, -128, 5, 0]
    got = evaluate(module_of(text("f32", "u32", "f16", 7)), x, bits)
    assert np.array_equal(got, x.astype(np.float16), equal_nan=True)
    assert np.signbit(got[-1])


def test_as_many_random_bits_are_needed():
    with pytest.raises(InputError, match="takes as many random bits"):
        verify(module_of(text("f32", "u16", "s8")))
