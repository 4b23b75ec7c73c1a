"""Literals in HLO text: the same bits back, for every element type."""

from __future__ import annotations

import numpy as np
import pytest

from ccodegen.hlo.literal import Literal
from ccodegen.hlo.text.cursor import Cursor
from ccodegen.hlo.text.literals import literal_text, parse_literal
from ccodegen.hlo.text.shapes import shape_from_text
from ccodegen.support.element_type import HLO_TYPES, ElementType
from ccodegen.support.errors import InputError


def read(shape: str, text: str) -> Literal:
    return parse_literal(Cursor(text), shape_from_text(shape))


def sample(element_type: ElementType) -> np.ndarray:
    """Every value of a narrow type, else 20,000 random bit patterns: NaNs and denormals too."""
    dtype = element_type.dtype
    if element_type.is_integer or element_type is ElementType.PRED:
        low = -(1 << element_type.bits - 1) if element_type.text[0] == "s" else 0
        high = low + (1 << element_type.bits) - 1
        return np.array([low, high, 0, high // 2 + 1], dtype=object).astype(dtype)
    if element_type.bits <= 16:
        patterns = np.arange(1 << element_type.bits, dtype=f"u{dtype.itemsize}")
        return patterns.view(dtype)
    return np.frombuffer(np.random.default_rng(0).bytes(20_000 * dtype.itemsize), dtype=dtype)


@pytest.mark.parametrize("element_type", HLO_TYPES.values(), ids=str)
def test_all_bits_survive(element_type: ElementType) -> None:
    literal = Literal(sample(element_type))
    back = parse_literal(Cursor(literal_text(literal)), literal.shape)
    assert back.array.dtype == element_type.dtype
    assert back.array.tobytes() == literal.array.tobytes()


@pytest.mark.parametrize(
    ("shape", "text", "canonical"),
    [
        ("f32[]", "3.14159274", "3.14159274"),
        ("f32[]", "1e+0", "1"),
        ("f32[4]", "{-0, .5, inf, -inf}", "{-0, 0.5, inf, -inf}"),
        ("f32[3]", "{nan(0x1), -nan(0x3), -nan}", "{nan(0x1), -nan(0x3), -nan}"),
        ("f16[2]", "{0.099976, 3.1406}", "{0.1, 3.14}"),
        ("pred[4]", "{true, false, 1, 0}", "{true, false, true, false}"),
        ("u64[1]", "{18446744073709551615}", "{18446744073709551615}"),
        ("c64[2]", "{(1, -2.5), (nan(0x1),inf)}", "{(1, -2.5), (nan(0x1), inf)}"),
        ("s32[2,2]", "{ { /*i0=0*/ 1, 2 }, // c\n {3,4} }", "{{1, 2}, {3, 4}}"),
        ("s32[1,2,1]", "{{{1}, {2}}}", "{{{1}, {2}}}"),
        ("f32[0]", "{ }", "{}"),
        ("f32[2,0]", "{ {}, {} }", "{{}, {}}"),
        ("f32[0,2]", "{}", "{}"),
        ("(s32[], (f32[2], pred[]))", "( 1, ( {2, 3}, true ) )", "(1, ({2, 3}, true))"),
        ("()", "()", "()"),
    ],
)
def test_canonical_text(shape: str, text: str, canonical: str) -> None:
    literal = read(shape, text)
    assert literal_text(literal) == canonical
    assert read(shape, canonical) == literal
    assert literal.shape == shape_from_text(shape)


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ("s32[2]", "{1 2,}"),
        ("s32[2]", "{1,,2}"),
        ("s32[2]", "1, 2"),
        ("s32[2,2]", "{{1, 2, 3}, {4}}"),
        ("f32[0]", "{1}"),
        ("f32[1]", "{1_0}"),
        ("f4e2m1fn[1]", "{nan}"),
        ("f8e4m3fn[1]", "{inf}"),
        ("f8e4m3fn[1]", "{500}"),
        ("c64[1]", "{1}"),
        ("f32[?]", "{1}"),
    ],
)
def test_what_does_not_fit_is_refused(shape: str, text: str) -> None:
    with pytest.raises(InputError) as caught:
        read(shape, text)
    assert caught.value.location


def test_large_literal_in_chunks() -> None:
    array = np.random.default_rng(1).standard_normal((1200, 1000)).astype(np.float32)
    literal = Literal(array)
    assert read("f32[1200,1000]", literal_text(literal)) == literal
