"""The passes over real modules: they stay valid, and compute the same bits.

A sample of the corpus; all of it with CCODEGEN_FULL=1.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ccodegen.ops  # noqa: F401  (fills the registry)
from ccodegen.hlo.dynamic import dynamic_dimensions
from ccodegen.hlo.evaluate import evaluate, value_leaves
from ccodegen.hlo.ir import Module
from ccodegen.hlo.shape import Shape, leaves
from ccodegen.hlo.text import parse
from ccodegen.hlo.verify import verify
from ccodegen.passes.context import PassContext
from ccodegen.passes.pipelines import SIMPLIFICATION, run
from ccodegen.support.errors import InputError, UnsupportedError
from tests.passes.checking import assert_same_bits
from tests.shared import corpus_dir

STRICT = PassContext(strict=True, verify=True)
DEFAULT = PassContext(verify=True)
PARTS = 8
FULL = os.environ.get("CCODEGEN_FULL") == "1"


def cases(part: int, runnable: bool) -> Iterator[tuple[Path, dict[str, Any]]]:
    """One of PARTS equal parts; of those, one case in ten unless the whole corpus is asked for."""
    corpus = corpus_dir()
    lines = (corpus / "index.jsonl").read_text(encoding="utf-8").splitlines()
    chosen = [case for case in map(json.loads, lines) if ("npz" in case) == runnable]
    for case in chosen[part :: PARTS if FULL else PARTS * 10]:
        yield corpus, case


@pytest.mark.parametrize("part", range(PARTS))
def test_modules_stay_valid_and_print(part: int) -> None:
    for corpus, case in cases(part, runnable=False):
        text = (corpus / case["hlo"]).read_text(encoding="utf-8")
        try:
            module = parse(text)
            verify(module)
        except InputError:
            continue  # the parser's and the verifier's own tests count these
        for context in (STRICT, DEFAULT):
            try:
                printed = run(module, SIMPLIFICATION, context).to_text()
            except UnsupportedError:
                continue  # programs for several devices
            assert parse(printed).to_text() == printed, case["name"]


@pytest.mark.parametrize("part", range(PARTS))
def test_strict_passes_keep_the_bits(part: int) -> None:
    for corpus, case in cases(part, runnable=True):
        module = parse((corpus / case["hlo"]).read_text(encoding="utf-8"))
        if dynamic_dimensions([module.entry.root.shape]):
            continue  # their results get sizes: tests/ops/test_dynamic_shape.py compares such
        arguments = list(inputs(corpus / case["npz"], case))
        try:
            expected = evaluate(module, *arguments)
        except UnsupportedError:
            continue
        simplified = run(module, SIMPLIFICATION, STRICT)
        if interface(simplified) != interface(module):
            continue  # dynamic sizes and random state become parameters and results of their own
        got = evaluate(simplified, *arguments)
        for a, b in zip(value_leaves(expected), value_leaves(got), strict=True):
            assert_same_bits(a, b)


def interface(module: Module) -> list[Shape]:
    """The shapes of all that goes in and out."""
    shapes = [*(p.shape for p in module.entry.parameters), module.entry.root.shape]
    return [leaf for shape in shapes for leaf in leaves(shape)]


def inputs(path: Path, case: dict[str, Any]) -> Iterator[np.ndarray[Any, Any]]:
    """in0, in1, … in their own types, which NumPy may have stored as raw integers."""
    with np.load(path) as arrays:
        for number in range(case["inputs"]):
            name = f"in{number}"
            wanted = case["dtypes"][name]
            dtype = np.dtype(getattr(ml_dtypes, wanted, None) or wanted)
            array = arrays[name]
            yield array if array.dtype == dtype else array.view(dtype)
