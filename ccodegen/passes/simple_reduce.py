"""Reduces of one operand by one operator, which passes may make in another way."""

from __future__ import annotations

import numpy as np

from ccodegen.hlo.ir import Instruction
from ccodegen.loop.neutral import neutral
from ccodegen.ops.build import constant, is_static
from ccodegen.ops.fold import operator_name
from ccodegen.ops.reduce import Reduce
from ccodegen.ops.reduce_window import ReduceWindow
from ccodegen.support.element_type import ElementType


def operator_of(reduce: Instruction) -> tuple[str, ElementType] | None:
    """The operator and the only type of a reduce, or reduce-window; None where `of_one_type` is, or
    for a computation of more than one op."""
    found = of_one_type(reduce)
    operator = operator_name(found[0].to_apply) if found else ""
    return (operator, found[1]) if found and operator else None


def of_one_type(reduce: Instruction) -> tuple[Reduce | ReduceWindow, ElementType] | None:
    """Attributes and the only type of a reduce, or reduce-window, of one operand; None for another
    instruction, several operands or types, dynamic sizes, or where something must run before."""
    attributes = reduce.attributes
    if not isinstance(attributes, Reduce | ReduceWindow) or len(reduce.operands) != 2:
        return None
    if not is_static(reduce) or reduce.control_predecessors:
        return None
    computation = attributes.to_apply
    values = (reduce, *reduce.operands, *computation.parameters, computation.root)
    types = {i.array_shape.element_type for i in values}
    return (attributes, types.pop()) if len(types) == 1 else None


def neutral_start(reduce: Instruction) -> Instruction | None:
    """An init value that changes no element; None where their order counts."""
    found = operator_of(reduce)
    if found is None:
        return None
    operator, element_type = found
    value = neutral(operator, element_type)
    return None if value is None else constant(reduce, np.array(value, element_type.dtype))
