"""Init values that change no element, for reduces that passes take apart."""

from __future__ import annotations

import numpy as np

from ccodegen.hlo.ir import Instruction
from ccodegen.loop.neutral import neutral
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.build import constant, is_static
from ccodegen.ops.fold import operator_name
from ccodegen.ops.reduce import Reduce


def neutral_start(reduce: Instruction) -> Instruction | None:
    """For a reduce of one operand; None where the order of its elements counts."""
    if not is_static(reduce) or reduce.control_predecessors:
        return None
    reducer = attributes_of(reduce, Reduce).to_apply
    types = {i.array_shape.element_type for i in (reduce, *reduce.operands, reducer.root)}
    operator = operator_name(reducer)
    if len(types) > 1 or not operator:
        return None
    (element_type,) = types
    value = neutral(operator, element_type)
    return None if value is None else constant(reduce, np.array(value, element_type.dtype))
