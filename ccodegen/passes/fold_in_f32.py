"""Reduces and windows of f16 and bf16, computed in f32."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.rewrite import rewrite_computation
from ccodegen.ops.build import constant, converted, derived, reducer
from ccodegen.ops.creation import Constant
from ccodegen.ops.fold import operator_name
from ccodegen.passes.simple_reduce import of_one_type
from ccodegen.support.element_type import ElementType

EXTREMA = ("maximum", "minimum")  # these are the same numbers in a wider type
_NARROW = (ElementType.F16, ElementType.BF16)
_TYPED = frozenset({"bitcast-convert", "convert", "reduce-precision"})


def in_f32(reduce: Instruction) -> Instruction | None:
    """The same computed in f32 and rounded once; None where it is not of f16 or bf16."""
    found = of_one_type(reduce)
    if found is None or found[1] not in _NARROW:
        return None
    attributes, narrow = found
    computation = _computation(attributes.to_apply)
    if computation is None:
        return None
    result = derived(
        reduce,
        reduce.op,
        reduce.array_shape.with_type(ElementType.F32),
        tuple(converted(reduce, operand, ElementType.F32) for operand in reduce.operands),
        replace(attributes, to_apply=computation),
    )
    return converted(reduce, result, narrow)


def _computation(narrow: Computation) -> Computation | None:
    """None for a computation that does not compute its elements in one type."""
    operator = operator_name(narrow)
    if operator:
        return reducer(operator, ElementType.F32)
    if not all(map(_is_of_one_type, narrow.instructions)):
        return None
    return replace(rewrite_computation(narrow, _value), name=f"{narrow.name}_f32")


def _is_of_one_type(value: Instruction) -> bool:
    if value.control_predecessors or value.op in _TYPED:
        return False
    if value.op not in ("parameter", "constant") and not opdef.get(value.op).elementwise:
        return False
    return value.array_shape.element_type in (*_NARROW, ElementType.PRED)


def _value(value: Instruction) -> Instruction:
    shape = value.array_shape
    if shape.element_type is ElementType.PRED:
        return value
    if isinstance(value.attributes, Constant):
        return constant(value, value.attributes.literal.array.astype(np.float32))
    return replace(value, shape=shape.with_type(ElementType.F32))
