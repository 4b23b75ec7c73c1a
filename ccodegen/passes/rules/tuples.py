"""Tuples that are made and taken apart again."""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.tuples import GetTupleElement
from ccodegen.passes.context import PassContext
from ccodegen.passes.rules import Rules


def get_tuple_element(instruction: Instruction, _: PassContext) -> Instruction | None:
    """get-tuple-element(tuple(a, b), index=1) → b."""
    (operand,) = instruction.operands
    attributes = attributes_of(instruction, GetTupleElement)
    return operand.operands[attributes.index] if operand.op == "tuple" else None


def tuple_(instruction: Instruction, _: PassContext) -> Instruction | None:
    """tuple of all elements of x in order → x."""
    sources = {id(o.operands[0]) for o in instruction.operands if o.op == "get-tuple-element"}
    if len(sources) != 1 or not all(_is_element(o, i) for i, o in enumerate(instruction.operands)):
        return None
    source = instruction.operands[0].operands[0]
    return source if source.shape == instruction.shape else None


def _is_element(instruction: Instruction, index: int) -> bool:
    attributes = instruction.attributes
    return isinstance(attributes, GetTupleElement) and attributes.index == index


RULES: Rules = {"get-tuple-element": (get_tuple_element,), "tuple": (tuple_,)}
