"""Writes batch normalisation out as arithmetic and reductions, in the order of StableHLO's text."""

from __future__ import annotations

from collections.abc import Callable

from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.hlo.shape import ArrayShape
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.batch_norm import BatchNorm
from ccodegen.ops.build import broadcast, derived, is_static, reducer, splat, tuple_of
from ccodegen.ops.elementwise import MathFunction
from ccodegen.ops.reduce import Reduce
from ccodegen.passes.context import PassContext
from ccodegen.support.immutable import immutable


def expand_batch_norm(module: Module, context: PassContext) -> Module:
    """`batch-norm-inference(x, scale, offset, mean, variance)` →
    `scale * ((x - mean) / sqrt(variance + epsilon)) + offset`, with vectors broadcast along
    `feature_index`; -training takes mean and variance from x; -grad likewise. What depends on
    vectors alone is computed of them; but for strict mode so is `scale / sqrt(variance + epsilon)`.
    """

    def visit(instruction: Instruction) -> Instruction:
        rule = _RULES.get(instruction.op)
        if rule is None or instruction.control_predecessors or not is_static(instruction):
            return instruction
        return rule(_Writer(instruction, context.strict))

    return rewrite_module(module, visit)


@immutable
class _Writer:
    """Writes expressions over arrays of x's shape and vectors of its feature dimension."""

    instruction: Instruction
    strict: bool

    @property
    def attributes(self) -> BatchNorm:
        return attributes_of(self.instruction, BatchNorm)

    @property
    def shape(self) -> ArrayShape:
        return self.instruction.operands[0].array_shape

    @property
    def count(self) -> int:
        """Elements of x for each feature."""
        features = self.shape.dimensions[self.attributes.feature_index]
        return self.shape.size // features if features else 0

    def apply(self, op: str, *operands: Instruction) -> Instruction:
        return derived(self.instruction, op, operands[0].shape, operands)

    def spread(self, vector: Instruction) -> Instruction:
        index = self.attributes.feature_index
        return broadcast(self.instruction, vector, self.shape.dimensions, (index,))

    def number(self, like: Instruction, value: float) -> Instruction:
        return splat(self.instruction, value, like.array_shape)

    def total(self, array: Instruction) -> Instruction:
        """The sum for each feature."""
        shape, index = array.array_shape, self.attributes.feature_index
        others = tuple(d for d in range(shape.rank) if d != index)
        attributes = Reduce(others, reducer("add", shape.element_type))
        zero = splat(self.instruction, 0, shape.with_dimensions(()))
        vector = shape.with_dimensions((shape.dimensions[index],))
        return derived(self.instruction, "reduce", vector, (array, zero), attributes)

    def mean(self, array: Instruction) -> Instruction:
        total = self.total(array)
        return self.apply("divide", total, self.number(total, self.count))

    def deviation(self, variance: Instruction) -> Instruction:
        """sqrt(variance + epsilon) for each feature."""
        square = self.shifted(variance)
        return derived(self.instruction, "sqrt", square.shape, (square,), MathFunction())

    def shifted(self, variance: Instruction) -> Instruction:
        return self.apply("add", variance, self.number(variance, self.attributes.epsilon))

    def normalised(
        self, scale: Instruction, offset: Instruction, mean: Instruction, variance: Instruction
    ) -> Instruction:
        x, deviation = self.instruction.operands[0], self.deviation(variance)
        centered = self.apply("subtract", x, self.spread(mean))
        if self.strict:
            unit = self.apply("divide", centered, self.spread(deviation))
            scaled = self.apply("multiply", self.spread(scale), unit)
        else:
            factor = self.apply("divide", scale, deviation)
            scaled = self.apply("multiply", centered, self.spread(factor))
        return self.apply("add", scaled, self.spread(offset))


def _inference(write: _Writer) -> Instruction:
    return write.normalised(*write.instruction.operands[1:])


def _training(write: _Writer) -> Instruction:
    x, scale, offset = write.instruction.operands
    mean = write.mean(x)
    centered = write.apply("subtract", x, write.spread(mean))
    variance = write.mean(write.apply("multiply", centered, centered))
    output = write.normalised(scale, offset, mean, variance)
    return tuple_of(write.instruction, (output, mean, variance))


def _grad(write: _Writer) -> Instruction:
    x, scale, mean, variance, grad = write.instruction.operands
    apply, spread = write.apply, write.spread
    deviation = write.deviation(variance)
    centered = apply("subtract", x, spread(mean))
    grad_offset = write.total(grad)
    grad_scale = write.total(apply("multiply", grad, apply("divide", centered, spread(deviation))))
    along = spread(write.total(apply("multiply", grad, centered)))
    along = apply("divide", apply("multiply", along, centered), spread(write.shifted(variance)))
    rest = apply("multiply", grad, write.number(x, write.count))
    rest = apply("subtract", apply("subtract", rest, spread(grad_offset)), along)
    factor = apply("divide", apply("divide", scale, deviation), write.number(scale, write.count))
    grad_x = apply("multiply", spread(factor), rest)
    return tuple_of(write.instruction, (grad_x, grad_scale, grad_offset))


_RULES: dict[str, Callable[[_Writer], Instruction]] = {
    "batch-norm-inference": _inference,
    "batch-norm-training": _training,
    "batch-norm-grad": _grad,
}
