"""What a peer is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tests.benchmarks.workload import Array, Workload


class NotOfferedError(Exception):
    """A peer has nothing for a workload. The message says why, in a few words."""


@dataclass(frozen=True)
class Job:
    """A workload, by name, as files, and where to keep others for the time of a run."""

    name: str
    workload: Workload
    folder: Path
    scratch: Path


@dataclass(frozen=True)
class Prepared:
    """A compiled workload. `call` runs it once, `results` gives its results as JAX or PyTorch
    orders dimensions (see `Peer.channels_first`). Seconds: `compiled` from a program to one that
    runs, `restored` the same out of a cache."""

    call: Callable[[], Any]
    results: Callable[[], Sequence[Array]]
    compiled: float
    restored: float | None = None


class Peer(Protocol):
    """Made once in a process; the constructor imports the package, or raises ImportError."""

    version: str
    channels_first: bool

    def __init__(self, threads: int) -> None: ...

    def prepare(self, job: Job) -> Prepared:
        """Raises NotOfferedError where the peer has none, anything else where it fails."""
        ...


def flat(results: Any) -> list[Any]:
    """The results of a call, which may be one or a (nested) tuple of them."""
    if not isinstance(results, tuple | list):
        return [results]
    return [leaf for part in results for leaf in flat(part)]
