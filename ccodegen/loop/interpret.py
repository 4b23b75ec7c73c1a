"""Runs loop programs on NumPy memory: the arena is one array of bytes, so planning bugs show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

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
from ccodegen.loop.lanes import Lanes, poisoned
from ccodegen.support.element_type import ElementType
from ccodegen.support.errors import InternalError
from ccodegen.support.hooks import IO, NO_IO, ArraySpec

Array = np.ndarray[Any, Any]


Observer = Callable[[CallKernel, list[Array], list[Array]], None]


def run(
    program: Program,
    arguments: Sequence[Array],
    observer: Observer | None = None,
    io: IO = NO_IO,
) -> list[Array]:
    """The results of the entry function, by flat output number.

    `arguments`: arrays by flat parameter number; they are not changed. Memory that nothing has
    written has all bits set. `observer(call, before, after)` sees each call's buffers, flat.
    `io` answers the program's hooks.
    Raises InternalError for an access out of bounds, a value of the wrong type, or a store to what
    is read-only.
    """
    machine = _Machine(program, arguments, observer, io)
    machine.run(program.steps)
    return machine.outputs()


def run_kernel(kernel: Kernel, arrays: Sequence[Array]) -> None:
    """Runs a kernel over contiguous arrays for its buffers, which it changes in place."""
    memory = {b: _flat(b, array) for b, array in zip(kernel.buffers, arrays, strict=True)}
    Lanes(kernel).run(memory)


def _flat(buffer: Buffer, array: Array) -> Array:
    if array.dtype != buffer.type.dtype or array.size != buffer.size:
        raise InternalError(f"{buffer.name} is no {array.dtype} array of {array.size} elements")
    flat = array.view()
    flat.shape = (array.size,)  # an error where this would need a copy
    return flat


class _Machine:
    """The memory of one call of the entry function."""

    def __init__(
        self, program: Program, arguments: Sequence[Array], observer: Observer | None, io: IO
    ) -> None:
        self._program, self._observer, self._io = program, observer, io
        self._arena = poisoned(program.arena_size, np.dtype(np.uint8))
        self._memory: dict[Buffer, Array] = {}
        self._lanes: dict[Kernel, Lanes] = {}
        for constant in program.constants:
            array = np.ascontiguousarray(constant.array).reshape(-1)
            self._memory[constant.buffer] = _read_only(array)
        for argument in program.arguments:
            buffer = argument.buffer
            if argument.parameter is None:
                self._memory[buffer] = poisoned(buffer.size, buffer.type.dtype)
                continue
            first = argument.initial or arguments[argument.parameter]
            given = _flat(buffer, np.array(first, buffer.type.dtype, order="C"))
            self._memory[buffer] = given if argument.output is not None else _read_only(given)

    def run(self, steps: Sequence[Step]) -> None:
        for step in steps:
            match step:
                case CallKernel():
                    self._call(step)
                case CallHook():
                    self._hook(step)
                case While():
                    self.run(step.condition)
                    while self._array(step.predicate)[0]:
                        self.run(step.body)
                        self.run(step.condition)
                case Switch():
                    self.run(step.branches[self._selected(step)])

    def _call(self, call: CallKernel) -> None:
        kernel = call.kernel
        lanes = self._lanes.setdefault(kernel, Lanes(kernel))
        pairs = zip(kernel.buffers, call.buffers, strict=True)
        arrays = {parameter: _flat(parameter, self._array(b)) for parameter, b in pairs}
        before = [array.copy() for array in arrays.values()] if self._observer else []
        lanes.run(arrays)
        if self._observer:
            self._observer(call, before, list(arrays.values()))

    def _hook(self, call: CallHook) -> None:
        arrays = [self._array(h.buffer).reshape(h.dimensions).copy() for h in call.reads]
        specs = [ArraySpec(b.dimensions, b.type.dtype) for b in call.writes]
        given = self._io.serve(call.request, arrays, specs)
        for buffer, array in zip(call.writes, given, strict=True):
            self._array(buffer)[:] = array.reshape(-1)

    def _selected(self, switch: Switch) -> int:
        value = self._array(switch.selector)[0]
        if switch.selector.type is ElementType.PRED:
            return 0 if value else 1
        last = len(switch.branches) - 1
        return int(value) if 0 <= value <= last else last

    def _array(self, buffer: Buffer) -> Array:
        """The elements of a buffer, as a view of its memory."""
        if buffer not in self._memory:
            if buffer.space is not Space.ARENA:
                raise InternalError(f"{buffer.name} is neither an argument nor a constant")
            self._memory[buffer] = self._arena_view(buffer)
        return self._memory[buffer]

    def _arena_view(self, buffer: Buffer) -> Array:
        end = buffer.offset + buffer.bytes
        if buffer.offset < 0 or end > self._arena.size:
            raise InternalError(f"{buffer.name} ends at byte {end}, outside of the arena")
        return self._arena[buffer.offset : end].view(buffer.type.dtype)

    def outputs(self) -> list[Array]:
        own = self._program.arguments
        outputs = [a for a in own if a.output is not None and not a.initial]
        outputs.sort(key=lambda a: a.output or 0)
        return [self._memory[a.buffer].reshape(a.buffer.dimensions) for a in outputs]


def _read_only(array: Array) -> Array:
    view = array.view()
    view.flags.writeable = False
    return view
