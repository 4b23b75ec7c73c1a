"""Computations and copies that start at one place and end at another."""

from __future__ import annotations

from typing import Any

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import ArrayShape, Shape, TupleShape
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.control import check_arguments
from ccodegen.ops.shape_checks import require
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import frozen


@frozen
class AsyncStart(Attributes):
    calls: Computation = attr(AttrKind.COMPUTATION)
    async_execution_thread: str = attr(AttrKind.STRING, "")
    output_to_operand_aliasing: str = attr(AttrKind.RAW, "")


@frozen
class AsyncContinuation(Attributes):
    """What was started is found through the operand; older texts name it again."""

    calls: Computation | None = attr(AttrKind.COMPUTATION, None)
    async_execution_thread: str = attr(AttrKind.STRING, "")


@frozen
class CopyStart(Attributes):
    cross_program_prefetch_index: int | None = attr(AttrKind.INT, None)


def check_start(instruction: Instruction) -> None:
    """The result is ((operands), result, …) with what else the machine needs."""
    attributes, shape = attributes_of(instruction, AsyncStart), instruction.shape
    check_arguments("async-start", attributes.calls, [o.shape for o in instruction.operands])
    require(
        isinstance(shape, TupleShape) and len(shape.elements) >= 2,
        f"async-start gives a tuple of the operands, the result and more, not {shape}",
    )


def evaluate_start(evaluator: Any, instruction: Instruction, *values: Any) -> Any:
    """Runs at once. What the machine would need is None."""
    result = evaluator.call(attributes_of(instruction, AsyncStart).calls, *values)
    assert isinstance(instruction.shape, TupleShape)
    return (values, result, *(None for _ in instruction.shape.elements[2:]))


def infer_update(shapes: tuple[Shape, ...], attributes: AsyncContinuation) -> Shape:
    return shapes[0]


def evaluate_update(evaluator: Any, instruction: Instruction, value: Any) -> Any:
    return value


def infer_done(shapes: tuple[Shape, ...], attributes: AsyncContinuation) -> Shape:
    return _part("async-done", shapes[0], 1)


def evaluate_done(evaluator: Any, instruction: Instruction, value: Any) -> Any:
    return value[1]


def infer_copy_start(shapes: tuple[Shape, ...], attributes: CopyStart) -> Shape:
    return TupleShape((shapes[0], shapes[0], ArrayShape(ElementType.U32)))


def evaluate_copy_start(evaluator: Any, instruction: Instruction, value: Any) -> Any:
    return value, value, None


def infer_copy_done(shapes: tuple[Shape, ...], attributes: Attributes) -> Shape:
    return _part("copy-done", shapes[0], 0)


def evaluate_copy_done(evaluator: Any, instruction: Instruction, value: Any) -> Any:
    return value[0]


def _part(op: str, shape: Shape, number: int) -> Shape:
    started = isinstance(shape, TupleShape) and len(shape.elements) > number
    require(started, f"{op} takes what its start gave, not {shape}")
    assert isinstance(shape, TupleShape)
    return shape.elements[number]


register(
    OpDef("async-start", AsyncStart, (0, None), check=check_start, evaluate=evaluate_start)
)
register(
    OpDef("async-update", AsyncContinuation, infer=infer_update, evaluate=evaluate_update)
)
register(OpDef("async-done", AsyncContinuation, infer=infer_done, evaluate=evaluate_done))
register(
    OpDef("copy-start", CopyStart, infer=infer_copy_start, evaluate=evaluate_copy_start)
)
register(OpDef("copy-done", infer=infer_copy_done, evaluate=evaluate_copy_done))
