"""Runs many trials, in batches, each in a process of its own: a crash or a hang costs one trial."""

from __future__ import annotations

import gc
import json
import multiprocessing
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from tests.random_modules import batch
from tests.random_modules.batch import Compilation, Found, Started
from tests.random_modules.trial import Mode, Trial

SECONDS = 180.0  # without a sign of life: a hang; a batch compiles for long on a busy machine
_CONTEXT = multiprocessing.get_context("fork")

Work = Callable[[Sequence[Trial], Compilation, batch.Report], None]


@dataclass
class Campaign:
    """Seeds from `first` on, so many; each is tried in one of the modes, by turns.

    `folder` gets the text and the message of each find, and how far the campaign is, from where
    it goes on when it is run again. `ends_are_refusals`: a trial that ends the process is no find.
    """

    first: int
    count: int
    modes: Sequence[Mode]
    compilations: Sequence[Compilation]
    folder: Path
    work: Work = batch.run
    ends_are_refusals: bool = False
    size: int = 60
    finds: list[Found] = field(default_factory=list)
    refused: int = 0

    def run(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        done, began = self._resumed(), time.monotonic()
        start = done
        while done < self.count:
            seeds = range(self.first + done, self.first + min(done + self.size, self.count))
            trials = [Trial(seed, self.modes[seed % len(self.modes)]) for seed in seeds]
            turn = done // self.size % len(self.compilations)
            found = isolated(self.work, trials, self.compilations[turn], self.ends_are_refusals)
            self._keep(found)
            done += len(trials)
            self._note(done, (done - start) / (time.monotonic() - began))

    def _keep(self, found: Sequence[Found]) -> None:
        for one in found:
            if one.refused:
                self.refused += 1
                continue
            self.finds.append(one)
            path = self.folder / one.trial.name
            path.with_suffix(".hlo").write_text(one.trial.text(), encoding="utf-8")
            path.with_suffix(".txt").write_text(one.message, encoding="utf-8")
            print(f"found {one.trial.name}: {one.message.splitlines()[0][:150]}", flush=True)

    def _resumed(self) -> int:
        """How many trials an earlier run of this campaign has done."""
        if not self._state.exists():
            return 0
        state = json.loads(self._state.read_text(encoding="utf-8"))
        self.refused = state["refused"]
        return int(state["done"])

    def _note(self, done: int, pace: float) -> None:
        state = {"done": done, "refused": self.refused}
        self._state.write_text(json.dumps(state), encoding="utf-8")
        print(
            f"{done} modules, {pace:.1f} a second, {len(self.finds)} finds, {self.refused} refused",
            flush=True,
        )

    @property
    def _state(self) -> Path:
        modes = "-".join(mode.value for mode in self.modes)
        return self.folder / f"progress-{self.first}-{modes}.json"


def isolated(
    work: Work,
    trials: Sequence[Trial],
    compilation: Compilation,
    ends_are_refusals: bool = False,
    seconds: float = SECONDS,
) -> list[Found]:
    """What a batch finds; trials that end or hang the process are finds, the others run again."""
    found: dict[Trial, Found] = {}
    left = list(trials)
    while left:
        receiving, sending = _CONTEXT.Pipe(duplex=False)
        process = _CONTEXT.Process(target=_child, args=(work, left, compilation, sending))
        process.start()
        sending.close()
        culprit = _listen(receiving, found, seconds)
        if culprit is None:
            process.join()
            break
        process.join(1.0)
        ended = f"the process ended with code {process.exitcode}"
        what = f"no result in {seconds} seconds" if process.is_alive() else ended
        process.kill()
        process.join()
        found[culprit] = Found(culprit, what, ends_are_refusals)
        left.remove(culprit)
    return list(found.values())


def _listen(
    receiving: Connection, found: dict[Trial, Found], seconds: float
) -> Trial | None:
    """Notes what is found; returns the trial that was running when the process stopped talking."""
    running: Trial | None = None
    while receiving.poll(seconds):
        try:
            message = receiving.recv()
        except EOFError:
            break
        if message is None:
            return None
        if isinstance(message, Found):
            found.setdefault(message.trial, message)
        elif isinstance(message, Started):
            running = message.trial
    assert running is not None, "the process did not begin"
    return running


def _child(
    work: Work, trials: Sequence[Trial], compilation: Compilation, sending: Connection
) -> None:
    gc.disable()  # the process ends before the rubbish matters: a tenth faster
    work(trials, compilation, sending.send)
    sending.send(None)
