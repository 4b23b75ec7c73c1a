"""Many trials in one process: built one by one, compiled together, run one by one."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ccodegen.support.errors import UnsupportedError
from tests.c_library import CLibrary
from tests.random_modules.trial import Mode, Trial
from tests.three_ways import Prepared, plain_target


@dataclass(frozen=True)
class Compilation:
    """How C is compiled: compilers to try in order, and flags beside those of the mode.

    `exact_flags`: those for modules that give the same bits with and without contraction.
    """

    name: str
    compilers: tuple[str, ...]
    flags: tuple[str, ...] = ()
    exact_flags: tuple[str, ...] = ()


FAST = Compilation("tcc", ("tcc", "gcc"))
GCC = Compilation("gcc", ("gcc",), ("-O2",))
JIT = Compilation(
    "gcc -O3", ("gcc",), ("-O3", "-march=x86-64-v3", "-mno-fma"), ("-mfma", "-ffp-contract=fast")
)
WIDE = Compilation(
    "gcc -O3, 512 bits",
    ("gcc",),
    ("-O3", "-march=x86-64-v4", "-mprefer-vector-width=512"),
    ("-ffp-contract=fast",),
)
SANITIZED = Compilation(
    "clang sanitizers",
    ("clang",),
    (
        "-fsanitize=address,undefined,float-cast-overflow",
        "-fno-sanitize-recover=all",
        "-shared-libsan",
    ),
)


@dataclass(frozen=True)
class Started:
    """This trial is what runs from now on."""

    trial: Trial


@dataclass(frozen=True)
class Found:
    """What is wrong with a trial; `refused`: it asks for something that we say we do not do."""

    trial: Trial
    message: str
    refused: bool = False


Report: TypeAlias = Callable[[Started | Found], None]


def run(trials: Sequence[Trial], compilation: Compilation, report: Report) -> None:
    """Reports each trial before it is touched, and all that is found."""
    ready = list(_prepared(trials, report))
    for mode in Mode:
        chosen = [(trial, one) for trial, one in ready if trial.mode is mode]
        if chosen:
            _compile_and_run(chosen, compilation, report)


def _prepared(trials: Sequence[Trial], report: Report) -> Iterator[tuple[Trial, Prepared]]:
    for trial in trials:
        report(Started(trial))
        try:
            yield trial, trial.prepare()
        except UnsupportedError as error:
            report(Found(trial, error.message, refused=True))
        except Exception as error:
            report(Found(trial, _described(error)))


def _compile_and_run(
    chosen: Sequence[tuple[Trial, Prepared]], compilation: Compilation, report: Report
) -> None:
    """One library; where it does not compile, one for each trial, to find the culprit."""
    is_exact = chosen[0][0].mode.is_exact
    more = compilation.exact_flags if is_exact else ("-ffp-contract=off",)
    report(Started(chosen[0][0]))
    try:
        programs = [one.built.program for _, one in chosen]
        strict = chosen[0][1].case.strict and chosen[0][0].mode is Mode.STRICT
        flags = (*compilation.flags, *more)
        library = CLibrary(programs, plain_target(), strict, compilation.compilers, flags)
    except Exception as error:
        if len(chosen) == 1:
            report(Found(chosen[0][0], _described(error)))
            return
        for pair in chosen:
            _compile_and_run([pair], compilation, report)
        return
    for number, (trial, one) in enumerate(chosen):
        report(Started(trial))
        try:
            one.compare(library.run(number, one.case.arguments), f"compiled by {compilation.name}")
        except Exception as error:
            if compilation is FAST:  # (uint16_t)int8_t keeps its sign there: gcc has the last word
                _compile_and_run([(trial, one)], GCC, report)
            else:
                report(Found(trial, _described(error)))


def _described(error: Exception) -> str:
    lines = traceback.format_exception(error)
    return f"{type(error).__name__}: {error}\n\n{''.join(lines)}"
