"""Optimised HLO module → loop.Program: the way into this room."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace

from ccodegen.hlo.ir import Module
from ccodegen.hlo.literal import Literal
from ccodegen.hlo.shape import ArrayShape, Shape, TupleShape, leaves, shape_text
from ccodegen.loop.ir import (
    Argument,
    Buffer,
    BufferLife,
    CallHook,
    CallKernel,
    ConstantData,
    Handed,
    Kernel,
    Program,
    Space,
    Switch,
    While,
)
from ccodegen.loop.ir import Step as LoopStep
from ccodegen.lower.assignment import Assignment, Block, assign, merged
from ccodegen.lower.calls import Call, CallMaker
from ccodegen.lower.coalesce import Storage
from ccodegen.lower.liveness import Life, Lives
from ccodegen.lower.origins import Origin, origins
from ccodegen.lower.steps import Branch, Compute, Exchange, Loop, Step, StepProgram, Value, walk
from ccodegen.lower.turns import plan
from ccodegen.passes.expose_layouts import Interface, has_layout, interface
from ccodegen.support.immutable import immutable
from ccodegen.target.model import Target


@immutable
class LowerOptions:
    """`donated`: output leaf by the parameter leaf in whose memory it must end. `names`: of the
    parameter leaves, where other than their instructions'. `interface`: what the caller has, where
    that is not what the module says."""

    target: Target
    strict: bool = False
    donated: Mapping[int, int] = field(default_factory=dict)
    names: Sequence[str] = ()
    interface: Interface | None = None


@immutable
class Lowered:
    """The program; and the least arena, in bytes, that any assignment of its schedule needs."""

    program: Program
    lower_bound: int


def lower(
    module: Module, options: LowerOptions, made: Callable[[Kernel], None] = lambda _: None
) -> Lowered:
    """`made` is told of each kernel of the program as soon as there is one.

    Raises UnsupportedError for an instruction that no plan takes.
    """
    found = plan(module, options.donated, doubles=options.target.machine.has_vectors)
    steps, life, memory = found.steps, found.life, found.memory
    maker = CallMaker(memory, options.target, options.strict, origins(module), made)
    calls = {step: maker.calls(step) for step in walk(steps.steps)}
    assignment = _assign(memory, life, calls, options.target.abi.arena_alignment)
    buffers = _Buffers(memory, assignment)
    writer = _Writer(memory, life, calls, buffers, origins(module))
    caller = options.interface or interface(module)
    arguments = _arguments(steps, memory, buffers, options.names, caller)
    written = writer.steps(steps.steps)  # the buffers learn of constants here
    program = Program(
        name=module.name,
        arguments=arguments,
        constants=tuple(buffers.constants),
        arena_size=assignment.size,
        alignment=options.target.abi.arena_alignment,
        kernels=maker.kernels,
        steps=written,
        signature=signature(module, caller),
        arena_buffers=tuple(writer.lives(memory)),
    )
    return Lowered(program, assignment.lower_bound)


def signature(module: Module, caller: Interface) -> str:
    """`name(x: f32[4,8], …) -> f32[4,3]{0,1}`: with the layouts that are not row-major."""
    taken = zip(module.entry.parameters, caller.parameters, strict=True)
    parameters = ", ".join(f"{p.name}: {shape_text(_with_odd_layouts(s))}" for p, s in taken)
    return f"{module.name}({parameters}) -> {shape_text(_with_odd_layouts(caller.result))}"


def _with_odd_layouts(shape: Shape) -> Shape:
    if isinstance(shape, TupleShape):
        return TupleShape(tuple(map(_with_odd_layouts, shape.elements)))
    if isinstance(shape, ArrayShape) and not has_layout(shape):
        return replace(shape, layout=None)
    return shape


def _logical(shape: Shape) -> list[str]:
    """For each array in the shape how it is spelled, where its layout is not row-major."""
    arrays = [leaf for leaf in leaves(shape) if isinstance(leaf, ArrayShape)]
    return [shape_text(a) if has_layout(a) else "" for a in arrays]


def _assign(
    memory: Mapping[Value, Storage],
    life: Lives,
    calls: Mapping[Step, Sequence[Call]],
    alignment: int,
) -> Assignment:
    blocks = []
    for storage in dict.fromkeys(memory.values()):
        if storage.in_arena and storage.bytes:
            when = merged([life.of[v] for v in storage.values])
            blocks.append(Block(storage, storage.bytes, when))
    for step, of_step in calls.items():
        now = life.numbers[step]
        for buffer in _scratch(of_step):
            blocks.append(Block((step, buffer), buffer.bytes, (Life(now, now),)))
    return assign(blocks, alignment)


def _scratch(calls: Sequence[Call]) -> list[Buffer]:
    """Of a step, whose calls have it in common."""
    return list(dict.fromkeys(buffer for call in calls for buffer in call.scratch))


class _Buffers:
    """The program's buffers: one for each storage, and for each kernel's scratch."""

    def __init__(self, memory: Mapping[Value, Storage], assignment: Assignment) -> None:
        self._offsets = assignment.offsets
        self._made: dict[Storage, Buffer] = {}
        self._literals: dict[Literal, Buffer] = {}
        self._tables: dict[Literal, Buffer] = {}
        self.constants: list[ConstantData] = []

    def of(self, storage: Storage) -> Buffer:
        if storage not in self._made:
            self._made[storage] = self._make(storage)
        return self._made[storage]

    def scratch(self, step: Step, buffer: Buffer) -> Buffer:
        offset = self._offsets[(step, buffer)]
        return Buffer(buffer.name, buffer.type, buffer.dimensions, Space.ARENA, offset)

    def table(self, data: ConstantData) -> Buffer:
        """A kernel's table; equal ones are one."""
        key = Literal(data.array)
        if key not in self._tables:
            self._tables[key] = replace(data.buffer)
            self.constants.append(ConstantData(self._tables[key], data.array))
        return self._tables[key]

    def _make(self, storage: Storage) -> Buffer:
        value = storage.interface
        shape = value.shape
        if value.constant is not None:
            return self._constant(value, value.constant)
        if storage.in_arena:
            offset = self._offsets.get(storage, 0)
            return Buffer(value.name, shape.element_type, shape.dimensions, Space.ARENA, offset)
        return Buffer(value.name, shape.element_type, shape.dimensions, Space.ARGUMENT)

    def _constant(self, value: Value, literal: Literal) -> Buffer:
        if literal not in self._literals:
            shape = value.shape
            buffer = Buffer(value.name, shape.element_type, shape.dimensions, Space.CONSTANT)
            self._literals[literal] = buffer
            self.constants.append(ConstantData(buffer, literal.data))
        return self._literals[literal]


class _Writer:
    """Steps → the program's steps."""

    def __init__(
        self,
        memory: Mapping[Value, Storage],
        life: Lives,
        calls: Mapping[Step, Sequence[Call]],
        buffers: _Buffers,
        origin: Origin,
    ) -> None:
        self._memory, self._life, self._calls, self._buffers = memory, life, calls, buffers
        self._origin = origin
        self._scratch: list[tuple[Step, Buffer]] = []

    def steps(self, steps: Sequence[Step]) -> tuple[LoopStep, ...]:
        return tuple(made for step in steps for made in self._steps(step))

    def lives(self, memory: Mapping[Value, Storage]) -> list[BufferLife]:
        """Who is where in the arena, and when."""
        found = []
        for storage in dict.fromkeys(memory.values()):
            if storage.in_arena and storage.bytes:
                for life in merged([self._life.of[v] for v in storage.values]):
                    buffer = self._buffers.of(storage)
                    found.append(BufferLife(buffer, life.first, life.last, buffer.name))
        for step, buffer in self._scratch:
            now = self._life.numbers[step]
            found.append(BufferLife(buffer, now, now, "scratch"))
        return found

    def _buffer(self, value: Value) -> Buffer:
        return self._buffers.of(self._memory[value])

    def _steps(self, step: Step) -> list[LoopStep]:
        if isinstance(step, Loop):
            condition, body = self.steps(step.condition), self.steps(step.body)
            predicate = self._buffer(step.predicate)
            return [While(condition, predicate, body, self._origin(step.instruction))]
        if isinstance(step, Branch):
            branches = tuple(self.steps(b) for b in step.branches)
            return [Switch(self._buffer(step.selector), branches, self._origin(step.instruction))]
        if isinstance(step, Exchange):
            pairs = zip(map(self._buffer, step.reads), step.shapes, strict=True)
            reads = tuple(Handed(buffer, shape.dimensions) for buffer, shape in pairs)
            writes = tuple(map(self._buffer, step.writes))
            return [CallHook(step.request, reads, writes, self._origin(step.instruction))]
        calls = self._calls[step]
        scratch = {b: self._buffers.scratch(step, b) for b in _scratch(calls)}
        self._scratch += [(step, b) for b in scratch.values()]
        what = self._origin(step.instruction) if isinstance(step, Compute) else step.origin
        return [CallKernel(call.kernel, self._given(call, scratch), what) for call in calls]

    def _given(self, call: Call, scratch: Mapping[Buffer, Buffer]) -> tuple[Buffer, ...]:
        """What a kernel is called on; `scratch`: where its step's lies."""
        storages = map(self._buffers.of, call.storages)
        tables = map(self._buffers.table, call.tables)
        return (*storages, *(scratch[b] for b in call.scratch), *tables)


def _arguments(
    steps: StepProgram,
    memory: Mapping[Value, Storage],
    buffers: _Buffers,
    names: Sequence[str],
    caller: Interface,
) -> tuple[Argument, ...]:
    """Parameters in order, a donated one with the output that it takes; then the other outputs."""
    arguments = []
    taken = [text for shape in caller.parameters for text in _logical(shape)]
    given = _logical(caller.result)
    for value in steps.parameters:
        storage, number = memory[value], value.parameter
        name = names[number] if names and number is not None else value.name
        logical = taken[number or 0]
        arguments.append(Argument(name, buffers.of(storage), number, storage.output, logical))
    for value in steps.outputs:
        storage = memory[value]
        if storage.parameter is None:
            logical = given[value.output or 0]
            buffer = buffers.of(storage)
            arguments.append(Argument(value.name, buffer, None, value.output, logical))
    return tuple(arguments)
