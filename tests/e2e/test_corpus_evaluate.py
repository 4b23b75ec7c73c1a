"""The corpus through the evaluator. A sample of each suite; all of it with CCODEGEN_FULL=1."""

from __future__ import annotations

import os

import numpy as np
import pytest

import ccodegen.ops  # noqa: F401  (fills the registry)
from ccodegen.hlo.evaluate import evaluate, value_leaves
from ccodegen.hlo.text import parse
from ccodegen.support.errors import UnsupportedError
from tests.corpus import SUITES, CorpusCase, runnable_cases
from tests.three_ways import assert_close

FULL = os.environ.get("CCODEGEN_FULL") == "1"
SAMPLE = 1 if FULL else 10

# Cases in which XLA:CPU's answer is not HLO's.
KNOWN = {
    "xla_run/xla_tests_reduce_test.cc.2": "adds an init that is not neutral 33 times",
    "xla_run/xla_backends_cpu_codegen_tiled_tests_elementwise_complex_divide.hlo.0": (
        "recovers infinities as C99's annex G does"
    ),
}


@pytest.mark.parametrize("suite", SUITES)
def test_evaluated_corpus(suite: str) -> None:
    cases = list(runnable_cases(suite))[::SAMPLE]
    outcomes = {case.name: outcome(case) for case in cases}
    unknown = {n: o for n, o in outcomes.items() if n not in KNOWN}
    assert not {n: o for n, o in unknown.items() if not o.startswith(("right", "unsupported"))}
    listed = [outcomes[case.name] for case in cases if case.is_listed]
    assert sum(o.startswith("unsupported") for o in listed) <= 0.01 * len(listed)


def outcome(case: CorpusCase) -> str:
    """ "right", "unsupported: …" or what is wrong."""
    try:
        values = value_leaves(evaluate(parse(case.text, case.name), *case.inputs()))
    except UnsupportedError as error:
        return f"unsupported: {error.message}"
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
