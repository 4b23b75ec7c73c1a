"""How large real numbers can be, whatever is in memory."""

from __future__ import annotations

import math

from ccodegen.loop.ir import Apply, Const, Expr, Let, Var
from ccodegen.loop.operators import ROUNDING
from ccodegen.loop.parts import loads
from ccodegen.loop.rebuild import Body, written_buffers

_AT_MOST_ONE = frozenset({"cosine", "erf", "logistic", "near-cosine", "near-sine", "sine", "tanh"})
_NARROW = 16  # bits of an integer
_MOST_OFFSET = 1.0  # the sum with x may be off by as much


class Magnitudes:
    """Of expressions in straight statements, which may be of the names that these bind."""

    def __init__(self, body: Body) -> None:
        self._written = written_buffers(body)
        self._values: dict[Expr, Expr] = {}
        self._bounds: dict[Expr, float] = {}
        for statement in body:
            if isinstance(statement, Let):
                self._bounds[statement.var] = self.bound(statement.value)
                self._values[statement.var] = statement.value

    def bound(self, expr: Expr) -> float:
        """What no absolute value exceeds but by roundings, NaN aside; infinity where none is known.

        What floor takes away leaves 1 at most: of an infinity it leaves NaN.
        """
        match expr:
            case Var():
                return self._bounds.get(expr, math.inf)
            case Const(t, value) if t.is_float:
                return 0.0 if value != value else abs(float(value))
            case Apply("abs" | "negate", (x,)):
                return self.bound(x)
            case Apply("convert", (x,)) if x.type.is_float:
                return self.bound(x)
            case Apply("convert", (x,)) if x.type.is_integer and x.type.bits <= _NARROW:
                return 2.0**x.type.bits
            case Apply("subtract", (x, y)) if (offset := self._offset(x, y)) <= _MOST_OFFSET:
                return 1.0 + offset
            case Apply("add" | "subtract", (x, y)):
                return self.bound(x) + self.bound(y)
            case Apply("multiply", (x, y)):
                product = self.bound(x) * self.bound(y)
                return math.inf if math.isnan(product) else product
            case Apply("select", (_, x, y)) | Apply("clamp", (x, _, y)):
                return max(self.bound(x), self.bound(y))
            case Apply(operator) if operator in _AT_MOST_ONE and expr.type.is_float:
                return 1.0
        return math.inf

    def _offset(self, x: Expr, whole: Expr) -> float:
        """The bound of what is added to x before it is rounded to a whole number, 0 if nothing is;
        infinity where it is not x that is rounded."""
        x = self._value(x)
        if any(load.buffer in self._written for load in loads(x)):
            return math.inf  # what is written alike may not be the same
        match self._value(whole):
            case Apply(operator, (inner,)) if operator in ROUNDING:
                inner = self._value(inner)
                if x == inner:
                    return 0.0
                match inner:
                    case Apply("add", (a, b)) if x == self._value(a):
                        return self.bound(b)
        return math.inf

    def _value(self, expr: Expr) -> Expr:
        return self._values.get(expr, expr)
