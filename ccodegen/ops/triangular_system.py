"""The systems of a triangular-solve, whichever side and form of the matrix it takes.

Written for t · y = c with t = op(a) and y = x, or with t = op(a)ᵀ and y = xᵀ where a stands on the
right. Rows of y are solved in the order in which they are known: by turns.
"""

from __future__ import annotations

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.loop.builder import apply, index
from ccodegen.loop.ir import Expr, Index
from ccodegen.ops.arithmetic import conjugate, working_type
from ccodegen.ops.fold import converted
from ccodegen.ops.lowering import NestScope
from ccodegen.support.immutable import frozen, immutable


@frozen
class TriangularSolve(Attributes):
    left_side: bool = attr(AttrKind.BOOL, False)
    lower: bool = attr(AttrKind.BOOL, False)
    unit_diagonal: bool = attr(AttrKind.BOOL, False)
    transpose_a: str = attr(AttrKind.ENUM, "NO_TRANSPOSE")

    @property
    def transposed(self) -> bool:
        """Whether t(i, k) is a(k, i)."""
        return (self.transpose_a != "NO_TRANSPOSE") == self.left_side

    @property
    def conjugated(self) -> bool:
        return self.transpose_a == "ADJOINT"

    @property
    def forwards(self) -> bool:
        """Whether t is a lower triangle, so that its first row is solved first."""
        return self.lower != self.transposed


@immutable
class System:
    """t and y of one system of a batch, as elements of the operands and the result."""

    scope: NestScope
    attributes: TriangularSolve
    batch: Index

    @property
    def size(self) -> int:
        """Rows of t, and of y."""
        return self.scope.operands[0].dimensions[-1]

    def row(self, turn: Expr) -> Expr:
        """The row that is solved in a turn."""
        forwards = self.attributes.forwards
        return turn if forwards else apply("subtract", index(self.size - 1), turn)

    def t(self, i: Expr, k: Expr) -> Expr:
        a = self.scope.operands[0]
        value = converted(self.scope.builder.load(a, self.t_place(i, k)), working_type(a.type))
        return conjugate(value) if self.attributes.conjugated else value

    def t_place(self, i: Expr, k: Expr) -> Index:
        return (*self.batch, *((k, i) if self.attributes.transposed else (i, k)))

    def right_side(self, i: Expr, column: Expr) -> Expr:
        b = self.scope.operands[1]
        value = self.scope.builder.load(b, self._place(i, column))
        return converted(value, working_type(b.type))

    def y(self, i: Expr, column: Expr) -> Expr:
        (x,) = self.scope.results
        value = self.scope.builder.load(x, self._place(i, column))
        return converted(value, working_type(x.type))

    def store(self, i: Expr, column: Expr, value: Expr) -> None:
        (x,) = self.scope.results
        self.scope.builder.store(x, self._place(i, column), converted(value, x.type))

    def _place(self, i: Expr, column: Expr) -> Index:
        at = (i, column) if self.attributes.left_side else (column, i)
        return (*self.batch, *at)
