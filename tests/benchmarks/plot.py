"""A picture of the results, where matplotlib is installed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.results import Results, Run

_ROW = 0.22  # inches
_MARGIN = 1.2  # beside the longest bars; a name next to one takes some of the range more
_AHEAD, _BEHIND = "tab:green", "tab:red"


def plot(results: Results, path: Path) -> None:
    """How often as fast as the best peer we are, a bar a workload, a column of bars for each
    number of threads. Raises ImportError where matplotlib is missing."""
    import matplotlib

    matplotlib.use("Agg")  # needs no screen
    from matplotlib import pyplot

    counts = sorted({run.threads for run in results.runs})
    columns = [_known(results.with_threads(threads)) for threads in counts]
    height = 1.2 + _ROW * max(1, *(len(runs) for runs in columns))
    figure, axes = pyplot.subplots(
        1, len(columns), figsize=(6 * len(columns), height), squeeze=False
    )
    for axis, runs, threads in zip(axes[0], columns, counts, strict=True):
        _draw(axis, runs, f"{threads} thread{'s' if threads > 1 else ''}")
    figure.suptitle(f"time of the best peer ÷ ours; {results.machine}", fontsize=9)
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)


def _known(runs: Sequence[Run]) -> list[Run]:
    return [run for run in runs if run.against_best() is not None]


def _draw(axis: Any, runs: Sequence[Run], title: str) -> None:
    ratios = [run.against_best() or 1.0 for run in runs]
    # Bars start at 1, where both are equally fast.
    lengths = [ratio - 1 for ratio in ratios]
    colours = [_AHEAD if ratio >= 1 else _BEHIND for ratio in ratios]
    axis.barh(range(len(runs)), lengths, left=1, color=colours)
    for place, run in enumerate(runs):
        best = run.best()
        axis.text(max(1.0, ratios[place]) * 1.03, place, best[0] if best else "", fontsize=6)
    axis.axvline(1, color="black", linewidth=0.8)
    axis.set_xscale("log", base=2)
    axis.xaxis.set_major_formatter("{x:g}")
    axis.tick_params(axis="x", labelsize=7)
    least, most = min([1.0, *ratios]), max([1.0, *ratios])
    room = _MARGIN * (most / least) ** 0.2
    axis.set_xlim(least / _MARGIN, most * room)
    axis.set_yticks(range(len(runs)), [run.workload for run in runs], fontsize=7)
    axis.margins(y=0.01)
    axis.invert_yaxis()
    axis.set_title(title, fontsize=9)
