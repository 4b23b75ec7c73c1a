"""Checks a program: its kernels, its memory, and the steps of its entry function."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, product

from ccodegen.loop.ir import (
    Buffer,
    CallHook,
    CallKernel,
    Program,
    Space,
    Step,
    Switch,
    While,
)
from ccodegen.loop.rebuild import written_buffers
from ccodegen.loop.steps import used_buffers
from ccodegen.loop.verify_kernel import verify_kernel
from ccodegen.support.element_type import ElementType
from ccodegen.support.errors import InternalError

__all__ = ["verify", "verify_kernel"]


def verify(program: Program) -> None:
    """Raises InternalError, which says where, unless the program is well-formed."""
    for kernel in program.kernels:
        try:
            verify_kernel(kernel)
        except InternalError as error:
            raise InternalError(f"program {program.name}: {error.message}") from error
    checker = _Checker(program)
    checker.signature()
    checker.memory()
    checker.steps(program.steps)


class _Checker:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._kernels = set(program.kernels)
        self._written = {kernel: written_buffers(kernel.body) for kernel in program.kernels}
        self._known = {a.buffer for a in program.arguments}
        self._known |= {c.buffer for c in program.constants}
        self._read_only = {a.buffer for a in program.arguments if a.output is None}
        self._read_only |= {c.buffer for c in program.constants}

    def _require(self, condition: bool, message: str) -> None:
        if not condition:
            raise InternalError(f"program {self._program.name}: {message}")

    def signature(self) -> None:
        """Arguments, constants, and names."""
        program = self._program
        buffers = [a.buffer for a in program.arguments]
        self._require(len(set(buffers)) == len(buffers), "two arguments share a buffer")
        for numbers in (
            [a.parameter for a in program.arguments if a.parameter is not None],
            [a.output for a in program.arguments if a.output is not None],
        ):
            self._require(len(set(numbers)) == len(numbers), f"arguments repeat among {numbers}")
        for argument in program.arguments:
            ok = argument.buffer.space is Space.ARGUMENT
            self._require(ok, f"argument {argument.name} is not in the caller's memory")
        for constant in program.constants:
            buffer, array = constant.buffer, constant.array
            ok = buffer.space is Space.CONSTANT and array.dtype == buffer.type.dtype
            self._require(ok and array.size == buffer.size, f"constant {buffer.name} does not fit")
        names = [kernel.name for kernel in program.kernels]
        self._require(len(set(names)) == len(names), "two kernels have one name")

    def memory(self) -> None:
        """The arena holds every buffer in it."""
        size, alignment = self._program.arena_size, self._program.alignment
        valid = alignment > 0 and alignment & (alignment - 1) == 0
        self._require(valid, f"alignment {alignment} is no power of two")
        placed = (b for b in used_buffers(self._program.steps) if b.space is Space.ARENA)
        for buffer in placed:
            name, start, end = buffer.name, buffer.offset, buffer.offset + buffer.bytes
            self._require(start % alignment == 0, f"{name} at {start} is not aligned")
            self._require(start >= 0 and end <= size, f"{name} ends at {end} of {size} bytes")

    def steps(self, steps: Sequence[Step]) -> None:
        for step in steps:
            match step:
                case CallKernel():
                    self._call(step)
                case CallHook():
                    self._hook(step)
                case While():
                    self._scalar(step.predicate, (ElementType.PRED,))
                    self.steps(step.condition)
                    self.steps(step.body)
                case Switch():
                    self._switch(step)

    def _switch(self, switch: Switch) -> None:
        self._scalar(switch.selector, (ElementType.S32, ElementType.PRED))
        count = len(switch.branches)
        by_pred = switch.selector.type is ElementType.PRED
        self._require(count == 2 if by_pred else count > 0, f"a switch has {count} branches")
        for branch in switch.branches:
            self.steps(branch)

    def _scalar(self, buffer: Buffer, types: tuple[ElementType, ...]) -> None:
        self._reachable(buffer)
        ok = buffer.type in types and buffer.size == 1
        self._require(ok, f"{buffer.name} decides a step, but is no scalar of {types}")

    def _call(self, call: CallKernel) -> None:
        kernel = call.kernel
        self._require(kernel in self._kernels, f"{kernel.name} is called, but not in the program")
        count = len(call.buffers)
        self._require(count == len(kernel.buffers), f"{kernel.name} is called with {count} buffers")
        for given, parameter in zip(call.buffers, kernel.buffers, strict=True):
            self._reachable(given)
            fits = (given.type, given.size) == (parameter.type, parameter.size)
            message = f"{given.name} does not fit {parameter.name} of {kernel.name}"
            self._require(fits, message)
            writes = given in self._read_only and parameter in self._written[kernel]
            self._require(not writes, f"{kernel.name} writes {given.name}, which is read-only")
        written = (parameter in self._written[kernel] for parameter in kernel.buffers)
        pairs = combinations(zip(call.buffers, written, strict=True), 2)
        for (a, writes_a), (b, writes_b) in pairs:
            apart = not (writes_a or writes_b) or not overlap(a, b)
            self._require(apart, f"{a.name} and {b.name} overlap in {kernel.name}")

    def _hook(self, call: CallHook) -> None:
        what = str(call.request)
        for handed in call.reads:
            fits = math.prod(handed.dimensions) == handed.buffer.size
            self._require(fits, f"{what} reads {handed.buffer.name} as an array of another size")
        reads = [handed.buffer for handed in call.reads]
        for buffer in (*reads, *call.writes):
            self._reachable(buffer)
        for buffer in call.writes:
            ok = buffer not in self._read_only
            self._require(ok, f"{what} writes {buffer.name}, which is read-only")
        pairs = [*product(reads, call.writes), *combinations(call.writes, 2)]
        for a, b in pairs:
            self._require(not overlap(a, b), f"{a.name} and {b.name} overlap in {what}")

    def _reachable(self, buffer: Buffer) -> None:
        ok = buffer.space is Space.ARENA or buffer in self._known
        self._require(ok, f"{buffer.name} is neither in the arena nor known")


def overlap(a: Buffer, b: Buffer) -> bool:
    """Whether two buffers share memory."""
    if a is b:
        return True
    if not (a.bytes and b.bytes and a.space is b.space is Space.ARENA):
        return False
    return a.offset < b.offset + b.bytes and b.offset < a.offset + a.bytes
