"""What a build came to: memory, kernels, files, as facts for people and for report.json."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ccodegen.backend.build import Build
from ccodegen.loop.cost import cost
from ccodegen.loop.ir import Argument, BufferLife, Kernel
from ccodegen.loop.steps import called_kernels, used_buffers
from ccodegen.support.immutable import frozen
from ccodegen.support.version import VERSION


@frozen
class ArgumentFacts:
    """`direction`: in, out, or in-out for one that is updated in place."""

    name: str
    direction: str
    shape: str
    bytes: int


@frozen
class BufferFacts:
    """A buffer in the arena: `offset` and `size` in bytes, alive from step `first` to `last`."""

    name: str
    shape: str
    offset: int
    size: int
    first: int
    last: int
    origin: str


@frozen
class KernelFacts:
    """Counts for one run. Bytes are those of loads and stores, as if there were no cache."""

    name: str
    origin: str
    operations: int
    transcendental: int
    bytes_read: int
    bytes_written: int


@frozen
class Report:
    """Sizes in bytes. `lower_bound`: the least arena that any placement of these buffers needs.
    `input`: a digest of the program and its constants. `files`: paths in the package. `notes`: what
    else its user should know, sentences."""

    name: str
    target: str
    strict: bool
    input: str
    signature: str
    arena: int
    alignment: int
    lower_bound: int
    constants: int
    arguments: tuple[ArgumentFacts, ...]
    buffers: tuple[BufferFacts, ...]
    kernels: tuple[KernelFacts, ...]
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    version: str = VERSION

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=2) + "\n"

    @property
    def inputs_bytes(self) -> int:
        return sum(a.bytes for a in self.arguments if a.direction != "out")

    @property
    def outputs_bytes(self) -> int:
        return sum(a.bytes for a in self.arguments if a.direction == "out")


def report(
    build: Build,
    name: str,
    target: str,
    strict: bool,
    digest: str,
    files: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Report:
    program = build.program
    used = set(used_buffers(program.steps))
    return Report(
        name=name,
        target=target,
        strict=strict,
        input=digest,
        signature=program.signature,
        arena=program.arena_size,
        alignment=program.alignment,
        lower_bound=build.lower_bound,
        constants=sum(c.buffer.bytes for c in program.constants if c.buffer in used),
        arguments=tuple(map(_argument, program.arguments)),
        buffers=tuple(map(_buffer, program.arena_buffers)),
        kernels=tuple(map(_kernel, called_kernels(program.steps))),
        files=tuple(files),
        notes=tuple(notes),
    )


def _argument(argument: Argument) -> ArgumentFacts:
    buffer = argument.buffer
    return ArgumentFacts(argument.name, argument.direction, buffer.shape, buffer.bytes)


def _buffer(life: BufferLife) -> BufferFacts:
    buffer = life.buffer
    place: dict[str, Any] = {"offset": buffer.offset, "size": buffer.bytes}
    return BufferFacts(
        buffer.name, buffer.shape, **place, first=life.first, last=life.last, origin=life.origin
    )


def _kernel(kernel: Kernel) -> KernelFacts:
    counts = cost(kernel)
    return KernelFacts(
        kernel.name,
        kernel.origin,
        counts.operations,
        counts.transcendental,
        counts.bytes_read,
        counts.bytes_written,
    )
