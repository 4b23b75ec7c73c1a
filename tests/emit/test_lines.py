"""Long lines: broken where they read well, and nothing but spaces changed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ccodegen.emit.lines import fitted

HEAD = (
    "static void m_dot(const float *CCG_RESTRICT x, const float *CCG_RESTRICT w, "
    "float *CCG_RESTRICT hidden)"
)
TERMS = [f"x{n}[i * 9 + j + {n}] * w{n}[i * 9 + j]" for n in "1234"]
SUM = f"    y[i * 3 + j] = {' + '.join(TERMS)};"


def test_function_heads_break_between_parameters() -> None:
    assert fitted([HEAD]) == [
        "static void m_dot(const float *CCG_RESTRICT x, const float *CCG_RESTRICT w,",
        "    float *CCG_RESTRICT hidden)",
    ]


def test_sums_break_before_a_plus_outside_of_brackets() -> None:
    assert fitted([SUM]) == [
        "    y[i * 3 + j] = x1[i * 9 + j + 1] * w1[i * 9 + j] + x2[i * 9 + j + 2] * w2[i * 9 + j]",
        "        + x3[i * 9 + j + 3] * w3[i * 9 + j] + x4[i * 9 + j + 4] * w4[i * 9 + j];",
    ]


def test_calls_break_between_outer_arguments() -> None:
    inner = ", ".join(f"minimum(first{n}, second{n})" for n in range(4))
    first, second = fitted([f"total = maximum({inner});"])
    assert first.endswith("),")
    assert second.startswith("    minimum(")


def test_words_without_a_good_break_are_broken_at_the_last_space() -> None:
    assert fitted(["ab " * 40]) == [("ab " * 33).rstrip(), "    " + "ab " * 7]
    assert fitted(["a" * 120]) == ["a" * 120]
    assert fitted(["a" * 120 + " b"]) == ["a" * 120, "    b"]


WORDS = st.sampled_from(["a", "x[i", "* 4]", "+", "f(b,", "c)", "d" * 30, "="])


@given(st.lists(WORDS, max_size=60))
def test_only_spaces_change(words: list[str]) -> None:
    line = " ".join(words)
    parts = fitted([line])
    assert " ".join(part.strip() for part in parts) == line
    assert all(len(part) <= 100 for part in parts)
