"""Custom calls that a routine of runtime_c computes, as ccg_linalg.h describes such routines.

One description serves the evaluator, which runs the C translated to Python, and the loop nest,
which calls it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.shape import ArrayShape, TupleShape
from ccodegen.loop.builder import index
from ccodegen.loop.ir import Buffer, CallC
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.custom_call import CustomCall, CustomCallDef, register_custom_call
from ccodegen.ops.lowering import NestScope
from ccodegen.support.c_reference import call_routine
from ccodegen.support.element_type import ElementType
from ccodegen.support.errors import InputError
from ccodegen.support.immutable import frozen, immutable

Array: TypeAlias = tuple[ElementType, tuple[int, ...]]
"""Element type and dimensions of an operand or a result."""


@frozen
class Call:
    """A call `function(results…, operands…, work…, scalars…)`: pointers, then numbers.

    `header`: where the function is. `results`: what the instruction must have. `starts`: for a
    result, the operand whose elements it holds before the call (of the same type and size).
    `operands`: numbers of those that the routine only reads. `work`: memory for it, as element
    type and number of elements.
    """

    function: str
    header: str
    results: tuple[Array, ...]
    scalars: tuple[int, ...]
    starts: tuple[tuple[int, int], ...] = ()
    operands: tuple[int, ...] = ()
    work: tuple[tuple[ElementType, int], ...] = ()


@immutable
class Matrices:
    """An operand as matrices: [*batch, rows, columns]."""

    type: ElementType
    batch: tuple[int, ...]
    rows: int
    columns: int

    @property
    def count(self) -> int:
        return math.prod(self.batch)

    def array(self, *dimensions: int, type: ElementType | None = None) -> Array:
        """So many dimensions for each matrix, of its element type unless another one is given."""
        return type or self.type, (*self.batch, *dimensions)


Plan: TypeAlias = Callable[[Instruction], Call]


Nest: TypeAlias = Callable[[NestScope, Instruction], bool]
"""Writes a nest that does what the call does, and says whether it has."""


def register_routine(target: str, plan: Plan, faster: Nest | None = None) -> CustomCallDef:
    """Adds a target whose instructions `plan` turns into calls; it may raise InputError. `faster`:
    what stands for the call where it can."""

    def evaluate(evaluator: Any, instruction: Instruction, *operands: Any) -> Any:
        return _run(_checked(plan, instruction), instruction, operands)

    def nest(scope: NestScope, instruction: Instruction) -> None:
        call = _checked(plan, instruction)
        if faster is None or not faster(scope, instruction):
            _emit(scope, call)

    return register_custom_call(CustomCallDef(target, evaluate=evaluate, nest=nest))


def matrices_of(instruction: Instruction, number: int, operands: int = 1) -> Matrices:
    """An operand of one that has so many. Raises InputError where it holds no matrices."""
    shapes = [o.shape for o in instruction.operands]
    if len(shapes) != operands:
        raise refusal(instruction, f"takes {operands} operands, not {len(shapes)}")
    shape = shapes[number]
    if not isinstance(shape, ArrayShape) or shape.rank < 2:
        raise refusal(instruction, f"takes matrices, not {shape}")
    *batch, rows, columns = shape.dimensions
    return Matrices(shape.element_type, tuple(batch), rows, columns)


def require_operand(instruction: Instruction, number: int, wanted: Array) -> None:
    """Raises InputError unless the operand has this type and these dimensions."""
    shape = instruction.operands[number].shape
    if _array(shape) != wanted:
        raise refusal(instruction, f"takes {_text(wanted)} as operand {number}, not {shape}")


def refusal(instruction: Instruction, message: str) -> InputError:
    """An error that says what is wrong with a custom call."""
    target = attributes_of(instruction, CustomCall).custom_call_target
    return InputError(f"custom-call to '{target}' {message}", instruction.location)


def _checked(plan: Plan, instruction: Instruction) -> Call:
    call = plan(instruction)
    shapes = _result_shapes(instruction)
    if tuple(map(_array, shapes)) != call.results:
        results = ", ".join(map(_text, call.results))
        raise refusal(instruction, f"has as result ({results}), not {instruction.shape}")
    return call


def _result_shapes(instruction: Instruction) -> tuple[Any, ...]:
    shape = instruction.shape
    return shape.elements if isinstance(shape, TupleShape) else (shape,)


def _array(shape: Any) -> Array | None:
    if not isinstance(shape, ArrayShape) or any(shape.dynamic):
        return None
    return shape.element_type, shape.dimensions


def _text(array: Array) -> str:
    return f"{array[0].text}[{','.join(map(str, array[1]))}]"


def _run(call: Call, instruction: Instruction, operands: tuple[Any, ...]) -> Any:
    results = [np.zeros(dimensions, kind.dtype) for kind, dimensions in call.results]
    for result, operand in call.starts:
        results[result][...] = operands[operand]
    read = [np.ascontiguousarray(operands[number]) for number in call.operands]
    work = [np.zeros(size, kind.dtype) for kind, size in call.work]
    call_routine(call.function, [*results, *read, *work], call.scalars)
    return tuple(results) if isinstance(instruction.shape, TupleShape) else results[0]


def _emit(scope: NestScope, call: Call) -> None:
    for result, operand in call.starts:
        copy(scope, scope.operands[operand], scope.results[result])
    read = [scope.operands[number] for number in call.operands]
    work = [scope.scratch(kind, (size,)) for kind, size in call.work]
    buffers = (*scope.results, *read, *work)
    reads = range(len(scope.results), len(scope.results) + len(read))
    writes = tuple(n for n in range(len(buffers)) if n not in reads)
    scalars = tuple(map(index, call.scalars))
    scope.builder.emit(CallC(call.function, call.header, buffers, scalars, writes))


def copy(scope: NestScope, source: Buffer, target: Buffer) -> None:
    with scope.builder.loops(source.dimensions, "i") as place:
        scope.builder.store(target, place, scope.builder.load(source, place))
