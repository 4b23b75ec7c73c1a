"""The largest or smallest of floats in lanes.

The operator proper takes six instructions: a comparison, and a NaN and two zeros to look for. So a
lane has three accumulators of an instruction or two each: what is best by comparison, which passes
over NaNs; a NaN, once there was one; and all elements' bits by `and`, or by `or` for a minimum, in
which the sign of a zero is the one that is wanted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from ccodegen.loop.builder import Builder, apply, compare, const
from ccodegen.loop.ir import Buffer, Expr, Load
from ccodegen.loop.neutral import neutral
from ccodegen.lower.lanes import Lanes, filled, join_lanes
from ccodegen.support.element_type import ElementType

_BITS = {ElementType.F32: ElementType.U32, ElementType.F64: ElementType.U64}
_OF_BITS = {"maximum": "and", "minimum": "or"}


def is_float_extremum(operator: str, element_type: ElementType) -> bool:
    return operator in _OF_BITS and element_type in _BITS


@dataclass(frozen=True)
class FloatExtremum:
    """Accumulators for `maximum` or `minimum`."""

    builder: Builder
    operator: str
    best: Buffer
    nan: Buffer
    bits: Lanes

    @classmethod
    def of(
        cls, builder: Builder, operator: str, element_type: ElementType, count: int
    ) -> FloatExtremum:
        """Accumulators that have seen nothing."""
        worst = const(element_type, neutral(operator, element_type))
        best = filled(builder, worst, count)
        nan = filled(builder, const(element_type, 0.0), count)
        bits = Lanes.of(builder, _OF_BITS[operator], _BITS[element_type], count)
        return cls(builder, operator, best, nan, bits)

    def take(self, lane: Expr, value: Expr) -> None:
        value = self.builder.let(value, "value")
        here = (lane,)
        better = better_number(self.builder, self.operator, value, Load(self.best, here))
        self.builder.store(self.best, here, better)
        nan = self.builder.let(Load(self.nan, here), "nan")
        is_number = compare("eq", value, value)
        self.builder.store(self.nan, here, apply("select", is_number, nan, value))
        bits = apply("bitcast-convert", value, type=_BITS[value.type])
        self.bits.take(lane, bits)

    def joined(self) -> Expr:
        let, t = self.builder.let, self.best.type
        better = partial(better_number, self.builder, self.operator)
        best = let(join_lanes(self.builder, self.best, better), "best")
        nan = let(join_lanes(self.builder, self.nan, partial(apply, "add")), "nan")
        sign = apply("and", self.bits.joined(), const(_BITS[t], 1 << (t.bits - 1)))
        zero = apply("bitcast-convert", sign, type=t)
        number = apply("select", compare("eq", best, const(t, 0.0)), zero, best)
        return apply("select", compare("eq", nan, nan), number, nan)


def better_number(builder: Builder, operator: str, a: Expr, b: Expr) -> Expr:
    """One of two floats by comparison, b where none is greater, or smaller."""
    a, b = builder.let(a, "a"), builder.let(b, "b")
    return apply("select", compare("gt" if operator == "maximum" else "lt", a, b), a, b)
