"""Elementwise ops: each output element is one scalar operator of the operands' elements."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.opdef import OpDef, register


@dataclass(frozen=True)
class MathFunction(Attributes):
    """`result_accuracy` asks XLA for a faster or a better approximation; ours has one."""

    result_accuracy: str = attr(AttrKind.RAW, "")


@dataclass(frozen=True)
class Compare(Attributes):
    """`direction`: EQ NE LT LE GT GE. `type`: FLOAT, TOTALORDER, SIGNED, UNSIGNED, or empty for
    the usual comparison of the operands' type."""

    direction: str = attr(AttrKind.ENUM)
    type: str = attr(AttrKind.ENUM, "")


MATH_FUNCTIONS = (
    "acos acosh asin asinh atanh cbrt cosine cosh erf exponential exponential-minus-one log "
    "log-plus-one logistic rsqrt sine sinh sqrt tan tanh"
)
OTHER_UNARY = (
    "abs ceil count-leading-zeros floor imag is-finite negate not popcnt real round-nearest-afz "
    "round-nearest-even sign"
)
BINARY = (
    "add and atan2 complex divide maximum minimum mulhi multiply or power remainder shift-left "
    "shift-right-arithmetic shift-right-logical subtract xor"
)

for _opcode in MATH_FUNCTIONS.split():
    register(OpDef(_opcode, MathFunction, (1, 1), elementwise=True))
for _opcode in OTHER_UNARY.split():
    register(OpDef(_opcode, arity=(1, 1), elementwise=True))
for _opcode in BINARY.split():
    register(OpDef(_opcode, arity=(2, 2), elementwise=True))

register(OpDef("compare", Compare, (2, 2), elementwise=True))
register(OpDef("select", arity=(3, 3), elementwise=True))
register(OpDef("clamp", arity=(3, 3), elementwise=True))
