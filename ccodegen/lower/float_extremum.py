"""The largest or smallest of floats in lanes.

The operator proper takes six instructions: a comparison, and a NaN and two zeros to look for. So a
lane has three accumulators of an instruction or two each: what is best by comparison, which passes
over NaNs; a NaN, once there was one; and all elements' bits by `and`, or by `or` for a minimum, in
which the sign of a zero is the one that is wanted. The bits are kept as floats: accumulators of
integers have to be in memory for gcc 12 (see CCG_SETTLED); of what stays in registers it joins the
lanes only where a zero is the largest.
"""

from __future__ import annotations

from functools import partial

from ccodegen.loop.builder import Builder, apply, compare, const
from ccodegen.loop.ir import Buffer, Expr, Load
from ccodegen.loop.neutral import neutral
from ccodegen.lower.lanes import filled, join_lanes
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable

_BITS = {ElementType.F32: ElementType.U32, ElementType.F64: ElementType.U64}
_OF_BITS = {"maximum": "and", "minimum": "or"}


def is_float_extremum(operator: str, element_type: ElementType) -> bool:
    return operator in _OF_BITS and element_type in _BITS


@immutable
class FloatExtremum:
    """Accumulators for `maximum` or `minimum`."""

    builder: Builder
    operator: str
    best: Buffer
    nan: Buffer
    bits: Buffer

    @classmethod
    def of(
        cls, builder: Builder, operator: str, element_type: ElementType, count: int
    ) -> FloatExtremum:
        """Accumulators that have seen nothing."""
        worst = const(element_type, neutral(operator, element_type))
        best = filled(builder, worst, count)
        nan = filled(builder, const(element_type, 0.0), count)
        no_bits = const(_BITS[element_type], neutral(_OF_BITS[operator], _BITS[element_type]))
        bits = filled(builder, _reread(no_bits, element_type), count)
        return cls(builder, operator, best, nan, bits)

    def take(self, lane: Expr, *values: Expr) -> None:
        """Combines a lane with values, one after the other."""
        named = [self.builder.let(value, "value") for value in values]
        best: Expr = Load(self.best, (lane,))
        nan: Expr = Load(self.nan, (lane,))
        for value in named:
            best = better_number(self.builder, self.operator, value, best)
            nan = self.builder.let(nan, "nan")
            nan = apply("select", compare("eq", value, value), nan, value)
        self.builder.store(self.best, (lane,), best)
        self.builder.store(self.nan, (lane,), nan)
        bits: Expr = Load(self.bits, (lane,))
        for value in named:
            bits = self._with_bits(bits, value)
        self.builder.store(self.bits, (lane,), bits)

    def of_lane(self, lane: Expr) -> Expr:
        here = (lane,)
        return self._extremum(*(Load(b, here) for b in (self.best, self.nan, self.bits)))

    def joined(self) -> Expr:
        better = partial(better_number, self.builder, self.operator)
        best = join_lanes(self.builder, self.best, better)
        nan = join_lanes(self.builder, self.nan, partial(apply, "add"))
        bits = join_lanes(self.builder, self.bits, self._with_bits)
        return self._extremum(best, nan, bits)

    def _with_bits(self, a: Expr, b: Expr) -> Expr:
        bits = _BITS[a.type]
        return _reread(apply(_OF_BITS[self.operator], _reread(a, bits), _reread(b, bits)), a.type)

    def _extremum(self, best: Expr, nan: Expr, bits: Expr) -> Expr:
        t = best.type
        best, nan = self.builder.let(best, "best"), self.builder.let(nan, "nan")
        sign = apply("and", _reread(bits, _BITS[t]), const(_BITS[t], 1 << (t.bits - 1)))
        zero = _reread(sign, t)
        number = apply("select", compare("eq", best, const(t, 0.0)), zero, best)
        return apply("select", compare("eq", nan, nan), number, nan)


def better_number(builder: Builder, operator: str, a: Expr, b: Expr) -> Expr:
    """One of two floats by comparison, b where none is greater, or smaller."""
    a, b = builder.let(a, "a"), builder.let(b, "b")
    return apply("select", compare("gt" if operator == "maximum" else "lt", a, b), a, b)


def _reread(value: Expr, element_type: ElementType) -> Expr:
    """The same bits as another type."""
    return apply("bitcast-convert", value, type=element_type)
