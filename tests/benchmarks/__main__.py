"""`python -m tests.benchmarks`: see the package's docstring, and --help."""

from __future__ import annotations

import argparse
import re
import shutil
import signal
import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from tests.benchmarks import run as runner
from tests.benchmarks.peers import PEERS
from tests.benchmarks.plot import plot
from tests.benchmarks.report import report
from tests.benchmarks.results import Results
from tests.benchmarks.workload import group_of


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    names = runner.chosen(options.workloads)
    if options.list:
        print(listing(names))
        return 0
    if not names:
        print(f"no workload matches {options.workloads!r}; --list shows them", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends the processes of peers first
    if not options.files:
        runner.forget_old_files(runner.default_files())
    results = runner.run(_plan(options, names), _say, lambda made: _progress(made, options.json))
    print(report(results))
    if options.plot:
        _plot(results, options.plot)
    return 0


def listing(names: Sequence[str]) -> str:
    """The workloads by group, and the peers."""
    lines = [f"{group}: {' '.join(members)}" for group, members in groupby(names, group_of)]
    return "\n".join([*lines, f"peers: {' '.join(PEERS)}"])


def _plan(options: argparse.Namespace, names: Sequence[str]) -> runner.Plan:
    return runner.Plan(
        workloads=names,
        peers=options.peers,
        threads=options.threads,
        default=sys.executable,
        files=options.files or runner.default_files(),
        interpreters={peer: path for pairs in options.python for peer, path in pairs.items()},
        rounds=options.rounds,
        slice_seconds=options.slice_ms / 1000,
        timeout=options.timeout,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks",
        description="Times workloads in ccodegen and its peers side by side.",
    )
    add = parser.add_argument
    add("--workloads", metavar="REGEX", default=".", type=_pattern, help="found in name or group")
    add("--peers", metavar="A,B", type=_peers, default=list(PEERS), help="default: all installed")
    add("--threads", metavar="1,2", type=_counts, default=[1], help="default: 1")
    add("--rounds", metavar="N", type=int, default=7, help="time slices for each peer (7)")
    add("--slice-ms", metavar="N", type=float, default=50, help="length of a slice (50)")
    add("--timeout", metavar="S", type=float, default=240, help="seconds to compile (240)")
    add("--json", metavar="FILE", type=Path, help="write the results, after each workload")
    add("--plot", metavar="FILE", type=Path, help="draw the ratios, by matplotlib")
    add("--files", metavar="FOLDER", type=Path, help="keep exported workloads there")
    add(
        "--python",
        metavar="PEER=INTERPRETER",
        type=_interpreter,
        action="append",
        default=[],
        help="the Python that a peer is installed for; several peers by commas; may be repeated",
    )
    add("--list", action="store_true", help="print the workloads and peers, and stop")
    return parser


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"not a regular expression: {error}") from None
    return text


def _peers(text: str) -> list[str]:
    names = text.split(",")
    unknown = [name for name in names if name not in PEERS]
    if unknown:
        known = ", ".join(PEERS)
        raise argparse.ArgumentTypeError(f"no peer is called {unknown[0]}; there are {known}")
    return names


def _counts(text: str) -> list[int]:
    try:
        counts = [int(word) for word in text.split(",")]
    except ValueError:
        counts = [0]
    if min(counts) < 1:
        raise argparse.ArgumentTypeError(f"numbers of threads, not {text}")
    return counts


def _interpreter(text: str) -> dict[str, str]:
    names, _, path = text.partition("=")
    if not path:
        raise argparse.ArgumentTypeError("PEER=INTERPRETER is wanted")
    if not shutil.which(path):
        raise argparse.ArgumentTypeError(f"there is no program {path}")
    return dict.fromkeys(_peers(names), path)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _progress(results: Results, path: Path | None) -> None:
    last = results.runs[-1]
    best = last.best()
    ratio = last.against_best()
    told = f", {ratio:.2f} times as fast as {best[0]}" if best and ratio else ""
    _say(f"{last.workload}, {last.threads} threads: {len(last.timings)} peers{told}")
    if path:
        results.save(path)


def _plot(results: Results, path: Path) -> None:
    try:
        plot(results, path)
    except ImportError:
        _say("no plot: matplotlib is not installed")


if __name__ == "__main__":
    sys.exit(main())
