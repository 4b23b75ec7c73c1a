"""cholesky: the triangular factor l of symmetric positive definite matrices a = l · lᴴ.

Only one triangle of a is read; the other one of the result is zero. With `lower` false the result
is u = lᴴ. Column by column, each sum runs from its first term to its last. A matrix that is not
positive definite gives NaN in the whole triangle.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import Shape
from ccodegen.loop.builder import apply, compare, const, index
from ccodegen.loop.ir import Buffer, Expr, Index
from ccodegen.ops.arithmetic import (
    ArrayArithmetic,
    conjugate,
    minus_product,
    real_part,
    working_type,
)
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.cholesky_tiles import factor_in_tiles, factor_tile
from ccodegen.ops.fold import Array, converted
from ccodegen.ops.lowering import NestScope
from ccodegen.ops.shape_checks import arrays, require
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import frozen, immutable

PRED = ElementType.PRED


@frozen
class Cholesky(Attributes):
    lower: bool = attr(AttrKind.BOOL, False)


def infer(shapes: tuple[Shape, ...], attributes: Cholesky) -> Shape:
    (a,) = arrays("cholesky", shapes)
    square = a.rank >= 2 and a.dimensions[-1] == a.dimensions[-2]
    require(square, f"cholesky takes square matrices, not {a}")
    require(
        a.element_type.is_float or a.element_type.is_complex,
        f"cholesky takes floats or complex numbers, not {a.element_type.text}",
    )
    return a


def evaluate(evaluator: Any, instruction: Instruction, operand: Array) -> Array:
    own = instruction.array_shape.element_type
    work = working_type(own)
    lower = _is_lower(instruction)
    a = operand.astype(work.dtype)
    a = a if lower else ArrayArithmetic(work).conjugate(a.swapaxes(-1, -2))
    factor = _factor(a, own, ArrayArithmetic(work))
    result = factor if lower else ArrayArithmetic(work).conjugate(factor.swapaxes(-1, -2))
    return result.astype(own.dtype)


def _factor(a: Array, own: ElementType, arithmetic: ArrayArithmetic) -> Array:
    """l of matrices whose lower triangle is read; elements are rounded to `own` when stored."""
    real = ArrayArithmetic(arithmetic.type.component)
    factor = np.zeros_like(a)
    failed = np.zeros(a.shape[:-2], np.bool_)
    with np.errstate(all="ignore"):
        for j in range(a.shape[-1]):
            total = a[..., j:, j]
            for k in range(j):
                row = arithmetic.conjugate(factor[..., j, k, None])
                total = arithmetic.minus_product(total, factor[..., j:, k], row)
            pivot = total[..., 0].real
            failed |= ~(pivot > 0)
            root = real.apply("sqrt", pivot).astype(own.dtype).astype(a.dtype)
            factor[..., j, j] = root
            below = arithmetic.apply("divide", total[..., 1:], root[..., None])
            factor[..., j + 1 :, j] = below.astype(own.dtype).astype(a.dtype)
    return np.where(failed[..., None, None] & np.tri(a.shape[-1], dtype=bool), np.nan, factor)


@immutable
class _Matrix:
    """A matrix of a batch as a lower triangle: element (i, j), or (j, i) conjugated."""

    scope: NestScope
    batch: Index
    lower: bool

    def load(self, buffer: Buffer, i: Expr, j: Expr) -> Expr:
        value = converted(
            self.scope.builder.load(buffer, self._place(i, j)), working_type(buffer.type)
        )
        return value if self.lower else conjugate(value)

    def store(self, buffer: Buffer, i: Expr, j: Expr, value: Expr) -> None:
        value = converted(value, buffer.type)
        value = value if self.lower else conjugate(value)
        self.scope.builder.store(buffer, self._place(i, j), value)

    def _place(self, i: Expr, j: Expr) -> Index:
        return (*self.batch, i, j) if self.lower else (*self.batch, j, i)


def nest(scope: NestScope, instruction: Instruction) -> None:
    b, (factor,), lower = scope.builder, scope.results, _is_lower(instruction)
    *outer, n, _ = factor.dimensions
    tile = factor_tile(scope)
    with b.loops(outer, "m") as batch:
        matrix = _Matrix(scope, batch, lower)
        if tile:
            number = factor_in_tiles(scope, tile, lower, batch)
            failed: Expr = compare("ne", b.load(number), const(number.type, 0))
        else:
            failed = _emit_columns(matrix)
        _emit_rest(matrix, factor, n, failed)


def _emit_columns(matrix: _Matrix) -> Expr:
    """Column after column. Returns whether one has no root."""
    scope, b = matrix.scope, matrix.scope.builder
    (a,), (factor,) = scope.operands, scope.results
    n = factor.dimensions[-1]
    failed = b.variable(const(PRED, False), "failed")
    with b.loop(n, "j") as j:
        _emit_pivot(matrix, a, factor, j, failed)
        with b.loop(apply("subtract", index(n - 1), j), "i") as below:
            i = b.let(apply("add", apply("add", below, j), index(1)), "row")
            total = _emit_total(matrix, a, factor, i, j)
            quotient = apply("divide", total, matrix.load(factor, j, j))
            matrix.store(factor, i, j, quotient)
    return b.load(failed)


def _emit_pivot(matrix: _Matrix, a: Buffer, factor: Buffer, j: Expr, failed: Buffer) -> None:
    b = matrix.scope.builder
    total = _emit_total(matrix, a, factor, j, j)
    part = total.type.component
    pivot = b.let(real_part(total), "pivot")
    zero = const(part, 0)
    with b.when(apply("not", compare("gt", pivot, zero))):
        b.store(failed, (), const(PRED, True))
    root: Expr = apply("sqrt", pivot)
    if total.type.is_complex:
        root = apply("complex", root, zero, type=total.type)
    matrix.store(factor, j, j, root)


def _emit_total(matrix: _Matrix, a: Buffer, factor: Buffer, i: Expr, j: Expr) -> Expr:
    """a(i, j) minus the products l(i, k) · conjugate(l(j, k)) for k < j."""
    b = matrix.scope.builder
    total = b.variable(matrix.load(a, i, j), "total")
    with b.loop(j, "k") as k:
        row = conjugate(matrix.load(factor, j, k))
        b.store(total, (), minus_product(b.load(total), matrix.load(factor, i, k), row))
    return b.load(total)


def _emit_rest(matrix: _Matrix, factor: Buffer, n: int, failed: Expr) -> None:
    """Zeroes the other triangle, and makes this one NaN where the matrix has no factor."""
    b, own = matrix.scope.builder, factor.type
    with b.loops((n, n), "i") as (i, j):
        with b.when(compare("lt", i, j)):
            matrix.store(factor, i, j, const(own, 0))
        with b.otherwise(), b.when(failed):
            matrix.store(factor, i, j, const(own, float("nan")))


def _is_lower(instruction: Instruction) -> bool:
    return attributes_of(instruction, Cholesky).lower


register(
    OpDef("cholesky", Cholesky, infer=infer, evaluate=evaluate, nest=nest)
)
