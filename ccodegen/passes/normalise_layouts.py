"""Makes layouts explicit: afterwards values are logical, and no shape has one."""

from __future__ import annotations

from dataclasses import replace

from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.layout import major_to_minor
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.hlo.shape import ArrayShape, Shape, TupleShape, leaves
from ccodegen.ops.bitcast import check_unpadded
from ccodegen.ops.build import derived, is_static, reshape, transpose
from ccodegen.passes.context import PassContext


def normalise_layouts(module: Module, context: PassContext) -> Module:
    """`bitcast` → what it does to the logical value, by the layouts; `copy` → its operand.

    ```
    %b = f32[3,2]{0,1} bitcast(f32[2,3]{1,0} %x)   →   %b = f32[3,2] transpose(%x), dimensions={1,0}
    ```
    Layouts vanish from all shapes: arrays that go in and out are row-major (`expose_layouts` makes
    them so where the interface says otherwise).
    """
    plain = rewrite_module(module, _expand_bitcast)
    return rewrite_module(plain, _without_layout)


def _expand_bitcast(instruction: Instruction) -> Instruction:
    """The elements in physical order stay as they are: to it, into the new sizes, and from it."""
    if instruction.op != "bitcast" or not _has_known_sizes(instruction):
        return instruction
    check_unpadded(instruction)
    if not _is_plain(instruction):
        return instruction
    (operand,) = instruction.operands
    source, target = operand.array_shape, instruction.array_shape
    logical = _reinterpreted(instruction, operand)
    if source.element_type is not target.element_type:
        return derived(instruction, "bitcast-convert", target, (logical,))
    # An op of its own even where nothing moves: the next bitcast reads this one's layout.
    return derived(instruction, "copy", target, (logical,))


def _reinterpreted(instruction: Instruction, operand: Instruction) -> Instruction:
    source, target = operand.array_shape, instruction.array_shape
    outward, order = major_to_minor(source), major_to_minor(target)
    if source.dimensions == target.dimensions and outward == order:
        return operand
    physical = transpose(instruction, operand, outward)
    resized = reshape(instruction, physical, [target.dimensions[d] for d in order])
    return transpose(instruction, resized, sorted(range(len(order)), key=order.__getitem__))


def _has_known_sizes(instruction: Instruction) -> bool:
    shapes = (instruction.shape, instruction.operands[0].shape)
    return all(isinstance(s, ArrayShape) for s in shapes) and is_static(instruction)


def _is_plain(instruction: Instruction) -> bool:
    a, b = instruction.operands[0].array_shape, instruction.array_shape
    return a.size == b.size and a.element_type.bits == b.element_type.bits


def _without_layout(instruction: Instruction) -> Instruction:
    if instruction.op == "copy" and not instruction.control_predecessors:
        return instruction.operands[0]
    if not any(isinstance(s, ArrayShape) and s.layout for s in leaves(instruction.shape)):
        return instruction
    return replace(instruction, shape=_logical(instruction.shape))


def _logical(shape: Shape) -> Shape:
    if isinstance(shape, TupleShape):
        return TupleShape(tuple(map(_logical, shape.elements)))
    return replace(shape, layout=None) if isinstance(shape, ArrayShape) else shape
