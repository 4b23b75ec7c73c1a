"""Random modules every way: a slice of the campaign `python -m tests.random_modules`.

More with CCODEGEN_FULL=1.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest

from ccodegen.hlo.opdef import all_ops
from tests.random_modules import batch, random_module
from tests.random_modules.batch import Compilation, Found, Report, Started
from tests.random_modules.campaign import isolated
from tests.random_modules.trial import Mode, Trial

COUNT = 3000 if os.environ.get("CCODEGEN_FULL") == "1" else 90
# What asks the caller.
_NOT_MADE = frozenset({"infeed", "outfeed", "recv", "recv-done", "send", "send-done"})


@pytest.mark.parametrize("mode", [Mode.STRICT, Mode.EXACT, Mode.LOOSE])
def test_random_modules(mode: Mode) -> None:
    messages: list[Started | Found] = []
    batch.run([Trial(seed, mode) for seed in range(COUNT)], batch.FAST, messages.append)
    found = [m for m in messages if isinstance(m, Found) and not m.refused]
    assert not found, "\n\n".join(f"{one.trial.name}: {one.message}" for one in found)


def test_every_op_is_made() -> None:
    made = {
        instruction.op
        for seed in range(2500)
        for computation in random_module(seed).computations
        for instruction in computation.instructions
    }
    assert {d.opcode for d in all_ops()} - made - _NOT_MADE == set()


def test_the_same_seed_makes_the_same_module() -> None:
    assert random_module(5).to_text() == random_module(5).to_text()


@pytest.mark.filterwarnings("ignore:os.fork")
def test_a_trial_that_ends_or_hangs_the_process_is_found() -> None:
    trials = [Trial(seed, Mode.EXACT) for seed in range(4)]
    found = isolated(_misbehave, trials, batch.FAST, seconds=1.0)
    assert {one.trial.seed: one.message for one in found} == {
        1: "the process ended with code 7",
        2: "no result in 1.0 seconds",
        3: "wrong",
    }


def _misbehave(trials: Sequence[Trial], compilation: Compilation, report: Report) -> None:
    for trial in trials:
        report(Started(trial))
        if trial.seed == 1:
            os._exit(7)
        while trial.seed == 2:
            pass
        if trial.seed == 3:
            report(Found(trial, "wrong"))
