"""The evaluator against XLA:CPU, on modules of small integers, which both compute exactly."""

from __future__ import annotations

from collections.abc import Sequence

from ccodegen.frontends._jaxlib import run_hlo
from ccodegen.hlo.evaluate import evaluate, value_leaves
from ccodegen.hlo.text import parse
from tests.random_modules.batch import Compilation, Found, Report, Started
from tests.random_modules.trial import Trial
from tests.random_modules.values import arguments
from tests.three_ways import assert_close


def run(trials: Sequence[Trial], compilation: Compilation, report: Report) -> None:
    """Reports where they differ; `refused` where XLA does not take the module. Where XLA ends the
    process, the campaign says so."""
    for trial in trials:
        report(Started(trial))
        text = trial.text()
        module = parse(text)
        given = arguments(module, trial.seed, exact=True)
        expected = list(value_leaves(evaluate(module, *given)))
        try:
            got = run_hlo(text, given)
        except Exception as error:
            report(Found(trial, str(error), refused=True))
            continue
        try:
            for number, (e, g) in enumerate(zip(expected, got, strict=True)):
                assert_close(e, g, f"XLA, output {number}")
        except Exception as error:
            report(Found(trial, str(error)))
