"""Mixed precision made explicit: programs may leave out conversions between floats, as in XLA."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ccodegen.hlo import opdef
from ccodegen.hlo.attributes import NO_ATTRIBUTES, Attributes
from ccodegen.hlo.checks import inferred_shape, make_attributes, taken_shapes
from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.hlo.shape import ArrayShape, Shape, TupleShape
from ccodegen.hlo.verify import DECLARED_TYPE, compatible
from ccodegen.support.element_type import widest_float


def settled(module: Module) -> Module:
    """The verified module with a convert wherever an op takes or gives floats of another precision
    than its operands or its result have. Computes in the widest of these, and rounds once."""
    return rewrite_module(module, _settled)


def _settled(instruction: Instruction) -> Instruction:
    definition = opdef.get(instruction.op)
    if definition.infer is None:
        return instruction
    uniform = _with_operands(instruction, definition, instruction.operands)
    if instruction.op in DECLARED_TYPE or _gives(uniform) is None:
        return uniform
    wide = _with_operands(instruction, definition, tuple(_widened(instruction)))
    given = _gives(wide)
    if given is None:
        return wide
    own = replace(wide, shape=_with_types(instruction.shape, given))
    return _converted(own, instruction.shape)


def _with_operands(
    instruction: Instruction, definition: opdef.OpDef, operands: tuple[Instruction, ...]
) -> Instruction:
    """The instruction over these operands, in the precision in which it takes them."""
    wanted = taken_shapes(definition, operands, instruction.attributes)
    return instruction.with_operands(tuple(map(_converted, operands, wanted)))


def _gives(instruction: Instruction) -> Shape | None:
    """The shape that the op gives; None where that is the declared one."""
    definition = opdef.get(instruction.op)
    given = inferred_shape(definition, instruction.operands, instruction.attributes)
    return None if compatible(instruction.shape, given) else given


def _widened(instruction: Instruction) -> Iterator[Instruction]:
    """The operands, floats at least as wide as those of the result."""
    for operand in instruction.operands:
        shapes = (operand.shape, instruction.shape)
        types = [s.element_type for s in shapes if isinstance(s, ArrayShape)]
        is_float = len(types) == 2 and all(t.is_float for t in types)
        wanted = ArrayShape(widest_float(types)) if is_float else operand.shape
        yield _converted(operand, wanted)


def _with_types(shape: Shape, types: Shape) -> Shape:
    """The shape with the element types of the other."""
    if isinstance(shape, TupleShape) and isinstance(types, TupleShape):
        return TupleShape(tuple(map(_with_types, shape.elements, types.elements)))
    both = isinstance(shape, ArrayShape) and isinstance(types, ArrayShape)
    return shape.with_type(types.element_type) if both else shape  # type: ignore[union-attr]


def _converted(value: Instruction, wanted: Shape) -> Instruction:
    """The value in the types of a shape; itself where it has them."""
    if isinstance(wanted, TupleShape):
        elements = tuple(_converted(_element(value, n), s) for n, s in enumerate(wanted.elements))
        same = all(e.op == "get-tuple-element" for e in elements)
        return value if same else _derived(value, "tuple", wanted, elements)
    if not isinstance(wanted, ArrayShape) or value.array_shape.element_type is wanted.element_type:
        return value
    return _derived(value, "convert", value.array_shape.with_type(wanted.element_type), (value,))


def _element(value: Instruction, number: int) -> Instruction:
    assert isinstance(value.shape, TupleShape)
    attributes = make_attributes(opdef.get("get-tuple-element"), {"index": number})
    shape = value.shape.elements[number]
    return _derived(value, "get-tuple-element", shape, (value,), attributes)


def _derived(
    origin: Instruction,
    op: str,
    shape: Shape,
    operands: tuple[Instruction, ...],
    attributes: Attributes = NO_ATTRIBUTES,
) -> Instruction:
    metadata, location = origin.metadata, origin.location
    return Instruction(op, shape, operands, attributes, origin.name, metadata, location)
