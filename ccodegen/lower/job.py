"""What a plan is given: the instructions of one kernel, and the buffers they read and write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Instruction, post_order
from ccodegen.hlo.literal import Literal
from ccodegen.hlo.shape import ArrayShape, leaves
from ccodegen.loop.ir import Buffer, ConstantData, Index, Space
from ccodegen.lower.elements import Elements
from ccodegen.lower.kernel_builder import KernelBuilder
from ccodegen.support.element_type import ElementType, from_dtype
from ccodegen.support.immutable import frozen_object, immutable
from ccodegen.target.model import Target


@immutable
class Output:
    """Leaf `leaf` of `instruction` goes to `buffer`."""

    instruction: Instruction
    leaf: int
    buffer: Buffer

    @property
    def shape(self) -> ArrayShape:
        shape = tuple(leaves(self.instruction.shape))[self.leaf]
        assert isinstance(shape, ArrayShape)
        return shape


@frozen_object
class Job:
    """One kernel to make. `inputs`: the buffers of the leaves of what is read from memory."""

    root: Instruction
    outputs: tuple[Output, ...]
    inputs: Mapping[Instruction, tuple[Buffer, ...]]
    target: Target
    strict: bool

    @cached_property
    def fused(self) -> tuple[Instruction, ...]:
        """The instructions that the kernel computes, operands first."""
        order = post_order([o.instruction for o in self.outputs])
        reached = set()
        for instruction in reversed(order):
            is_output = any(o.instruction is instruction for o in self.outputs)
            if (is_output or instruction in reached) and instruction not in self.inputs:
                reached.add(instruction)
                reached.update(instruction.operands)
        return tuple(i for i in order if i in reached and i not in self.inputs)


    @property
    def read(self) -> tuple[Buffer, ...]:
        """The buffers of all that is read from memory."""
        return tuple(chain.from_iterable(self.inputs.values()))


class Work:
    """A job under way: the builder, the elements, the scratch memory and the tables asked for."""

    def __init__(self, job: Job, splits: Mapping[str, int]) -> None:
        self.job = job
        self.builder = KernelBuilder(splits)
        self.scratch: list[Buffer] = []
        self.tables: list[ConstantData] = []
        uses: dict[Instruction, int] = {}
        for instruction in job.fused:
            for operand in instruction.operands:
                uses[operand] = uses.get(operand, 0) + 1
        for output in job.outputs:
            uses[output.instruction] = uses.get(output.instruction, 0) + 1
        self.elements = Elements(self.builder, job.strict, uses=uses)
        for buffer in self.buffers:
            self.builder.fresh(buffer.name)
        for instruction, buffers in job.inputs.items():
            self.elements.store_in(instruction, *buffers)

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """All that the kernel reads and writes, each once: inputs, outputs, scratch, tables."""
        inputs = self.job.read
        outputs = [o.buffer for o in self.job.outputs]
        tables = [table.buffer for table in self.tables]
        return tuple(dict.fromkeys([*inputs, *outputs, *self.scratch, *tables]))

    def new_scratch(self, element_type: ElementType, dimensions: tuple[int, ...]) -> Buffer:
        """Memory in the arena for this kernel alone."""
        buffer = Buffer(self.builder.fresh("scratch"), element_type, dimensions, Space.ARENA)
        self.scratch.append(buffer)
        return buffer

    def new_table(self, array: np.ndarray[Any, Any]) -> Buffer:
        """Constant data that the kernel reads; equal arrays are one table."""
        literal = Literal(array)
        for table in self.tables:
            if Literal(table.array) == literal:
                return table.buffer
        name = self.builder.fresh("table")
        buffer = Buffer(name, from_dtype(array.dtype), array.shape, Space.CONSTANT)
        self.tables.append(ConstantData(buffer, array))
        return buffer

    def compute_straight(self, outputs: Sequence[Output], at: Index) -> None:
        """Evaluates what the outputs read at their own index, operands first: long chains would
        otherwise be as deep a recursion."""
        needed = {o.instruction for o in outputs}
        for instruction in reversed(self.job.fused):
            if instruction in needed and opdef.is_elementwise(instruction):
                needed.update(o for o in instruction.operands if _as_large(o, instruction))
        for instruction in self.job.fused:
            if instruction in needed:
                self.elements.values(instruction, at)

    def store(self, output: Output, at: Index) -> None:
        """Evaluates an output at an index and stores it."""
        value = self.elements.values(output.instruction, at)[output.leaf]
        place = self.elements.load(output.buffer, output.shape.dimensions, at)
        self.builder.store(output.buffer, place.indices, value)


def _as_large(operand: Instruction, instruction: Instruction) -> bool:
    is_array = isinstance(operand.shape, ArrayShape)
    dimensions = instruction.array_shape.dimensions
    return is_array and operand.array_shape.dimensions == dimensions
