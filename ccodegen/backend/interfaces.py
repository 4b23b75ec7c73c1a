"""What a backend is made of, under the names of XLA's guide "Developing a new backend".

A CPU with a C compiler needs none of this: it is a Target, and `host` or a runner serves it. An
accelerator implements these four and registers its Compiler by an entry point of the group
`ccodegen.backends`, whose name is the backend's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ccodegen.backend.signature import Signature, Structure
from ccodegen.loop.ir import Program
from ccodegen.support.errors import InputError
from ccodegen.support.hooks import IO, NO_IO
from ccodegen.support.immutable import frozen
from ccodegen.target import Target

GROUP = "ccodegen.backends"
Array = np.ndarray[Any, Any]


@frozen
class Options:
    """How a program is compiled and called.

    `strict`: the evaluator's bits. `structure`: how results are nested, leaves by their number;
    None: one result as it is, several as a tuple. `cache`: whether the disk cache is used.
    `key`: what the program was made from, the front key of the cache; empty: none. `io`: answers
    what the program asks of its caller.
    """

    strict: bool = False
    structure: Structure | None = None
    cache: bool = True
    key: str = ""
    io: IO = NO_IO


@frozen
class Memory:
    """Sizes in bytes. An in-out argument counts as an argument, not as an output."""

    arena: int
    constants: int
    arguments: int
    outputs: int


class Executable(Protocol):
    """A compiled program."""

    @property
    def memory(self) -> Memory: ...

    def __call__(self, *arrays: Any, out: Any = None) -> Any: ...


class Compiler(Protocol):
    """Makes an Executable of a program for a target."""

    def compile(self, program: Program, target: Target, options: Options) -> Executable: ...


class TransferManager(Protocol):
    """Moves arrays between the caller and the memory of the device: layout, byte order, padding."""

    def converted(self, arrays: Sequence[Any], out: Any = None) -> list[Any]:
        """What the device takes for each pointer of the signature: arguments, and memory for the
        results (the caller's where `out` is given). Raises InputError for a wrong one."""
        ...


class StreamExecutor(Protocol):
    """Runs a loaded program where it lives: in this process, under an emulator, on a board."""

    def launch(self, arrays: Sequence[Any]) -> None:
        """One run over the arrays of all arguments, in the order of the signature."""
        ...


def find(name: str) -> Compiler:
    """The registered backend's Compiler. Raises InputError for an unknown name."""
    from importlib.metadata import entry_points  # slow, and few ask for another backend

    registered = entry_points(group=GROUP)
    for entry in registered.select(name=name):
        made: Compiler = entry.load()()
        return made
    known = ", ".join(sorted({entry.name for entry in registered})) or "none is registered"
    raise InputError(f"unknown backend {name!r}", hint=f"known backends: {known}")


__all__ = [
    "Compiler",
    "Executable",
    "Memory",
    "Options",
    "Signature",
    "StreamExecutor",
    "TransferManager",
    "find",
]
