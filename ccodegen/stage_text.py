"""A program at one of its stages, as text for people."""

from __future__ import annotations

from ccodegen.backend.build import Build
from ccodegen.emit.source import emit
from ccodegen.loop import text as loop_text
from ccodegen.support.errors import InputError
from ccodegen.target import load

_STAGES = ("hlo", "optimized", "loop", "c")


def text_of(made: Build, stage: str) -> str:
    """The program at a stage. Raises InputError for one that there is not."""
    if stage == "hlo":
        return made.module.to_text()
    if stage == "optimized":
        return made.optimized.to_text()
    if stage == "loop":
        return loop_text.to_text(made.program)
    if stage == "c":
        return "\n".join(emit(made.program, load("host"), "program").files.values())
    raise InputError(f"unknown stage '{stage}'", hint=f"the stages are {', '.join(_STAGES)}")
