"""Scalar operators over NumPy arrays and over expressions under one set of names.

An algorithm of several steps (cholesky, triangular-solve) is written once for each, with the same
operators in the same order; this keeps the two in step.
"""

from __future__ import annotations

import numpy as np

from ccodegen.loop import operators
from ccodegen.loop.builder import apply
from ccodegen.loop.ir import Expr
from ccodegen.ops.fold import Array
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable


def working_type(element_type: ElementType) -> ElementType:
    """What sums of products are computed in: narrow floats in f32, others in their own type."""
    narrow = element_type.is_float and element_type is not ElementType.F64
    return ElementType.F32 if narrow else element_type


@immutable
class ArrayArithmetic:
    """Operators over arrays of one element type, as the scalar operators define them."""

    type: ElementType

    def apply(self, operator: str, *arrays: Array) -> Array:
        return operators.evaluate(operator, np.broadcast_arrays(*arrays), self.type)

    def minus_product(self, total: Array, a: Array, b: Array) -> Array:
        """total - a · b, both rounded."""
        return self.apply("subtract", total, self.apply("multiply", a, b))

    def conjugate(self, value: Array) -> Array:
        return value.conj() if self.type.is_complex else value


def minus_product(total: Expr, a: Expr, b: Expr) -> Expr:
    return apply("subtract", total, apply("multiply", a, b))


def conjugate(value: Expr) -> Expr:
    """The complex conjugate; a real number is its own."""
    if not value.type.is_complex:
        return value
    imaginary = apply("negate", apply("imag", value, type=value.type.component))
    return apply("complex", real_part(value), imaginary, type=value.type)


def real_part(value: Expr) -> Expr:
    """The real part; a real number is its own."""
    if not value.type.is_complex:
        return value
    return apply("real", value, type=value.type.component)
