"""What a user asks for beside the program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from ccodegen.support.errors import InputError
from ccodegen.support.immutable import frozen
from ccodegen.target import Target, load

Parameter = int | str
_MOST_THREADS = 64  # what runtime_c/ccg_pool.h has room for


@frozen
class BuildOptions:
    """What a user asks for beside the program.

    `constants`: arrays for parameters, which become part of the program. `donate`: parameters
    whose memory an output takes. Both name parameters by flat number of the entry before any
    binding, or by HLO name or JAX argument path.
    """

    target: Target
    constants: Mapping[Parameter, Any] = field(default_factory=dict)
    donate: Sequence[Parameter] = ()
    strict: bool = False
    dump_dir: Path | None = None


def checked_options(
    target: str | Path | Target,
    constants: Mapping[Parameter, Any] | None,
    donate: Sequence[Parameter],
    threads: int,
    strict: bool,
) -> BuildOptions:
    """Options as a caller in Python gives them. Raises InputError for what cannot be meant."""
    chosen = with_threads(target if isinstance(target, Target) else load(target), threads)
    if not isinstance(constants, Mapping | None):
        hint = "pass arrays by parameter: constants={'w': array}"
        raise InputError(f"constants: expected a dict, got a {type(constants).__name__}", hint=hint)
    if isinstance(donate, str) or not isinstance(donate, Sequence):
        hint = f"pass donate=[{donate!r}]" if isinstance(donate, str | int) else ""
        raise InputError(f"donate: expected a list, got a {type(donate).__name__}", hint=hint)
    return BuildOptions(chosen, dict(constants or {}), tuple(donate), strict)


def with_threads(target: Target, threads: int) -> Target:
    """The target with at most so many threads to a call. Raises InputError for what is no such
    number."""
    if not isinstance(threads, int) or not 1 <= threads <= _MOST_THREADS:
        raise InputError(f"threads must be 1 to {_MOST_THREADS}, not {threads!r}")
    return replace(target, machine=replace(target.machine, threads=threads))
