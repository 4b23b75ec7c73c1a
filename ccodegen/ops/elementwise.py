"""Elementwise ops: each output element is one scalar operator of the operands' elements."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import UNBOUNDED, ArrayShape, Shape
from ccodegen.loop import operators
from ccodegen.loop.builder import apply, const
from ccodegen.loop.ir import Expr, Index
from ccodegen.loop.operators import OPERATORS
from ccodegen.loop.scalar_numpy import Array
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.lowering import ElementScope
from ccodegen.ops.precision import of_one_precision
from ccodegen.ops.shape_checks import arrays, require
from ccodegen.ops.signs import is_never_positive
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import frozen


@frozen
class MathFunction(Attributes):
    """`result_accuracy` asks XLA for a faster or a better approximation; ours has one."""

    result_accuracy: str = attr(AttrKind.RAW, "")


@frozen
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
    "abs ceil count-leading-zeros floor is-finite negate not popcnt round-nearest-afz "
    "round-nearest-even sign"
)
BINARY = (
    "add and atan2 complex divide maximum minimum mulhi multiply or power remainder shift-left "
    "shift-right-arithmetic shift-right-logical subtract xor"
)


def common_shape(op: str, shapes: Sequence[ArrayShape], element_type: ElementType) -> ArrayShape:
    """The shape of an elementwise result over operands of one shape.

    A size that one operand leaves open is another's; a dimension is dynamic where any is.
    """
    listed = ", ".join(map(str, shapes))
    require(len({s.rank for s in shapes}) == 1, f"{op} takes operands of one shape, not {listed}")
    sizes = []
    for column in zip(*(s.dimensions for s in shapes), strict=True):
        known = {n for n in column if n != UNBOUNDED}
        require(len(known) <= 1, f"{op} takes operands of one shape, not {listed}")
        sizes.append(known.pop() if known else UNBOUNDED)
    flags = [s.dynamic for s in shapes if s.dynamic]
    dynamic = tuple(map(any, zip(*flags, strict=True)))
    return ArrayShape(element_type, tuple(sizes), dynamic)


def infer_operator(op: str, shapes: tuple[Shape, ...], attributes: Attributes) -> ArrayShape:
    found = arrays(op, shapes)
    element_type = OPERATORS[op].result(found[0].element_type)
    _check_types(op, [s.element_type for s in found], element_type)
    return common_shape(op, found, element_type)


def _check_types(op: str, types: list[ElementType], result: ElementType) -> None:
    problem = operators.check(op, types, result)
    require(not problem, f"{op}: {problem}")


def evaluate_operator(evaluator: Any, instruction: Instruction, *values: Array) -> Array:
    return _evaluated(instruction.op, instruction, values)


def _evaluated(operator: str, instruction: Instruction, values: Sequence[Array]) -> Array:
    """As `operators.evaluate`; the evaluator has silenced NumPy already."""
    result = instruction.array_shape.element_type
    return np.asarray(OPERATORS[operator].numpy(result, *values))


def element_operator(scope: ElementScope, instruction: Instruction, index: Index) -> Expr:
    decays = instruction.op == "exponential" and is_never_positive(instruction.operands[0])
    return _applied("decay" if decays else instruction.op, scope, instruction, index)


def _applied(operator: str, scope: ElementScope, instruction: Instruction, index: Index) -> Expr:
    """A scalar operand goes with every element of the others."""
    arguments = [
        scope.operand(n, index if operand.array_shape.rank else ())
        for n, operand in enumerate(instruction.operands)
    ]
    return apply(operator, *arguments, type=instruction.array_shape.element_type)


def _register(op: str, attributes: type[Attributes], arity: int) -> None:
    register(
        OpDef(
            op,
            attributes,
            (arity, arity),
            partial(infer_operator, op),
            takes=of_one_precision(),
            evaluate=evaluate_operator,
            element=element_operator,
            elementwise=True,
        )
    )


for _op in MATH_FUNCTIONS.split():
    _register(_op, MathFunction, 1)
for _op in OTHER_UNARY.split():
    _register(_op, Attributes, 1)
for _op in BINARY.split():
    _register(_op, Attributes, 2)


def comparison(attributes: Compare) -> str:
    """The scalar operator of a compare."""
    total = "total-" if attributes.type == "TOTALORDER" else ""
    return f"compare-{total}{attributes.direction.lower()}"


def infer_compare(shapes: tuple[Shape, ...], attributes: Compare) -> ArrayShape:
    found = arrays("compare", shapes)
    operator = comparison(attributes)
    require(
        operator in OPERATORS,
        f"compare: direction is one of EQ, NE, LT, LE, GT, GE, not {attributes.direction}",
    )
    _check_types(operator, [s.element_type for s in found], ElementType.PRED)
    return common_shape("compare", found, ElementType.PRED)


def evaluate_compare(evaluator: Any, instruction: Instruction, *values: Array) -> Array:
    return _evaluated(comparison(attributes_of(instruction, Compare)), instruction, values)


def element_compare(scope: ElementScope, instruction: Instruction, index: Index) -> Expr:
    return _applied(comparison(attributes_of(instruction, Compare)), scope, instruction, index)


def infer_select(shapes: tuple[Shape, ...], attributes: Attributes) -> ArrayShape:
    pred, *arms = arrays("select", shapes)
    require(pred.element_type is ElementType.PRED, f"select chooses by a pred, not by {pred}")
    _check_types("select", [pred.element_type, *(a.element_type for a in arms)],
                 arms[0].element_type)
    choosing = [pred] if pred.rank else []
    return common_shape("select", [*arms, *choosing], arms[0].element_type)


def infer_clamp(shapes: tuple[Shape, ...], attributes: Attributes) -> ArrayShape:
    low, value, high = arrays("clamp", shapes)
    _check_types("clamp", [s.element_type for s in (low, value, high)], value.element_type)
    limits = [s for s in (low, high) if s.rank]
    return common_shape("clamp", [value, *limits], value.element_type)


def infer_part(op: str, shapes: tuple[Shape, ...], attributes: Attributes) -> ArrayShape:
    (operand,) = arrays(op, shapes)
    require(
        operand.element_type.is_float or operand.element_type.is_complex,
        f"{op} takes real or complex numbers, not {operand}",
    )
    return operand.with_type(operand.element_type.component)


def evaluate_part(evaluator: Any, instruction: Instruction, value: Array) -> Array:
    """Of a real number: itself and zero."""
    if instruction.operands[0].array_shape.element_type.is_complex:
        return evaluate_operator(evaluator, instruction, value)
    return value if instruction.op == "real" else np.zeros(value.shape).astype(value.dtype)


def element_part(scope: ElementScope, instruction: Instruction, index: Index) -> Expr:
    operand = instruction.operands[0].array_shape
    if operand.element_type.is_complex:
        return element_operator(scope, instruction, index)
    return scope.operand(0, index) if instruction.op == "real" else const(operand.element_type, 0.0)


register(
    OpDef(
        "compare",
        Compare,
        (2, 2),
        infer_compare,
        takes=of_one_precision(),
        evaluate=evaluate_compare,
        element=element_compare,
        elementwise=True,
    )
)
register(
    OpDef(
        "select",
        arity=(3, 3),
        infer=infer_select,
        takes=of_one_precision(slice(1, None)),
        evaluate=evaluate_operator,
        element=element_operator,
        elementwise=True,
    )
)
register(
    OpDef(
        "clamp",
        arity=(3, 3),
        infer=infer_clamp,
        takes=of_one_precision(),
        evaluate=evaluate_operator,
        element=element_operator,
        elementwise=True,
    )
)
for _op in ("real", "imag"):
    register(
        OpDef(
            _op,
            infer=partial(infer_part, _op),
            evaluate=evaluate_part,
            element=element_part,
            elementwise=True,
        )
    )
