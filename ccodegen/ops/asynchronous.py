"""Computations and copies that start at one place and end at another."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Computation
from ccodegen.hlo.opdef import OpDef, register


@dataclass(frozen=True)
class AsyncStart(Attributes):
    calls: Computation = attr(AttrKind.COMPUTATION)
    async_execution_thread: str = attr(AttrKind.STRING, "")
    output_to_operand_aliasing: str = attr(AttrKind.RAW, "")


@dataclass(frozen=True)
class AsyncContinuation(Attributes):
    """What was started is found through the operand; older texts name it again."""

    calls: Computation | None = attr(AttrKind.COMPUTATION, None)
    async_execution_thread: str = attr(AttrKind.STRING, "")


@dataclass(frozen=True)
class CopyStart(Attributes):
    cross_program_prefetch_index: int | None = attr(AttrKind.INT, None)


register(OpDef("async-start", AsyncStart, (0, None)))
register(OpDef("async-update", AsyncContinuation))
register(OpDef("async-done", AsyncContinuation))
register(OpDef("copy-start", CopyStart))
register(OpDef("copy-done"))
