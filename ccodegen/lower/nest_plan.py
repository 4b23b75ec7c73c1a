"""Ops with a loop nest of their own, from whole operands to whole results."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.loop.builder import Builder, apply, index
from ccodegen.loop.ir import Buffer, CallC, Expr, Load, Stmt, Store
from ccodegen.loop.rebuild import Body, rebuild
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

    @contextmanager
    def in_parts(self, parts: int, part: Expr) -> Iterator[None]:
        before = len(self.work.scratch)
        with self.builder.block() as body:
            yield
        asked = self.work.scratch[before:]
        of_all = {b: replace(b, dimensions=(parts, *b.dimensions)) for b in asked}
        self.work.scratch[before:] = of_all.values()
        for statement in _of_part(tuple(body), of_all, part):
            self.builder.emit(statement)

    def call(self, computation: Computation, *arguments: Expr) -> tuple[Expr, ...]:
        return call(self.work.elements, computation, arguments)


def nest_plan(work: Work, instruction: Instruction) -> None:
    nest = opdef.get(instruction.op).nest
    assert nest is not None, instruction
    nest(_NestScope(work, instruction), instruction)


def _of_part(body: Body, of_all: Mapping[Buffer, Buffer], part: Expr) -> Body:
    """Statements that work on a part of larger buffers instead of on some of their own."""

    def on_expr(expr: Expr) -> Expr:
        match expr:
            case Load(own, at) if own in of_all:
                return Load(of_all[own], (part, *at))
        return expr

    def on_statement(statement: Stmt) -> Stmt:
        match statement:
            case Store(own, at, value) if own in of_all:
                return Store(of_all[own], (part, *at), value)
            case CallC(buffers=buffers, scalars=(offset, *others)):
                if not of_all.keys().isdisjoint(buffers):
                    (size,) = {math.prod(b.dimensions) for b in buffers}
                    start = apply("add", apply("multiply", part, index(size)), offset)
                    larger = tuple(of_all[b] for b in buffers)
                    return replace(statement, buffers=larger, scalars=(start, *others))
        return statement

    return rebuild(body, on_expr, on_statement)
