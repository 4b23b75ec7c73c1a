"""What a run found out, as JSON."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

OURS = "ccodegen"


@dataclass
class Timing:
    """One peer at one workload. Times in seconds: of a call (least wall, median wall, median
    CPU time of the process), `compiled` from a program, `restored` out of a cache. `memory`: the
    process's peak in bytes, for whole models. `error`: of the results, see worker.largest_error;
    None where it is infinite. `note`: why there is no time; `failed`: it tried."""

    wall: float | None = None
    median: float | None = None
    processor: float | None = None
    compiled: float | None = None
    restored: float | None = None
    memory: int | None = None
    error: float | None = None
    wrong: bool = False
    note: str = ""
    failed: bool = False

    def score(self, threads: int) -> float | None:
        """With one thread the lesser of wall and CPU time: other load on the machine, which takes
        the processor away, only adds to the former. None where there is no right result."""
        if self.wall is None or self.wrong:
            return None
        return min(self.wall, self.processor or self.wall) if threads == 1 else self.wall


@dataclass
class Run:
    """All peers at one workload. `limit`: seconds that this machine needs at least; `bound`: for
    what."""

    workload: str
    group: str
    threads: int
    timings: dict[str, Timing] = field(default_factory=dict)
    limit: float | None = None
    bound: str = ""

    def score(self, peer: str) -> float | None:
        timing = self.timings.get(peer)
        return timing.score(self.threads) if timing else None

    def best(self) -> tuple[str, float] | None:
        """The fastest of the others that is right, and its time."""
        times = {p: self.score(p) for p in self.timings if p != OURS}
        known = {p: time for p, time in times.items() if time is not None}
        return min(known.items(), key=lambda pair: pair[1]) if known else None

    def against_best(self) -> float | None:
        """The best peer's time divided by ours."""
        best, ours = self.best(), self.score(OURS)
        return best[1] / ours if best and ours else None

    def against(self, peer: str) -> float | None:
        """That peer's time divided by ours."""
        theirs, ours = self.score(peer), self.score(OURS)
        return theirs / ours if theirs and ours else None

    def of_limit(self) -> float | None:
        """The fraction of what the machine can do that we reach."""
        ours = self.score(OURS)
        return self.limit / ours if self.limit and ours else None


@dataclass
class Results:
    """`versions`: of the peers. `machine`: a few words on it."""

    machine: str
    versions: dict[str, str] = field(default_factory=dict)
    runs: list[Run] = field(default_factory=list)

    def with_threads(self, threads: int) -> list[Run]:
        return [run for run in self.runs if run.threads == threads]

    def save(self, path: Path) -> None:
        """Whole or not at all: a run may be interrupted."""
        new = path.with_name(f"{path.name}.new")
        new.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
        os.replace(new, path)


def load(path: Path) -> Results:
    data = json.loads(path.read_text(encoding="utf-8"))
    runs = []
    for run in data.pop("runs"):
        timings = {peer: Timing(**timing) for peer, timing in run.pop("timings").items()}
        runs.append(Run(**run, timings=timings))
    return Results(**data, runs=runs)


def geometric_mean(ratios: Iterable[float | None]) -> float | None:
    """Of those that are known; None where none is."""
    logarithms = [math.log(ratio) for ratio in ratios if ratio]
    return math.exp(sum(logarithms) / len(logarithms)) if logarithms else None
