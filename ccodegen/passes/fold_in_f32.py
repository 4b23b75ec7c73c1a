"""Reduces and windows of f16 and bf16, computed in f32."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.rewrite import rewrite_computation, with_callees
from ccodegen.hlo.shape import ArrayShape
from ccodegen.ops.build import constant, converted, derived, is_static
from ccodegen.ops.creation import Constant
from ccodegen.support.element_type import ElementType

EXTREMA = ("maximum", "minimum")  # these are the same numbers in a wider type
_F32 = ElementType.F32
_NARROW = (ElementType.F16, ElementType.BF16)
_TYPED = frozenset({"bitcast-convert", "convert", "reduce-precision"})


def in_f32(fold: Instruction) -> Instruction | None:
    """The same computed in f32 and rounded once; None where it is not of f16 or bf16 alone, is of
    several arrays or dynamic sizes, or where something must run before."""
    if not isinstance(fold.shape, ArrayShape) or fold.control_predecessors or not is_static(fold):
        return None
    narrow = fold.shape.element_type
    types = {operand.array_shape.element_type for operand in fold.operands}
    if narrow not in _NARROW or types != {narrow}:
        return None
    computations = fold.attributes.computations()
    if not all(_is_of_one_type(value) for c in computations for value in c.instructions):
        return None
    result = derived(
        fold,
        fold.op,
        fold.shape.with_type(_F32),
        tuple(converted(fold, operand, _F32) for operand in fold.operands),
        with_callees(fold.attributes, {c: _computation(c) for c in computations}),
    )
    return converted(fold, result, narrow)


def _computation(narrow: Computation) -> Computation:
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
    return replace(value, shape=shape.with_type(_F32))
