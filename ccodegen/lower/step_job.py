"""A Compute step as a job for a kernel: one buffer for each piece of memory that it touches."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Instruction
from ccodegen.loop.ir import Buffer, Space
from ccodegen.lower.coalesce import Storage
from ccodegen.lower.elements import leaf_dimensions
from ccodegen.lower.job import Job, Output
from ccodegen.lower.steps import Compute, Value
from ccodegen.ops.control import Fusion
from ccodegen.support.immutable import immutable
from ccodegen.support.naming import identifier, unique
from ccodegen.target.model import Target

Memory = Mapping[Value, Storage]


@immutable
class StepJob:
    """`storages`: what the job's buffers stand for, by buffer."""

    job: Job
    storages: dict[Buffer, Storage]


def kernel_job(step: Compute, memory: Memory, target: Target, strict: bool) -> StepJob:
    buffers = _Buffers(memory, opdef.get(_computed(step.instruction).op).nest is not None)
    for operand, values in _operands(step):
        buffers.see(operand, values)
    buffers.see(step.instruction, step.outputs)
    inputs = {
        inner: buffers.of(operand, values)
        for inner, (operand, values) in zip(_inner(step), _operands(step), strict=True)
        if not _is_inline(step.instruction, inner)
    }
    outputs = _outputs(step, buffers.of(step.instruction, step.outputs))
    root = _computed(step.instruction)
    return StepJob(Job(root, outputs, inputs, target, strict), buffers.storages)


def likeness(step: Compute, memory: Memory) -> Hashable:
    """Equal for steps whose kernels differ in names alone: what is computed, over which shapes,
    and which operands and results lie in the same memory."""
    instruction = step.instruction
    constants = tuple(
        o.attributes if _is_inline(instruction, o) else None for o in instruction.operands
    )
    values = [v for group in (*step.inputs, step.outputs) for v in group]
    numbers: dict[Storage, int] = {}
    places = tuple(numbers.setdefault(memory[v], len(numbers)) for v in values)
    shapes = tuple(o.shape for o in (*instruction.operands, instruction))
    config = instruction.annotation("backend_config")
    return instruction.op, instruction.attributes, config, constants, shapes, places


def _computed(instruction: Instruction) -> Instruction:
    """What the kernel computes: the instruction, or the root of what is fused."""
    if isinstance(instruction.attributes, Fusion):
        return instruction.attributes.calls.root
    return instruction


def _operands(step: Compute) -> list[tuple[Instruction, tuple[Value, ...]]]:
    return list(zip(step.instruction.operands, step.inputs, strict=True))


def _inner(step: Compute) -> tuple[Instruction, ...]:
    """What the operands are called inside of the kernel."""
    if isinstance(step.instruction.attributes, Fusion):
        return step.instruction.attributes.calls.parameters
    return step.instruction.operands


def _is_inline(instruction: Instruction, operand: Instruction) -> bool:
    """A scalar constant is written into the code, save where an op wants its operands whole."""
    is_scalar = operand.op == "constant" and leaf_dimensions(operand) == ((),)
    return is_scalar and not opdef.get(instruction.op).lowers_by_nest(instruction)


def _outputs(step: Compute, buffers: tuple[Buffer, ...]) -> tuple[Output, ...]:
    """Where each leaf of what is computed goes."""
    root = _computed(step.instruction)
    parts = root.operands if root.op == "tuple" else (root,)
    leaves = [(part, leaf) for part in parts for leaf in range(len(leaf_dimensions(part)))]
    return tuple(Output(p, leaf, b) for (p, leaf), b in zip(leaves, buffers, strict=True))


class _Buffers:
    """Makes one buffer per storage, with the one shape under which the step sees it, or flat.

    A nest wants each operand in its own shape: for it there is a buffer per storage and shape.
    """

    def __init__(self, memory: Memory, is_nest: bool) -> None:
        self._memory = memory
        self._is_nest = is_nest
        self._seen: dict[Storage, set[tuple[int, ...]]] = {}
        self._names: dict[Storage, str] = {}
        self._made: dict[tuple[Storage, tuple[int, ...]], Buffer] = {}

    def see(self, instruction: Instruction, values: tuple[Value, ...]) -> None:
        for dimensions, value in zip(leaf_dimensions(instruction), values, strict=True):
            storage = self._memory[value]
            self._seen.setdefault(storage, set()).add(dimensions)
            self._names.setdefault(storage, identifier(instruction.name))

    def of(self, instruction: Instruction, values: tuple[Value, ...]) -> tuple[Buffer, ...]:
        return tuple(map(self._make, leaf_dimensions(instruction), values))

    def _make(self, dimensions: tuple[int, ...], value: Value) -> Buffer:
        storage = self._memory[value]
        if len(self._seen[storage]) > 1 and not self._is_nest:
            dimensions = (value.shape.size,)
        key = storage, dimensions
        if key not in self._made:
            name = unique(self._names[storage], {b.name for b in self._made.values()})
            element_type = value.shape.element_type
            self._made[key] = Buffer(name, element_type, dimensions, Space.ARGUMENT)
        return self._made[key]

    @property
    def storages(self) -> dict[Buffer, Storage]:
        return {buffer: storage for (storage, _), buffer in self._made.items()}
