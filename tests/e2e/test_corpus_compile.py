"""The corpus through the compiler: built, printed as C, compiled, run, compared.

A sample of each suite; all of it with CCODEGEN_FULL=1. As a program,
`python -m tests.e2e.test_corpus_compile [SUITE] [--strict]` prints what fails, and figures.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from ccodegen.backend.build import Build, build
from ccodegen.backend.dynamic_form import dynamic_form
from ccodegen.backend.memory_form import inputs_in_memory, outputs_in_memory
from ccodegen.backend.options import BuildOptions
from ccodegen.hlo.text import parse
from ccodegen.loop.verify import verify
from tests.c_library import CLibrary
from tests.corpus import KNOWN, SUITES, CorpusCase, runnable_cases
from tests.three_ways import assert_close, plain_target

FULL = os.environ.get("CCODEGEN_FULL") == "1"
SAMPLE = 1 if FULL else 4
BATCH = 25


@pytest.mark.parametrize("suite", SUITES)
def test_compiled_corpus(suite: str) -> None:
    cases = list(runnable_cases(suite))[::SAMPLE]
    outcomes = run_cases(cases)
    assert not {n: o for n, o in outcomes.items() if o != "right" and n not in KNOWN}


def run_cases(cases: Sequence[CorpusCase], strict: bool = False) -> dict[str, str]:
    """By name: "right", "wrong: …", or the error."""
    outcomes: dict[str, str] = {}
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        groups = [cases[n : n + BATCH] for n in range(0, len(cases), BATCH)]
        for found in pool.map(run_batch, groups, [strict] * len(groups)):
            outcomes |= found
    return outcomes


def run_batch(cases: Sequence[CorpusCase], strict: bool) -> dict[str, str]:
    """The outcomes of a few cases, whose C is compiled at once."""
    outcomes: dict[str, str] = {}
    built: list[tuple[CorpusCase, Build]] = []
    for case in cases:
        try:
            made = build(parse(case.text, case.name), BuildOptions(plain_target(), strict=strict))
            verify(made.program)
            built.append((case, made))
        except Exception as error:
            outcomes[case.name] = f"{type(error).__name__}: {error}"
    return outcomes | _run_built(built, strict)


def _run_built(built: Sequence[tuple[CorpusCase, Build]], strict: bool) -> dict[str, str]:
    """All at once; one by one where their C does not compile."""
    if not built:
        return {}
    programs = [made.program for _, made in built]
    try:
        library = CLibrary(programs, plain_target(), strict)
    except AssertionError as error:
        if len(built) == 1:
            return {built[0][0].name: f"C: {error}"}
        return {k: v for one in built for k, v in _run_built([one], strict).items()}
    return {one[0].name: _outcome(library, n, *one) for n, one in enumerate(built)}


def _outcome(library: CLibrary, number: int, case: CorpusCase, made: Build) -> str:
    try:
        there = inputs_in_memory(made.program, case.inputs())
        got = library.run(number, there)
        logical = case.expected_like(dynamic_form(made.program.arguments).taken(got))
        memory, counts = outputs_in_memory(made.program, logical)
        for n, (expected, which, value) in enumerate(zip(memory, counts, got, strict=True)):
            compared = ... if which is None else which > 0
            found = value.reshape(expected.shape)
            assert_close(expected[compared], found[compared], f"output {n}")
    except (AssertionError, OSError) as error:
        return f"wrong: {error}"
    return "right"


def main(arguments: Sequence[str]) -> None:
    strict = "--strict" in arguments
    suites = [a for a in arguments if not a.startswith("-")] or SUITES
    for suite in suites:
        cases = list(runnable_cases(suite))
        outcomes = run_cases(cases, strict)
        for name, outcome in outcomes.items():
            if outcome != "right":
                print(f"{name}: {outcome[:400]}")
        counts = Counter(o.partition(":")[0] for o in outcomes.values())
        print(f"== {suite}: {dict(counts)}")


if __name__ == "__main__":
    main(sys.argv[1:])
