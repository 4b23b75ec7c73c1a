"""Results as tables in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.benchmarks.results import OURS, Results, Run, Timing, geometric_mean

_NONE = "–"
_NAMED = 4  # workloads in a note


def report(results: Results) -> str:
    """Tables of times, and of what compiling took, for each number of threads."""
    parts = [results.machine, versions(results)]
    for threads in sorted({run.threads for run in results.runs}):
        runs = results.with_threads(threads)
        peers = [peer for peer in results.versions if any(peer in run.timings for run in runs)]
        counted = f"{threads} thread{'s' if threads > 1 else ''}"
        parts += [f"Time of a call, {counted}", times(results, runs, peers)]
        parts += [f"Seconds to compile (from the cache), peak megabytes, {counted}"]
        parts += [costs(runs, peers)]
        parts += notes(runs)
    return "\n\n".join(part for part in parts if part)


def versions(results: Results) -> str:
    return ", ".join(f"{peer} {version}" for peer, version in results.versions.items())


def times(results: Results, runs: Sequence[Run], peers: Sequence[str]) -> str:
    """One row a workload; the fastest is marked by *, a wrong result by !."""
    others = [peer for peer in peers if peer != OURS]
    gain = len(runs) > 0 and runs[0].threads > 1
    header = ["workload", OURS, *others, "best ÷ ours", "xla ÷ ours", "of limit"]
    rows = [header + (["1 thread ÷"] if gain else [])]
    for run in runs:
        cells = [_time(run, peer) for peer in [OURS, *others]]
        cells += [_ratio(run.against_best()), _ratio(run.against("xla")), _of_limit(run)]
        cells += [_ratio(_gain(results, run))] if gain else []
        rows.append([run.workload, *cells])
    return table([*rows, *_means(results, runs, len(others), gain)])


def _means(results: Results, runs: Sequence[Run], others: int, gain: bool) -> list[list[str]]:
    blank = [""] * (others + 1)
    columns: list[Callable[[Run], float | None]] = [Run.against_best, lambda r: r.against("xla")]
    means = [_ratio(geometric_mean(column(run) for run in runs)) for column in columns]
    mean = ["geometric mean", *blank, *means, ""]
    worst = ["least", *blank, *(_ratio(_least(column, runs)) for column in columns), ""]
    if not gain:
        return [mean, worst]
    gains = [_gain(results, run) for run in runs]
    return [[*mean, _ratio(geometric_mean(gains))], [*worst, ""]]


def _least(column: Callable[[Run], float | None], runs: Sequence[Run]) -> float | None:
    return min((ratio for run in runs if (ratio := column(run)) is not None), default=None)


def costs(runs: Sequence[Run], peers: Sequence[str]) -> str:
    """What a peer takes before its first call."""
    rows = [["workload", *peers]]
    for run in runs:
        rows.append([run.workload, *(_cost(run.timings.get(peer)) for peer in peers)])
    return table(rows)


def notes(runs: Sequence[Run]) -> list[str]:
    """Why times are missing, and which results were wrong; a line for each peer and reason."""
    said: dict[str, list[str]] = {}
    for run in runs:
        for peer, timing in run.timings.items():
            for reason in filter(None, (timing.note, _wrong(timing))):
                said.setdefault(f"{peer}: {reason}", []).append(run.workload)
    return ["\n".join(f"- {why} ({_some(where)})" for why, where in said.items())]


def _some(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _wrong(timing: Timing) -> str:
    if not timing.wrong:
        return ""
    by = "" if timing.error is None else f" by {timing.error:.1e} of the largest magnitude"
    return f"wrong{by}"


def table(rows: Sequence[Sequence[str]]) -> str:
    """The first row is the header; columns are padded to the same width."""
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    rule = ["-" * width for width in widths]
    lines = [rows[0], rule, *rows[1:]]
    padded = (" | ".join(_padded(row, widths)) for row in lines)
    return "\n".join(f"| {line} |" for line in padded)


def _padded(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    first, *others = zip(row, widths, strict=True)
    return [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]


def seconds(time: float) -> str:
    """Three digits in a unit that fits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if time >= size:
            return f"{time / size:.3g} {unit}"
    return f"{time / 1e-6:.3g} µs"


def _time(run: Run, peer: str) -> str:
    timing = run.timings.get(peer)
    if timing is None or timing.wall is None:
        return "failed" if timing is not None and timing.failed else _NONE
    if timing.wrong:
        return f"{seconds(timing.wall)}!"
    time = run.score(peer) or timing.wall
    scores = [score for p in run.timings if (score := run.score(p)) is not None]
    return f"{seconds(time)}*" if time == min(scores) else f"{seconds(time)} "


def _ratio(value: float | None) -> str:
    return _NONE if value is None else f"{value:.2f}"


def _of_limit(run: Run) -> str:
    fraction = run.of_limit()
    return _NONE if fraction is None else f"{fraction:.0%} {run.bound}"


def _gain(results: Results, run: Run) -> float | None:
    """Our time with one thread divided by that with several."""
    before = (r for r in results.with_threads(1) if r.workload == run.workload)
    single = next(before, None)
    one, several = single.score(OURS) if single else None, run.score(OURS)
    return one / several if one and several else None


def _cost(timing: Timing | None) -> str:
    if timing is None or timing.compiled is None:
        return _NONE
    restored = "" if timing.restored is None else f" ({timing.restored:.3f})"
    memory = "" if timing.memory is None else f" {timing.memory / 2**20:.0f} MB"
    return f"{timing.compiled:.2f}{restored}{memory}"
