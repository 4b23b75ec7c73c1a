"""A slice of the functions and types, or all of them with CCODEGEN_FULL=1; and the comparison."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")

import jax.numpy.fft

from tests.jax_functions import page
from tests.jax_functions.arrays import Arrays
from tests.jax_functions.compare import difference
from tests.jax_functions.listing import MODULES, Function, functions, public_names
from tests.jax_functions.outcome import AGREES, FAILS, NOT_TAKEN, Outcome, outcome
from tests.jax_functions.samples import samples

FULL = os.environ.get("CCODEGEN_FULL") == "1"
_STEP = 1 if FULL else 61  # no multiple of 3, so that the types take turns

_LARGE = np.float32([1, 2, 2, 2, 1e9])
_ALL = [f for module in MODULES for f in functions(module) if not f.skipped]
_CASES = [(f, element) for f in _ALL for element in ("f32", "f64", "c64")][::_STEP]


@pytest.mark.parametrize(
    ("function", "element"), _CASES, ids=[f"{f.path}-{element}" for f, element in _CASES]
)
def test_function_agrees_with_xla(function: Function, element: str) -> None:
    found = outcome(function, element)
    assert not page.is_wrong(found), found.detail


@pytest.mark.parametrize("function", _ALL, ids=[f.path for f in _ALL])
def test_function_has_samples(function: Function) -> None:
    assert samples(function, Arrays("f32"))


def test_listing_is_the_module_itself() -> None:
    found = {function.name for function in functions("jax.numpy.fft")}
    assert found == set(public_names(jax.numpy.fft))


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        (np.float32([1, np.nan]), np.float32([1, np.nan]), ""),
        (np.float32([1, 2.0001]), np.float32([1, 2]), "1 of 2 elements, by up to 5.0e-05"),
        (np.complex64([complex(np.inf, 0)]), np.complex64([complex(np.inf, np.nan)]), ""),
        (np.float32([1e-9, 3, 4]), np.float32([0, 3, 4]), ""),
        (_LARGE, _LARGE * np.float32(1.001), "5 of 5 elements, by up to 1.0e-03"),
        (_LARGE, _LARGE + np.float32(1e-4), "4 of 5 elements, by up to 5.0e-05"),
        (np.int32([1]), np.int32([2]), "1 of 1 elements, by up to inf"),
        (np.float32([1]), np.float64([1]), "float32[1] instead of float64[1]"),
        ((1, 2), [1, 2], "structure PyTreeDef((*, *)) instead of PyTreeDef([*, *])"),
    ],
)
def test_difference(ours: Any, theirs: Any, expected: str) -> None:
    assert difference(ours, theirs).text == expected


def test_page_renews_the_rows_of_its_functions(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "PAGE", tmp_path / "jax.md")
    for path, kind in (("nn.tanh", FAILS), ("nn.relu", AGREES), ("lax.tanh", AGREES)):
        _write(f"jax.{path}", kind)
    _write("jax.nn.tanh", AGREES)
    text = (tmp_path / "jax.md").read_text()
    places = [text.index(part) for part in ("## jax.lax", "## jax.nn", "| relu |")]
    assert places == sorted(places)
    assert text.count("| tanh | ok | ok | – |  |") == 2 and FAILS not in text


def _write(path: str, kind: str) -> None:
    found = {name: Outcome(kind) for name in ("f32", "f64")} | {"c64": Outcome(NOT_TAKEN)}
    page.write({path: found})


def test_page_has_every_function_and_no_fault() -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    if f"JAX {jax.__version__}," not in text:
        pytest.skip("the page is of another version of JAX")
    rows = page.rows(text)
    assert [f.path for f in _ALL if f.path not in rows] == []
    assert [row for row in rows.values() if any(f" {kind} |" in row for kind in page.WRONG)] == []
