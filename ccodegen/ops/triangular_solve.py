"""triangular-solve: solves op(a) · x = b or x · op(a) = b for triangular matrices a.

op is the identity, the transpose or the conjugate transpose. Rows of y (triangular_system.py) are
solved in the order in which they are known, each sum taking them in that order.
"""

from __future__ import annotations

from typing import Any

from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import Shape
from ccodegen.loop.builder import apply, in_blocks, index
from ccodegen.loop.ir import Expr, LoopKind
from ccodegen.loop.scalar_numpy import rounded
from ccodegen.ops.arithmetic import ArrayArithmetic, minus_product, working_type
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.fold import Array
from ccodegen.ops.lowering import NestScope
from ccodegen.ops.shape_checks import arrays, require
from ccodegen.ops.triangular_system import System, TriangularSolve
from ccodegen.ops.triangular_tiles import solve_in_tiles, solve_tile

_COLUMNS_TOGETHER = 64
_ROWS_TOGETHER = 4
_TRANSPOSES = ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")


def infer(shapes: tuple[Shape, ...], attributes: TriangularSolve) -> Shape:
    a, b = arrays("triangular-solve", shapes)
    square = a.rank >= 2 and a.dimensions[-1] == a.dimensions[-2]
    require(square, f"triangular-solve takes square matrices, not {a}")
    side = -2 if attributes.left_side else -1
    require(
        a.rank == b.rank
        and a.dimensions[:-2] == b.dimensions[:-2]
        and a.dimensions[-1] == b.dimensions[side],
        f"triangular-solve: {a} does not fit {b} on the"
        f" {'left' if attributes.left_side else 'right'}",
    )
    require(
        a.element_type is b.element_type
        and (a.element_type.is_float or a.element_type.is_complex),
        f"triangular-solve takes floats or complex numbers of one type, not {a} and {b}",
    )
    require(
        attributes.transpose_a in _TRANSPOSES,
        f"triangular-solve: transpose_a is one of {', '.join(_TRANSPOSES)},"
        f" not {attributes.transpose_a}",
    )
    return b


def evaluate(evaluator: Any, instruction: Instruction, a: Array, b: Array) -> Array:
    attributes = attributes_of(instruction, TriangularSolve)
    own = instruction.array_shape.element_type
    arithmetic = ArrayArithmetic(working_type(own))
    t, y = (m.astype(arithmetic.type.dtype) for m in (a, b))
    t = t.swapaxes(-1, -2) if attributes.transposed else t
    t = arithmetic.conjugate(t) if attributes.conjugated else t
    y = y if attributes.left_side else y.swapaxes(-1, -2)
    rows = list(range(t.shape[-1]))
    rows = rows if attributes.forwards else rows[::-1]
    for turn, i in enumerate(rows):
        total = y[..., i, :]
        for k in rows[:turn]:
            total = arithmetic.minus_product(total, t[..., i, k, None], y[..., k, :])
        if not attributes.unit_diagonal:
            total = arithmetic.apply("divide", total, t[..., i, i, None])
        y[..., i, :] = rounded(total, own)
    return rounded(y if attributes.left_side else y.swapaxes(-1, -2), own)


def nest(scope: NestScope, instruction: Instruction) -> None:
    attributes = attributes_of(instruction, TriangularSolve)
    *outer, n, _ = scope.operands[0].dimensions
    (x,) = scope.results
    columns = x.dimensions[-1 if attributes.left_side else -2]
    tile = solve_tile(scope, attributes, columns)
    with scope.builder.loops(outer, "m") as batch:
        system = System(scope, attributes, batch)
        if tile:
            solve_in_tiles(system, columns, tile)
        elif attributes.left_side or x.type is not working_type(x.type):
            _solve_columns(system, n, columns)
        else:
            _solve_in_place(system, n, columns)


def _solve_columns(system: System, n: int, columns: int) -> None:
    """Row after row, some columns at a time, which lie side by side where a stands on the left."""
    if not columns:
        return
    b = system.scope.builder
    width = min(columns, _COLUMNS_TOGETHER)

    def solve(first: Expr, count: int) -> None:
        with b.loop(n, "turn") as turn:
            _solve_row(system, n, turn, first, count)

    in_blocks(b, columns, width, "block", solve)


def _solve_row(system: System, n: int, turn: Expr, first: Expr, width: int) -> None:
    b, attributes = system.scope.builder, system.attributes
    i = system.row(turn)
    (x,) = system.scope.results
    totals = b.local(working_type(x.type), (width,), "totals")
    with b.loop(width, "c", LoopKind.VECTOR) as c:
        b.store(totals, (c,), system.right_side(i, apply("add", first, c)))

    def subtract(begin: Expr, count: int) -> None:
        """The products with `count` known rows, of one after the other."""
        rows = [system.row(apply("add", begin, index(r))) for r in range(count)]
        factors = [b.let(system.t(i, k), "t") for k in rows]
        with b.loop(width, "c", LoopKind.VECTOR) as c:
            total: Expr = b.load(totals, (c,))
            for factor, k in zip(factors, rows, strict=True):
                total = minus_product(total, factor, system.y(k, apply("add", first, c)))
            b.store(totals, (c,), total)

    with b.loop(apply("divide", turn, index(_ROWS_TOGETHER)), "k") as k:
        subtract(apply("multiply", k, index(_ROWS_TOGETHER)), _ROWS_TOGETHER)
    rest = apply("remainder", turn, index(_ROWS_TOGETHER))
    with b.loop(rest, "k") as k:
        subtract(apply("add", apply("subtract", turn, rest), k), 1)
    pivot = None if attributes.unit_diagonal else b.let(system.t(i, i), "pivot")
    with b.loop(width, "c", LoopKind.VECTOR) as c:
        total = b.load(totals, (c,))
        value = apply("divide", total, pivot) if pivot else total
        system.store(i, apply("add", first, c), value)


def _solve_in_place(system: System, n: int, columns: int) -> None:
    """Each column of y, which is a row of x, by itself: what a new element is multiplied with is
    subtracted from all that follow it. Each element's products still come in their order."""
    b, attributes = system.scope.builder, system.attributes
    with b.loop(columns, "column") as column:
        with b.loop(n, "i", LoopKind.VECTOR) as i:
            system.store(i, column, system.right_side(i, column))
        with b.loop(n, "turn") as turn:
            k = system.row(turn)
            if not attributes.unit_diagonal:
                system.store(k, column, apply("divide", system.y(k, column), system.t(k, k)))
            known = b.let(system.y(k, column), "known")
            after = apply("subtract", index(n - 1), turn)
            with b.loop(after, "r", LoopKind.VECTOR) as r:
                i = system.row(apply("add", apply("add", turn, index(1)), r))
                product = minus_product(system.y(i, column), system.t(i, k), known)
                system.store(i, column, product)


register(
    OpDef(
        "triangular-solve",
        TriangularSolve,
        arity=(2, 2),
        infer=infer,
        evaluate=evaluate,
        nest=nest,
    )
)
