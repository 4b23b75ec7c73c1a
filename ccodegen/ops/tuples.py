"""Making and taking apart tuples."""

from __future__ import annotations

from typing import Any

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import Shape, TupleShape
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.support.errors import InputError
from ccodegen.support.immutable import frozen


@frozen
class GetTupleElement(Attributes):
    index: int = attr(AttrKind.INT)


def infer_tuple(shapes: tuple[Shape, ...], attributes: Attributes) -> Shape:
    return TupleShape(shapes)


def evaluate_tuple(evaluator: Any, instruction: Instruction, *values: Any) -> Any:
    return values


def infer_element(shapes: tuple[Shape, ...], attributes: GetTupleElement) -> Shape:
    (operand,) = shapes
    if not isinstance(operand, TupleShape):
        raise InputError(f"get-tuple-element takes a tuple, not {operand}")
    if not 0 <= attributes.index < len(operand.elements):
        count = len(operand.elements)
        raise InputError(f"get-tuple-element: index {attributes.index} of a tuple of {count}")
    return operand.elements[attributes.index]


def evaluate_element(evaluator: Any, instruction: Instruction, value: Any) -> Any:
    return value[attributes_of(instruction, GetTupleElement).index]


register(OpDef("tuple", arity=(0, None), infer=infer_tuple, evaluate=evaluate_tuple))
register(
    OpDef("get-tuple-element", GetTupleElement, infer=infer_element, evaluate=evaluate_element)
)
