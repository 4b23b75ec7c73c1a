"""Names and comments made from other people's text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccodegen.emit.names import Names, comment, harmless, identifier


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("add.5", "add_5"),
        ("params['w'][0]", "params_w_0"),
        ("float", "float_"),
        ("class", "class_"),
        ("_Bool", "Bool"),
        ("size_t", "size_t_"),
        ("INT_MAX", "INT_MAX_"),
        ("W", "W"),
        ("I", "I_"),
        ("ccg_exp", "ccg_exp_"),
        ("2x", "x2x"),
        ("…", "x"),
        ("", "x"),
        ("a" * 100, "a" * 40),
    ],
)
def test_identifier(text: str, name: str) -> None:
    assert identifier(text) == name


def test_names_are_unique_and_stay() -> None:
    names = Names({"t"})
    first, second = object(), object()
    assert [names.name(first, "x"), names.name(second, "x"), names.name(first, "y")] == [
        "x",
        "x_2",
        "x",
    ]
    assert names.fresh("t") == "t_2"
    assert names.fresh("int") == "int_"
    assert names.fresh("int") == "int_2"


@given(st.text())
def test_comments_cannot_be_left(text: str) -> None:
    for line in [harmless(text), "\n".join(comment(text))[2:-2]]:
        assert line.isascii()
        assert "*/" not in line
        assert "/*" not in line
        assert "??" not in line
        assert "\\" not in line


def test_comments_are_wrapped_and_keep_their_text() -> None:
    assert comment("dot.1") == ["/* dot.1 */"]
    lines = comment("word " * 60)
    assert len(lines) == 4
    assert all(len(line) <= 96 for line in lines)
    assert harmless("naïve\t*/") == "na<U+00EF>ve<U+0009>* /"
