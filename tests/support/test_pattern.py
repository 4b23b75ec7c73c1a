"""Patterns that are compiled later are as those of the standard library."""

from __future__ import annotations

import re

import pytest

from ccodegen.support.pattern import pattern


def test_they_match_as_others_do() -> None:
    word = pattern(r"([a-z]+)\d", re.IGNORECASE)
    found = word.match("xAb7", 1)
    assert found and found[1] == "Ab"
    assert word.sub("-", "a1 B2") == "- -"
    assert word.pattern == r"([a-z]+)\d" and word.groups == 1
    assert pattern(rb"\s").split(b"a b") == [b"a", b"b"]


def test_a_wrong_one_is_found_when_it_is_used() -> None:
    wrong = pattern("(")
    with pytest.raises(re.error):
        wrong.match("")
