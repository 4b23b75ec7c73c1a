"""batch-norm-training, -inference and -grad. A pass expands them, so they have no lowering.

The references do the operations of `passes.expand_batch_norm` in its order. Arrays are seen with
the feature dimension last, where vectors broadcast.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import ArrayShape, Shape, TupleShape
from ccodegen.ops.arithmetic import ArrayArithmetic
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.fold import Array
from ccodegen.ops.precision import of_one_precision
from ccodegen.ops.shape_checks import arrays, dimension_numbers, picked, require
from ccodegen.support.immutable import frozen


@frozen
class BatchNorm(Attributes):
    epsilon: float = attr(AttrKind.FLOAT)
    feature_index: int = attr(AttrKind.INT)


def infer_inference(shapes: tuple[Shape, ...], attributes: BatchNorm) -> Shape:
    x, _ = _checked("batch-norm-inference", shapes, attributes)
    return x


def infer_training(shapes: tuple[Shape, ...], attributes: BatchNorm) -> Shape:
    x, vector = _checked("batch-norm-training", shapes, attributes)
    return TupleShape((x, vector, vector))


def infer_grad(shapes: tuple[Shape, ...], attributes: BatchNorm) -> Shape:
    x, vector = _checked("batch-norm-grad", shapes[:-1], attributes)
    (grad,) = arrays("batch-norm-grad", shapes[-1:])
    require(
        grad.dimensions == x.dimensions,
        f"batch-norm-grad takes a gradient of the operand's dimensions, not {grad} for {x}",
    )
    return TupleShape((x, vector, vector))


def _checked(
    op: str, shapes: tuple[Shape, ...], attributes: BatchNorm
) -> tuple[ArrayShape, ArrayShape]:
    """The operand's shape and that of a vector of its features."""
    x, *vectors = arrays(op, shapes)
    require(x.element_type.is_float, f"{op} takes floats, not {x}")
    dimension_numbers(op, (attributes.feature_index,), x.rank)
    feature = picked(x, (attributes.feature_index,))
    for vector in vectors:
        require(
            vector.dimensions == feature.dimensions,
            f"{op} takes vectors of {feature.dimensions[0]} features, not {vector}",
        )
    return x, feature


class _Norm:
    """Arithmetic over arrays whose last dimension is the features."""

    def __init__(self, instruction: Instruction) -> None:
        attributes = attributes_of(instruction, BatchNorm)
        shape = instruction.operands[0].array_shape
        self.feature_index = attributes.feature_index
        self.dtype = shape.element_type.dtype
        self.epsilon = np.asarray(attributes.epsilon, self.dtype)
        features = shape.dimensions[self.feature_index]
        self.count = np.asarray(shape.size // features if features else 0, self.dtype)
        self.apply = ArrayArithmetic(shape.element_type).apply

    def features_last(self, array: Array) -> Array:
        return np.moveaxis(array, self.feature_index, -1)

    def restored(self, array: Array) -> Array:
        return np.moveaxis(array, -1, self.feature_index)

    def total(self, array: Array) -> Array:
        """The sums for each feature, left to right from zero."""
        rows = array.reshape(int(np.prod(array.shape[:-1])), array.shape[-1])
        total = np.zeros(array.shape[-1], self.dtype)
        for row in rows:
            total = self.apply("add", total, row)
        return total

    def mean(self, array: Array) -> Array:
        return self.apply("divide", self.total(array), self.count)

    def shifted(self, variance: Array) -> Array:
        return self.apply("add", variance, self.epsilon)

    def normalised(
        self, x: Array, scale: Array, offset: Array, mean: Array, variance: Array
    ) -> Array:
        deviation = self.apply("sqrt", self.shifted(variance))
        unit = self.apply("divide", self.apply("subtract", x, mean), deviation)
        return self.restored(self.apply("add", self.apply("multiply", scale, unit), offset))


def evaluate_inference(evaluator: Any, instruction: Instruction, x: Array, *rest: Array) -> Any:
    norm = _Norm(instruction)
    return norm.normalised(norm.features_last(x), *rest)


def evaluate_training(
    evaluator: Any, instruction: Instruction, operand: Array, scale: Array, offset: Array
) -> Any:
    norm = _Norm(instruction)
    x = norm.features_last(operand)
    mean = norm.mean(x)
    centered = norm.apply("subtract", x, mean)
    variance = norm.mean(norm.apply("multiply", centered, centered))
    return norm.normalised(x, scale, offset, mean, variance), mean, variance


def evaluate_grad(
    evaluator: Any,
    instruction: Instruction,
    operand: Array,
    scale: Array,
    mean: Array,
    variance: Array,
    grad_output: Array,
) -> Any:
    norm = _Norm(instruction)
    apply, count = norm.apply, norm.count
    x, grad = norm.features_last(operand), norm.features_last(grad_output)
    shifted = norm.shifted(variance)
    deviation = apply("sqrt", shifted)
    centered = apply("subtract", x, mean)
    grad_offset = norm.total(grad)
    grad_scale = norm.total(apply("multiply", grad, apply("divide", centered, deviation)))
    along = norm.total(apply("multiply", grad, centered))
    along = apply("divide", apply("multiply", along, centered), shifted)
    rest = apply("subtract", apply("multiply", grad, count), grad_offset)
    factor = apply("divide", apply("divide", scale, deviation), count)
    grad_x = apply("multiply", factor, apply("subtract", rest, along))
    return norm.restored(grad_x), grad_scale, grad_offset


register(
    OpDef(
        "batch-norm-training",
        BatchNorm,
        arity=(3, 3),
        infer=infer_training,
        takes=of_one_precision(),
        evaluate=evaluate_training,
    )
)
register(
    OpDef(
        "batch-norm-inference",
        BatchNorm,
        arity=(5, 5),
        infer=infer_inference,
        takes=of_one_precision(),
        evaluate=evaluate_inference,
    )
)
register(
    OpDef(
        "batch-norm-grad",
        BatchNorm,
        arity=(5, 5),
        infer=infer_grad,
        takes=of_one_precision(),
        evaluate=evaluate_grad,
    )
)
