"""Gives C functions of the user's their operands and results in the layouts that they want."""

from __future__ import annotations

from dataclasses import replace

from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.layout import major_to_minor
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.hlo.shape import ArrayShape, Shape, TupleShape
from ccodegen.ops.build import element_of, transpose, tuple_of
from ccodegen.ops.c_call import operand_shapes
from ccodegen.ops.custom_call import definition_of
from ccodegen.passes.context import PassContext


def settle_call_layouts(module: Module, context: PassContext) -> Module:
    """`%y = f32[3,2]{0,1} custom-call(%x), operand_layout_constraints={f32[3,5]{0,1}}` → a
    row-major `f32[2,3] custom-call` of the transpose of `%x`, and its transpose as `%y`.

    Only where the target is a C function of the user's; whatever else knows no layouts.
    """
    return rewrite_module(module, _visit)


def _visit(instruction: Instruction) -> Instruction:
    definition = definition_of(instruction)
    if definition is None or not definition.honours_layouts:
        return instruction
    wanted = operand_shapes(instruction)
    if not any(map(_is_odd, (*wanted, *_parts(instruction.shape)))):
        return instruction
    pairs = zip(instruction.operands, wanted, strict=True)
    operands = tuple(
        transpose(o, o, major_to_minor(s)) if isinstance(s, ArrayShape) else o for o, s in pairs
    )
    call = replace(
        instruction,
        shape=_in_memory(instruction.shape),
        operands=operands,
        attributes=replace(
            instruction.attributes,
            operand_layout_constraints=None,  # type: ignore[call-arg]
        ),
    )
    return _out_of_memory(call, instruction.shape)


def _parts(shape: Shape) -> tuple[Shape, ...]:
    return shape.elements if isinstance(shape, TupleShape) else (shape,)


def _is_odd(shape: Shape) -> bool:
    return isinstance(shape, ArrayShape) and major_to_minor(shape) != tuple(range(shape.rank))


def _in_memory(shape: Shape) -> Shape:
    if isinstance(shape, TupleShape):
        return TupleShape(tuple(map(_in_memory, shape.elements)))
    if not isinstance(shape, ArrayShape):
        return shape
    return shape.with_dimensions(tuple(shape.dimensions[d] for d in major_to_minor(shape)))


def _out_of_memory(value: Instruction, shape: Shape) -> Instruction:
    """The logical value; its shape keeps the layout, which a bitcast may look at."""
    if isinstance(shape, TupleShape):
        parts = enumerate(shape.elements)
        return tuple_of(value, [_out_of_memory(element_of(value, value, n), s) for n, s in parts])
    if not isinstance(shape, ArrayShape):
        return value
    order = major_to_minor(shape)
    logical = transpose(value, value, sorted(range(shape.rank), key=order.__getitem__))
    return logical if logical is value else replace(logical, shape=shape)
