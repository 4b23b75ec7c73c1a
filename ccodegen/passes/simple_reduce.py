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
    """The operator and the only type of a reduce, or reduce-window, of one operand; None for
    another instruction or computation, several operands or types, dynamic sizes, or where something
    must run before."""
    attributes = reduce.attributes
    if not isinstance(attributes, Reduce | ReduceWindow) or len(reduce.operands) != 2:
        return None
    if not is_static(reduce) or reduce.control_predecessors:
        return None
    reducer = attributes.to_apply
    types = {i.array_shape.element_type for i in (reduce, *reduce.operands, reducer.root)}
    operator = operator_name(reducer)
    if len(types) > 1 or not operator:
        return None
    (element_type,) = types
    return operator, element_type


def neutral_start(reduce: Instruction) -> Instruction | None:
    """An init value that changes no element; None where their order counts."""
    found = operator_of(reduce)
    if found is None:
        return None
    operator, element_type = found
    value = neutral(operator, element_type)
    return None if value is None else constant(reduce, np.array(value, element_type.dtype))
