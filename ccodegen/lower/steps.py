"""A scheduled computation as a list of steps over values.

A value is one array leaf. Tuples, get-tuple-element and reshapes make no step: their leaves are
other values under another shape. While state, branch results, in-place updates and the entry's
outputs are made explicit by copies, most of which `coalesce` then finds to be no copies at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.literal import Literal
from ccodegen.hlo.shape import ArrayShape
from ccodegen.support.hooks import Request


@dataclass(eq=False)
class Value:
    """An array in memory. At most one of the sources is set; without one, a step writes it.

    `parameter`: flat leaf of an entry parameter. `output`: flat leaf of the entry's result.
    """

    name: str
    shape: ArrayShape
    constant: Literal | None = None
    parameter: int | None = None
    output: int | None = None

    def __repr__(self) -> str:
        return f"<value {self.name}: {self.shape}>"


@dataclass(eq=False)
class Compute:
    """Runs an instruction's kernel. `inputs`: per operand, its leaves; `outputs`: its leaves.

    `in_place`: pairs (input, output) of which the kernel reads the one at most where it then
    writes the other, so that they may share memory. `scratch`: bytes of extra memory, per buffer.
    """

    instruction: Instruction
    inputs: tuple[tuple[Value, ...], ...]
    outputs: tuple[Value, ...]
    in_place: tuple[tuple[Value, Value], ...] = ()


@dataclass(eq=False)
class Copy:
    source: Value
    target: Value
    origin: str = ""


@dataclass(eq=False)
class Exchange:
    """Asks the caller, see loop.CallHook. `shapes`: of `reads`, as the instruction has them."""

    instruction: Instruction
    request: Request
    reads: tuple[Value, ...]
    shapes: tuple[ArrayShape, ...]
    writes: tuple[Value, ...]


@dataclass(eq=False)
class Loop:
    """while: `state` are the values that condition and body read, in memory that lives on from
    turn to turn; the body ends with copies to `next_state` in the same memory; afterwards
    `result` is there."""

    instruction: Instruction
    state: tuple[Value, ...]
    condition: tuple[Step, ...]
    predicate: Value
    body: tuple[Step, ...]
    next_state: tuple[Value, ...]
    result: tuple[Value, ...]


@dataclass(eq=False)
class Branch:
    """conditional: branch b ends with copies to `ends[b]`, all in the memory of `result`."""

    instruction: Instruction
    selector: Value
    branches: tuple[tuple[Step, ...], ...]
    ends: tuple[tuple[Value, ...], ...]
    result: tuple[Value, ...]


Step: TypeAlias = Compute | Copy | Exchange | Loop | Branch


@dataclass
class StepProgram:
    """The entry computation as steps.

    `together`: values that share memory by necessity (loop state, in-place updates, donated
    parameters with their outputs).
    """

    steps: tuple[Step, ...]
    parameters: tuple[Value, ...]
    outputs: tuple[Value, ...]
    together: list[tuple[Value, ...]] = field(default_factory=list)


def walk(steps: tuple[Step, ...]) -> Iterator[Step]:
    """All steps in the order of printing, nested ones after the one that holds them."""
    for step in steps:
        yield step
        if isinstance(step, Loop):
            yield from walk(step.condition)
            yield from walk(step.body)
        elif isinstance(step, Branch):
            for branch in step.branches:
                yield from walk(branch)
