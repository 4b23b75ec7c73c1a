"""Ops with a loop nest of their own, from whole operands to whole results."""

from __future__ import annotations

from typing import Any

import numpy as np

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.loop.builder import Builder
from ccodegen.loop.ir import Buffer, Expr
from ccodegen.lower.elements import call
from ccodegen.lower.job import Work
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable
from ccodegen.target.model import Target


@immutable
class _NestScope:
    work: Work
    instruction: Instruction

    @property
    def builder(self) -> Builder:
        return self.work.builder

    @property
    def strict(self) -> bool:
        return self.work.job.strict

    @property
    def target(self) -> Target:
        return self.work.job.target

    @property
    def operands(self) -> tuple[Buffer, ...]:
        inputs = self.work.job.inputs
        return tuple(b for o in self.instruction.operands for b in inputs[o])

    @property
    def results(self) -> tuple[Buffer, ...]:
        return tuple(o.buffer for o in self.work.job.outputs)

    def table(self, array: np.ndarray[Any, Any]) -> Buffer:
        return self.work.new_table(array)

    def scratch(self, element_type: ElementType, dimensions: tuple[int, ...]) -> Buffer:
        return self.work.new_scratch(element_type, dimensions)

    def call(self, computation: Computation, *arguments: Expr) -> tuple[Expr, ...]:
        return call(self.work.elements, computation, arguments)


def nest_plan(work: Work, instruction: Instruction) -> None:
    nest = opdef.get(instruction.op).nest
    assert nest is not None, instruction
    nest(_NestScope(work, instruction), instruction)
