"""Runs peers side by side: workload after workload, and in each peer after peer, round by round."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.benchmarks import formats
from tests.benchmarks.limits import Machine
from tests.benchmarks.peers import PEERS
from tests.benchmarks.process import PeerProcess
from tests.benchmarks.results import Results, Run, Timing
from tests.benchmarks.workload import Workload, all_workloads, group_of

_RUN_TIMEOUT = 60  # seconds, for a slice and the call that ends it
_EXPORT_TIMEOUT = 600
_DAY = 86400


@dataclass(frozen=True)
class Plan:
    """What to run. `interpreters`: of peers that live in another environment; `default` of the
    others. `slice_seconds`: that a peer has in each of the rounds. `timeout`: seconds that it may
    take to compile. `files`: where workloads are kept as files."""

    workloads: Sequence[str]
    peers: Sequence[str]
    threads: Sequence[int]
    default: str
    files: Path
    interpreters: Mapping[str, str] = field(default_factory=dict)
    rounds: int = 7
    slice_seconds: float = 0.05
    timeout: float = 240

    def interpreter(self, peer: str) -> str:
        return self.interpreters.get(peer, self.default)


def default_files() -> Path:
    """In the user's cache folder; another one for each state of what the files are made by."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    here = Path(__file__).resolve().parent
    made_by = [here / name for name in ("workload.py", "functions.py", "formats.py")]
    made_by += sorted((here / "workloads").glob("*.py"))
    state = hashlib.sha256(b"".join(file.read_bytes() for file in made_by))
    return cache / "ccodegen-benchmarks" / state.hexdigest()[:12]


def forget_old_files(kept: Path) -> None:
    """Removes those of other states beside them, which take gigabytes, when they are a day old."""
    for folder in kept.parent.glob("*"):
        if folder != kept and time.time() - folder.stat().st_mtime > _DAY:
            shutil.rmtree(folder, ignore_errors=True)


def run(plan: Plan, say: Callable[[str], None], done: Callable[[Results], None]) -> Results:
    """Runs all of it. `say` gets what is worth a line, `done` the results after each workload."""
    results = Results(machine_name())
    machine = Machine()
    try:
        for threads in plan.threads:
            with _processes(plan, threads, say) as processes:
                results.versions.update(processes.versions)
                for name in plan.workloads:
                    results.runs.append(_run_one(plan, name, processes, machine, say))
                    done(results)
    finally:
        machine.close()
    return results


class _Processes:
    """The processes of the peers that are there."""

    def __init__(self, plan: Plan, threads: int, scratch: Path) -> None:
        self._plan, self.threads, self._scratch = plan, threads, scratch
        self._running: dict[str, PeerProcess] = {}
        self.versions: dict[str, str] = {}

    def start(self, say: Callable[[str], None]) -> None:
        """Finds out which peers are there, and says which are not."""
        for peer in self._plan.peers:
            started = self._start(peer).started
            if "version" in started:
                self.versions[peer] = started["version"]
            else:
                say(f"{peer}: left out, {started.get('skipped') or started.get('failed')}")
                self._running.pop(peer).end()

    def of(self, peer: str, fresh: bool) -> PeerProcess:
        """`fresh`: one that has not run anything yet."""
        process = self._running.get(peer)
        if process and process.alive and not fresh:
            return process
        if process:
            process.end()
        return self._start(peer)

    def end(self) -> None:
        for process in self._running.values():
            process.end()

    def _start(self, peer: str) -> PeerProcess:
        interpreter = self._plan.interpreter(peer)
        process = PeerProcess(peer, self.threads, interpreter, self._scratch)
        self._running[peer] = process
        return process


@contextmanager
def _processes(plan: Plan, threads: int, say: Callable[[str], None]) -> Iterator[_Processes]:
    scratch = Path(tempfile.mkdtemp(prefix="ccodegen-benchmarks-"))
    processes = _Processes(plan, threads, scratch)
    try:
        processes.start(say)
        yield processes
    finally:
        processes.end()
        shutil.rmtree(scratch, ignore_errors=True)


def _run_one(
    plan: Plan, name: str, processes: _Processes, machine: Machine, say: Callable[[str], None]
) -> Run:
    workload, folder = all_workloads()[name], plan.files / name
    made = Run(name, group_of(name), processes.threads)
    trouble = formats.ensure("jax", name, folder, plan.interpreter("xla"), _EXPORT_TIMEOUT)
    if trouble:
        say(f"{name}: left out, {trouble}")
        return made
    peers = [peer for peer in processes.versions if peer not in workload.without]
    made.timings = {peer: _prepare(plan, name, peer, processes) for peer in peers}
    ready = [peer for peer, timing in made.timings.items() if not timing.note]
    for _ in range(plan.rounds):
        for peer in ready:
            _time(processes.of(peer, fresh=False), made.timings[peer], plan.slice_seconds)
        _add_limit(made, workload, folder, machine)
    return made


def _prepare(plan: Plan, name: str, peer: str, processes: _Processes) -> Timing:
    workload, folder = all_workloads()[name], plan.files / name
    for form in PEERS[peer]:
        interpreter = plan.interpreter(peer)
        trouble = formats.ensure(form, name, folder, interpreter, _EXPORT_TIMEOUT)
        if trouble:
            return Timing(note=trouble)
    process = processes.of(peer, fresh=workload.whole_model)
    answer = process.ask({"prepare": name, "folder": str(folder)}, plan.timeout)
    if reason := answer.get("skipped") or answer.get("failed"):
        return Timing(note=reason, failed="failed" in answer)
    memory = answer["memory"] if workload.whole_model else None  # else that of others before it
    return Timing(**{**answer, "memory": memory})


def _time(process: PeerProcess, timing: Timing, seconds: float) -> None:
    """Adds a slice to what is known."""
    if timing.note:
        return
    answer = process.ask({"run": seconds}, _RUN_TIMEOUT)
    if "failed" in answer:
        timing.note, timing.failed = answer["failed"], True
        return
    timing.wall = _least(timing.wall, answer["wall"])
    timing.median = _least(timing.median, answer["median"])
    timing.processor = _least(timing.processor, answer["processor"])


def _least(known: float | None, other: float) -> float:
    return other if known is None else min(known, other)


def _add_limit(made: Run, workload: Workload, folder: Path, machine: Machine) -> None:
    """Adds what the machine can do now to what is known."""
    known = formats.facts(folder)
    limit = machine.limit(
        workload.flops,
        workload.arithmetic,
        known.read,
        known.written,
        workload.turns,
        made.threads,
    )
    if limit and limit.seconds == _least(made.limit, limit.seconds):
        made.limit, made.bound = limit.seconds, limit.bound


def chosen(pattern: str) -> list[str]:
    """The workloads in whose name, or group, the regular expression is found."""
    found = re.compile(pattern)
    names = all_workloads()
    return [name for name in names if found.search(name) or found.search(group_of(name))]


def machine_name() -> str:
    """The processor and how many of them there are."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        models = [line.partition(":")[2].strip() for line in lines if "model name" in line]
    except OSError:
        models = []
    model = models[0] if models else platform.processor() or platform.machine()
    return f"{model}, {os.cpu_count()} cores, {platform.system()}"
