"""Prints the entry function: pointers into the arena, and the steps in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ccodegen.emit.hooks import print_hook
from ccodegen.emit.lines import indented
from ccodegen.emit.names import comment
from ccodegen.emit.types import array_length, memory_type
from ccodegen.loop.ir import (
    Buffer,
    CallHook,
    CallKernel,
    Kernel,
    Program,
    Space,
    Step,
    Switch,
    While,
)
from ccodegen.loop.steps import called_kernels, used_buffers
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable


@immutable
class StepPrinter:
    """`buffer` gives the C name of one, `call` that of a kernel over such names."""

    buffer: Callable[[Buffer], str]
    call: Callable[[CallKernel, Sequence[str]], str]

    def lines(self, steps: Sequence[Step]) -> list[str]:
        return [line for step in steps for line in self._step(step)]

    def _step(self, step: Step) -> list[str]:
        origin = comment(step.origin) if step.origin else []
        match step:
            case CallKernel():
                return [*origin, self.call(step, [self.buffer(b) for b in step.buffers])]
            case CallHook():
                return [*origin, *print_hook(step, self.buffer)]
            case While():
                return [*origin, *self._while(step)]
            case Switch():
                return [*origin, *self._switch(step)]

    def _while(self, loop: While) -> list[str]:
        leave = [f"if (!{self.buffer(loop.predicate)}[0]) {{", "    break;", "}"]
        turn = [*self.lines(loop.condition), *leave, *self.lines(loop.body)]
        return ["for (;;) {", *indented(turn), "}"]

    def _switch(self, switch: Switch) -> list[str]:
        selector = f"{self.buffer(switch.selector)}[0]"
        branches = [self.lines(branch) for branch in switch.branches]
        if switch.selector.type is ElementType.PRED and len(branches) == 2:
            then, otherwise = map(indented, branches)
            return [f"if ({selector}) {{", *then, "} else {", *otherwise, "}"]
        lines = [f"switch ({selector}) {{"]
        for number, branch in enumerate(branches):
            last = number == len(branches) - 1
            lines += ["default:" if last else f"case {number}:", *indented([*branch, "break;"])]
        return [*lines, "}"]


def repeated_kernels(steps: Sequence[Step]) -> Iterator[Kernel]:
    """The kernels that loops call."""
    for step in steps:
        match step:
            case While():
                yield from called_kernels((*step.condition, *step.body))
            case Switch():
                for branch in step.branches:
                    yield from repeated_kernels(branch)


def arena_names(
    program: Program, name: Callable[[Buffer], str], base: str, variables: bool
) -> list[str]:
    """Definitions of typed pointers to the arena buffers that the steps use. `variables`: single
    elements are variables instead, which compilers keep in registers: the state of a loop."""
    buffers = [b for b in used_buffers(program.steps) if b.space is Space.ARENA]
    return [
        _variable(b, name(b)) if variables and is_single(b) else _pointer(b, name(b), base)
        for b in buffers
    ]


def is_single(buffer: Buffer) -> bool:
    return buffer.size == 1


def _variable(buffer: Buffer, name: str) -> str:
    return f"{memory_type(buffer.type)} {name}[{array_length(buffer)}];"


def _pointer(buffer: Buffer, name: str, base: str) -> str:
    element = memory_type(buffer.type)
    place = f"({base} + {buffer.offset})" if buffer.offset else base
    return f"{element} *const {name} = ({element} *)(void *){place};"
