"""The corpus through the evaluator. A sample of each suite; all of it with CCODEGEN_FULL=1."""

from __future__ import annotations

import os

import numpy as np
import pytest

import ccodegen.ops  # noqa: F401  (fills the registry)
from ccodegen.hlo.evaluate import evaluate, value_leaves
from ccodegen.hlo.text import parse
from ccodegen.support.errors import CcodegenError
from tests.corpus import KNOWN, SUITES, CorpusCase, runnable_cases
from tests.three_ways import assert_close

FULL = os.environ.get("CCODEGEN_FULL") == "1"
SAMPLE = 1 if FULL else 10


@pytest.mark.parametrize("suite", SUITES)
def test_evaluated_corpus(suite: str) -> None:
    cases = list(runnable_cases(suite))[::SAMPLE]
    outcomes = {case.name: outcome(case) for case in cases}
    assert not {n: o for n, o in outcomes.items() if o != "right" and n not in KNOWN}


def outcome(case: CorpusCase) -> str:
    """ "right", or what is wrong."""
    try:
        values = value_leaves(evaluate(parse(case.text, case.name), *case.inputs()))
    except CcodegenError as error:
        return str(error)
    got = [np.asarray(v) for v in values if v is not None]
    expected = case.expected_like(got)
    if [(g.dtype, g.shape) for g in got] != [(e.dtype, e.shape) for e in expected]:
        return "wrong: other types or dimensions"
    try:
        for number, (e, g) in enumerate(zip(expected, got, strict=True)):
            assert_close(e, g, f"output {number}")
    except AssertionError as error:
        return f"wrong: {str(error)[:200]}"
    return "right"
