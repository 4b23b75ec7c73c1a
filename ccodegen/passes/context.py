"""What a pass may ask about the compilation it is part of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import TypeAlias

from ccodegen.hlo.ir import Module
from ccodegen.support.decisions import debug_level
from ccodegen.support.immutable import immutable
from ccodegen.target import Target


@immutable
class PassContext:
    """Settings common to all passes.

    `target`: None for passes that are run by themselves.
    `strict`: a pass must keep every bit of every result (a NaN may change its payload).
    `verify`: run the verifier after each pass; on by default under CCODEGEN_DEBUG.
    `dump_dir`: a folder for the module's text after each pass, None for no dumps.
    `stop_after`: name of the pass after which a pipeline stops, "" for never.
    `folding_limit`: bytes up to which folding may make a constant larger than its operands.
    `inlining_limit`: instructions that a computation may have after calls are put in place.
    """

    target: Target | None = None
    strict: bool = False
    verify: bool = field(default_factory=lambda: debug_level() > 0)
    dump_dir: Path | None = None
    stop_after: str = ""
    folding_limit: int = 64 * 1024
    inlining_limit: int = 1_000_000

    @property
    def has_vectors(self) -> bool:
        """Whether the code is for a target with vectors, as far as that is known."""
        return self.target is not None and self.target.machine.has_vectors


Pass: TypeAlias = Callable[[Module, PassContext], Module]
