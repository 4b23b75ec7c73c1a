"""What all ways of printing a program share: its names, kernels and constants as C."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ccodegen.emit import hooks
from ccodegen.emit.constants import ConstantText, print_constant
from ccodegen.emit.kernel import KernelText, print_kernel
from ccodegen.emit.lines import fitted, indented
from ccodegen.emit.names import Names, identifier
from ccodegen.emit.run_alone import run_alone
from ccodegen.emit.steps import StepPrinter, arena_names
from ccodegen.loop.ir import Argument, Buffer, CallC, CallKernel, Kernel, Program
from ccodegen.loop.rebuild import statements
from ccodegen.loop.steps import called_kernels, kernel_calls, used_buffers


@dataclass
class ProgramPrinter:
    """A program under a prefix: every name at file scope begins with it.

    `external`: constants that come as pointers, and are not printed.
    `reserved`: names that the entry function has for itself. `threads`: large loops become
    functions that the caller's threads may share. `variables`: arena buffers of one element are
    variables of the entry function. `files`: the names at file scope, where there are any before.
    `printed`: kernels that have been printed before.
    """

    program: Program
    prefix: str
    alignment: int
    external: Container[Buffer] = ()
    reserved: tuple[str, ...] = ("arena", "base", "args", "table", "weights", "block")
    threads: bool = False
    variables: bool = False
    files: Names = field(default_factory=Names)
    printed: Mapping[Kernel, KernelText] = field(default_factory=dict)
    scope: Names = field(init=False)
    kernels: dict[Kernel, KernelText] = field(init=False)
    constants: dict[Buffer, ConstantText] = field(init=False)

    def __post_init__(self) -> None:
        kernels = called_kernels(self.program.steps)
        used = set(used_buffers(self.program.steps))
        constants = [c for c in self.program.constants if c.buffer in used]
        self.files.take([*own_names(self.prefix), *_called_functions(kernels)])
        things: list[Kernel | Buffer] = [*kernels, *(c.buffer for c in constants)]
        for thing in things:
            self._file_name(thing)
        self.kernels = {
            k: self.printed.get(k) or print_kernel(k, self._file_name(k), self.files, self.threads)
            for k in kernels
        }
        self.constants = {
            c.buffer: print_constant(c, self._file_name(c.buffer), self.alignment)
            for c in constants
            if c.buffer not in self.external
        }
        own = (*(["threads"] if self.threads else []), *(hooks.NAMES if self.hooks else []))
        self.scope = Names({*self.files.taken, *self.reserved, *own})
        for argument in self.program.arguments:
            self.argument(argument)

    @property
    def shared(self) -> bool:
        """Whether any call has something for threads."""
        return bool(self._shared)

    @cached_property
    def _shared(self) -> frozenset[int]:
        """The calls that have, by identity."""
        shareable = {kernel for kernel, text in self.kernels.items() if text.parts}
        calls = (c for c in kernel_calls(self.program.steps) if c.kernel in shareable)
        return frozenset(map(id, calls)) - run_alone(self.program.steps, shareable)

    @property
    def hooks(self) -> list[str]:
        """The members of ccg_io that the program needs."""
        return hooks.members(self.program)

    @property
    def headers(self) -> tuple[str, ...]:
        """The files of runtime_c that the kernels include, sorted."""
        needed = {"ccg_base.h"}.union(*(kernel.headers for kernel in self.kernels.values()))
        return tuple(sorted(needed))

    def argument(self, argument: Argument) -> str:
        return self.scope.name(argument.buffer, argument.name, "argument")

    def buffer(self, buffer: Buffer) -> str:
        """What the entry function calls a buffer."""
        if buffer in self.constants:
            return self.constants[buffer].reference
        return self.scope.name(buffer, buffer.name, "buffer")

    def steps(self, base: str) -> list[str]:
        """The entry function's body after its checks: arena pointers, steps, `return 0`."""
        pointers = arena_names(self.program, self.buffer, base, self.variables)
        printer = StepPrinter(self.buffer, self._call)
        gap = [""] if pointers else []
        lines = [*pointers, *gap, *printer.lines(self.program.steps), "return 0;"]
        return fitted(indented(lines))

    def _call(self, call: CallKernel, arguments: Sequence[str]) -> str:
        text = self.kernels[call.kernel]
        threads = ["threads" if id(call) in self._shared else "NULL"] if text.parts else []
        return f"{text.name}({', '.join([*arguments, *threads])});"

    def _file_name(self, thing: Kernel | Buffer) -> str:
        return file_name(self.files, self.prefix, thing)


def own_names(prefix: str) -> list[str]:
    """The names at file scope that are no kernel's and no constant's."""
    return [f"{prefix}_{word}" for word in ("run", "args", "weights", "call")]


def file_name(files: Names, prefix: str, thing: Kernel | Buffer) -> str:
    """A kernel's or constant's name at file scope."""
    return files.name(thing, f"{prefix}_{identifier(thing.name)}")


def _called_functions(kernels: Sequence[Kernel]) -> set[str]:
    """The C functions that kernels call, whose names nothing may hide."""
    inside = (s for kernel in kernels for s in statements(kernel.body))
    return {s.function for s in inside if isinstance(s, CallC)}
