"""Elementwise ops, out of the registry."""

from __future__ import annotations

import ccodegen.ops  # noqa: F401  (fills the registry)
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import all_ops
from ccodegen.hlo.shape import ArrayShape
from ccodegen.support.element_type import HLO_TYPES, ElementType, Kind
from ccodegen.support.errors import InputError
from tests.random_modules.body import PRED, Body
from tests.random_modules.functions import anything

_OWN = frozenset({"compare", "select", "clamp", "convert", "map", "reduce-precision"})
_EXACT_UNARY = ("negate", "abs", "sign", "not", "floor", "ceil", "round-nearest-even", "copy")
_EXACT_BINARY = ("add", "subtract", "maximum", "minimum", "and", "or", "xor")


def _plain(arity: int) -> list[str]:
    """All ops of so many operands that need no attributes."""
    return [
        d.opcode
        for d in all_ops()
        if d.elementwise and d.evaluate and d.infer and d.arity == (arity, arity)
        and d.opcode not in _OWN
    ]


_UNARY = _plain(1)
_BINARY = _plain(2)


def unary(body: Body) -> Instruction:
    op = body.random.choice(_EXACT_UNARY if body.exact else _UNARY)
    return body.op(op, body.any(fits=_floating if body.chance(0.4) else None))


def binary(body: Body) -> Instruction:
    op = body.random.choice(_EXACT_BINARY if body.exact else _BINARY)
    left = body.any(fits=_floating if op == "complex" or body.chance(0.2) else None)
    return body.op(op, left, body.like(left.array_shape))


def _floating(element_type: ElementType) -> bool:
    return element_type.is_float


def compare(body: Body) -> Instruction:
    left = body.any()
    direction = body.random.choice(("EQ", "NE", "LT", "LE", "GT", "GE"))
    total = left.array_shape.element_type.is_float and body.chance(0.3)
    right = body.like(left.array_shape)
    if not total:
        return body.op("compare", left, right, direction=direction)
    left, right = body.without_nan(left), body.without_nan(right)
    return body.op("compare", left, right, direction=direction, type="TOTALORDER")


def select(body: Body) -> Instruction:
    value = body.any()
    shape = value.array_shape.with_type(PRED)
    condition = body.scalar(PRED) if body.chance(0.15) else body.like(shape)
    return body.op("select", condition, value, body.like(value.array_shape))


def clamp(body: Body) -> Instruction:
    value = body.any()
    scalar = ArrayShape(value.array_shape.element_type)
    low, high = (
        body.like(body.random.choice((scalar, value.array_shape))) for _ in range(2)
    )
    return body.op("clamp", low, value, high)


def convert(body: Body) -> Instruction:
    return body.converted(body.any(), body.type())


def bitcast_convert(body: Body) -> Instruction:
    """To a type of the same width, or with a dimension more or less."""
    value = body.without_nan(body.any(fits=lambda t: not t.is_complex))
    shape = value.array_shape
    bits = shape.element_type.bits
    if shape.element_type.kind is Kind.PRED:
        raise InputError("pred has no bits")
    whole = [t for t in HLO_TYPES.values() if t.kind is not Kind.PRED and not t.is_complex]
    same = [t for t in whole if t.bits == bits]
    if body.chance(0.7):
        return body.op("bitcast-convert", value, shape=shape.with_type(body.random.choice(same)))
    narrow = [t for t in whole if 8 <= t.bits < bits and bits % t.bits == 0]
    if not narrow:
        return body.op("bitcast-convert", value, shape=shape.with_type(body.random.choice(same)))
    chosen = body.random.choice(narrow)
    split = ArrayShape(chosen, (*shape.dimensions, bits // chosen.bits))
    return body.op("bitcast-convert", value, shape=split)


def stochastic_convert(body: Body) -> Instruction:
    """With any random bits; in an exact module all of them are integers, which need none."""
    value = body.any(fits=_floating)
    element_type = value.array_shape.element_type
    bits = HLO_TYPES.get(f"u{element_type.bits}")
    if bits is None:
        raise InputError("no integers have so many bits")
    random = body.like(value.array_shape.with_type(bits))
    result = body.type_where(lambda t: t.is_integer or t.is_float)
    return body.op("stochastic-convert", value, random, shape=value.array_shape.with_type(result))


def reduce_precision(body: Body) -> Instruction:
    value = body.any(fits=_floating)
    exponent = body.random.choice((1, 2, 4, 5, 8, 8, 11))
    mantissa = body.random.choice((0, 1, 3, 7, 10, 22, 23, 52))
    return body.op("reduce-precision", value, exponent_bits=exponent, mantissa_bits=mantissa)


def map_(body: Body) -> Instruction:
    first = body.any()
    operands = [first]
    for _ in range(body.random.randint(0, 2)):
        operands.append(body.like(first.array_shape.with_type(body.type())))
    types = [o.array_shape.element_type for o in operands]
    function = anything(body, types, body.type())
    dimensions = tuple(range(first.array_shape.rank))
    return body.op("map", *operands, to_apply=function, dimensions=dimensions)
