"""The process that a peer runs in: `python -m tests.benchmarks.worker PEER THREADS SCRATCH`.

It reads requests, a line of JSON each, and answers each by a line:

    {"prepare": NAME, "folder": PATH}   compile a workload, compare its results with XLA's
    {"run": SECONDS}                    call it over and over for so long

An answer has "skipped" or "failed" with a sentence where there is nothing else to say.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks import formats
from tests.benchmarks.peers.peer import Job, NotOfferedError, Peer, Prepared
from tests.benchmarks.workload import Array, Kind, Workload, all_workloads

_LEAST_TIMED = 2e-4  # seconds: shorter calls are timed several at once
_LONG = 0.5  # seconds: calls longer than that are not repeated before they are timed
_MOST_SAID = 200  # characters

Answer = dict[str, Any]


class Worker:
    """One peer in this process, at one workload after the other."""

    def __init__(self, peer: Peer, scratch: Path) -> None:
        self._peer, self._scratch = peer, scratch
        self._call: Callable[[], Any] | None = None
        self._together = 1

    def answer(self, request: Mapping[str, Any]) -> Answer:
        if "run" in request:
            return self._run(request["run"])
        return self._prepare(request["prepare"], Path(request["folder"]))

    def _prepare(self, name: str, folder: Path) -> Answer:
        self._call = None  # lets go of the one before
        workload = all_workloads()[name]
        prepared = self._peer.prepare(Job(name, workload, folder, self._scratch))
        self._call = prepared.call
        self._together = max(1, int(_LEAST_TIMED / _estimate(prepared.call)))
        memory = peak_memory()  # before the comparison, which takes memory of its own
        return {
            "compiled": prepared.compiled,
            "restored": prepared.restored,
            "memory": memory,
            **self._compared(prepared, workload, folder),
        }

    def _compared(self, prepared: Prepared, workload: Workload, folder: Path) -> Answer:
        if not workload.compare:
            return {}
        made = list(prepared.results())
        if self._peer.channels_first and workload.output is Kind.IMAGE:
            made = [image.transpose(0, 2, 3, 1) for image in made]
        error = largest_error(made, formats.results(folder))
        wrong = not error <= workload.tolerance
        return {"error": error if np.isfinite(error) else None, "wrong": wrong}

    def _run(self, seconds: float) -> Answer:
        call, together = self._call, self._together
        if call is None:
            return {"failed": "the process was started anew"}
        call()  # the caches were another's
        walls: list[float] = []
        processors: list[float] = []
        end = time.perf_counter() + seconds
        while not walls or time.perf_counter() < end:
            processor, wall = time.process_time(), time.perf_counter()
            for _ in range(together):
                call()
            walls.append((time.perf_counter() - wall) / together)
            processors.append((time.process_time() - processor) / together)
        return {
            "wall": min(walls),
            "median": statistics.median(walls),
            # Not the least: that of threads which just ran is counted late, and once in a while.
            "processor": statistics.median(processors),
        }


def largest_error(made: Sequence[Array], expected: Sequence[Array]) -> float:
    """Relative to the largest magnitude of each result; infinite for integers that differ, and for
    results that are not numbers where they should be."""
    assert len(made) == len(expected), f"{len(made)} results, not {len(expected)}"
    pairs = zip(made, expected, strict=True)
    return max(_error(np.asarray(a), np.asarray(b)) for a, b in pairs)


def _error(made: Array, expected: Array) -> float:
    made = made.reshape(expected.shape)
    if expected.dtype.kind in "iub":
        return 0.0 if np.array_equal(made, expected) else float("inf")
    exact = np.complex128 if expected.dtype.kind == "c" else np.float64
    wanted = expected.astype(exact)
    difference = np.abs(made.astype(exact) - wanted)
    worst = float(np.max(difference, initial=0))
    scale = float(np.max(np.abs(wanted), initial=0)) or 1.0
    return worst / scale if np.isfinite(worst) else float("inf")


def peak_memory() -> int | None:
    """The most bytes that this process had in memory so far; None where that is not to be had."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    found = re.search(r"VmHWM:\s*(\d+) kB", status)
    return int(found[1]) * 1024 if found else None


def _estimate(call: Callable[[], Any]) -> float:
    """Seconds of a call, roughly."""
    best = float("inf")
    for _ in range(4):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
        if best > _LONG:
            break
    return best


def _answered(worker: Worker, request: Mapping[str, Any]) -> Answer:
    try:
        return worker.answer(request)
    except NotOfferedError as reason:
        return {"skipped": str(reason)}
    except Exception as error:
        traceback.print_exc()
        said = " ".join(f"{type(error).__name__}: {error}".split())
        said = said.replace(str(Path.home()), "~")
        return {"failed": said[:_MOST_SAID]}


def main() -> None:
    # Packages print; the answers have a channel of their own.
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(answer: Answer) -> None:
        channel.write(json.dumps(answer) + "\n")
        channel.flush()

    name, threads, scratch = sys.argv[1:]
    try:
        module = importlib.import_module(f"tests.benchmarks.peers.{name}")
        peer: Peer = module.Peer(int(threads))
    except ImportError as error:
        say({"skipped": f"not installed ({error})"})
        return
    say({"version": peer.version})
    worker = Worker(peer, Path(scratch))
    for line in sys.stdin:
        say(_answered(worker, json.loads(line)))


if __name__ == "__main__":
    main()
