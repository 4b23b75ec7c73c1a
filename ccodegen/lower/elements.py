"""The elements of one kernel's instructions: a fused producer is evaluated where it is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.shape import ArrayShape, leaves, shape_text
from ccodegen.loop.builder import Builder, compare, const, index
from ccodegen.loop.ir import INDEX, Apply, Buffer, Const, Expr, If, Index, Load
from ccodegen.loop.linear import linearize
from ccodegen.loop.simplify import simplify
from ccodegen.lower.kernel_builder import KernelBuilder, Values
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.control import Conditional
from ccodegen.ops.creation import Constant
from ccodegen.ops.tuples import GetTupleElement
from ccodegen.support.element_type import ElementType
from ccodegen.support.errors import UnsupportedError
from ccodegen.support.immutable import immutable

Stored: TypeAlias = Callable[[Index], Values]

_INLINE_NODES = 6
_MOST_CHOICES = 64


@dataclass(eq=False)
class Elements:
    """Values at indices.

    An instruction in `stored` (a parameter of the fused computation, an array constant, what a
    plan has put into memory) is read from there; any other is evaluated where it is asked for,
    once per index and block. `uses` says how often an instruction is an operand.
    """

    builder: KernelBuilder
    strict: bool
    stored: dict[Instruction, Stored] = field(default_factory=dict)
    uses: Mapping[Instruction, int] = field(default_factory=dict)

    def values(self, instruction: Instruction, at: Index) -> Values:
        """The values of the instruction's leaves at an index."""
        at = self.builder.simplify(at)
        key = (self, instruction, at)
        known = self.builder.recall(key)
        if known is not None:
            return known
        stored = self.stored.get(instruction)
        values = stored(at) if stored else self.computed(instruction, at)
        if self._worth_a_name(instruction, values):
            values = tuple(self.builder.let(v, instruction.name) for v in values)
        self.builder.remember(key, values)
        return values

    def value(self, instruction: Instruction, at: Index) -> Expr:
        """The value of an array instruction at an index."""
        (value,) = self.values(instruction, at)
        return value

    def know(self, instruction: Instruction, at: Index, values: Values) -> None:
        """Says what the values at an index are, for the open block."""
        self.builder.remember((self, instruction, self.builder.simplify(at)), values)

    def store_in(self, instruction: Instruction, *buffers: Buffer) -> None:
        """Says in which buffers the instruction's leaves lie, whole."""
        dimensions = leaf_dimensions(instruction)
        self.stored[instruction] = lambda at: tuple(
            self.load(b, d, at) for b, d in zip(buffers, dimensions, strict=True)
        )

    def load(self, buffer: Buffer, dimensions: tuple[int, ...], at: Index) -> Load:
        """The element at an index of an array that lies in `buffer`, maybe with another shape."""
        if dimensions != buffer.dimensions:
            at = self.builder.reindexed(at, dimensions, buffer.dimensions)
        return Load(buffer, self.builder.simplify(at))

    def computed(self, instruction: Instruction, at: Index) -> Values:
        """The values at an index, of those of the operands, whether they are stored or not."""
        if instruction.op == "tuple":
            return tuple(self.value(o, at) for o in instruction.operands)
        if isinstance(instruction.attributes, GetTupleElement):
            return (self.values(instruction.operands[0], at)[instruction.attributes.index],)
        if isinstance(instruction.attributes, Constant):
            return (self._element_of_constant(instruction, at),)
        if isinstance(instruction.attributes, Conditional):
            return self._branch(instruction, instruction.attributes, at)
        element = opdef.get(instruction.op).element
        if element is None:
            raise UnsupportedError(f"{_description(instruction)} in C", instruction.location)
        result = element(OperandScope(self, instruction), instruction, at)
        return result if isinstance(result, tuple) else (result,)

    def _element_of_constant(self, instruction: Instruction, at: Index) -> Expr:
        """Of a scalar itself; of an array, which an inlined computation has no memory for, one of
        its few elements, chosen by the index. A scan calls with no index a computation of arrays:
        its constants have one element."""
        shape = instruction.array_shape
        elements = attributes_of(instruction, Constant).literal.array.reshape(-1)
        if len(elements) == 1:
            return const(shape.element_type, elements[0])
        if len(elements) > _MOST_CHOICES:
            message = f"an array of {len(elements)} constants in a computation over scalars"
            raise UnsupportedError(message, instruction.location)
        position = linearize(at, shape.dimensions)
        # Of no elements: what loops without turns would read.
        first, *others = elements if len(elements) else np.zeros(1, elements.dtype)
        chosen: Expr = const(shape.element_type, first)
        for number, element in enumerate(others, 1):
            is_this = compare("eq", position, index(number))
            value = const(shape.element_type, element)
            chosen = Apply("select", (is_this, value, chosen), shape.element_type)
        return chosen

    def _branch(self, instruction: Instruction, attributes: Conditional, at: Index) -> Values:
        """The values of the branch that the selector names, the last where there is none."""
        selector = self.value(instruction.operands[0], ())
        branches = attributes.branches()

        def of(number: int) -> Values:
            inner = Elements(self.builder, self.strict, uses=use_counts(branches[number]))
            (parameter,) = branches[number].parameters
            argument = instruction.operands[number + 1]
            inner.stored[parameter] = lambda place: self.values(argument, place)
            return inner.values(branches[number].root, at)

        def chosen(number: int) -> Values:
            if number == len(branches) - 1:
                return of(number)
            condition = selector
            if selector.type is not ElementType.PRED:
                condition = compare("eq", selector, const(selector.type, number))
            return either(
                self.builder, condition, lambda: of(number), lambda: chosen(number + 1)
            )

        return chosen(0)

    def _worth_a_name(self, instruction: Instruction, values: Values) -> bool:
        if not all(isinstance(v, Apply) for v in values):
            return False
        many = self.uses.get(instruction, 1) > 1
        return many or any(_nodes(v) > _INLINE_NODES for v in values)


@immutable
class OperandScope:
    """The ElementScope of one instruction."""

    elements: Elements
    instruction: Instruction

    @property
    def builder(self) -> Builder:
        return self.elements.builder

    @property
    def strict(self) -> bool:
        return self.elements.strict

    def operand(self, number: int, index: Index) -> Expr:
        return self.elements.value(self.instruction.operands[number], index)

    def call(self, computation: Computation, *arguments: Expr) -> Values:
        return call(self.elements, computation, arguments)

    def guarded(
        self, condition: Expr, then: Callable[[], Expr], otherwise: Callable[[], Expr]
    ) -> Expr:
        return guarded(self.elements.builder, condition, then, otherwise)


def _description(instruction: Instruction) -> str:
    """What an instruction asks for, for the error that we cannot do it."""
    return f"op '{instruction.op}' with result {shape_text(instruction.shape, layouts=False)}"


def call(elements: Elements, computation: Computation, arguments: Sequence[Expr]) -> Values:
    """The results of a computation over scalars, inlined at this place."""
    inner = Elements(elements.builder, elements.strict, uses=use_counts(computation))
    for parameter, argument in zip(computation.parameters, arguments, strict=True):
        inner.know(parameter, (), (argument,))
    return inner.values(computation.root, ())


def use_counts(computation: Computation) -> dict[Instruction, int]:
    """How many operands each instruction is."""
    counts: dict[Instruction, int] = {}
    for instruction in computation.instructions:
        for operand in instruction.operands:
            counts[operand] = counts.get(operand, 0) + 1
    return counts


def guarded(
    builder: Builder, condition: Expr, then: Callable[[], Expr], otherwise: Callable[[], Expr]
) -> Expr:
    """`either` of one value."""
    (value,) = either(builder, condition, lambda: (then(),), lambda: (otherwise(),))
    return value


def either(
    builder: Builder,
    condition: Expr,
    then: Callable[[], Values],
    otherwise: Callable[[], Values],
) -> Values:
    """Selects where neither arm needs statements, else an if that fills variables; one arm alone
    where the condition is decided."""
    condition = simplify(condition, builder.ranges)
    if isinstance(condition, Const):
        return then() if condition.value else otherwise()
    with builder.block() as then_body:
        then_values = then()
    with builder.block() as else_body:
        else_values = otherwise()
    pairs = tuple(zip(then_values, else_values, strict=True))
    if not then_body and not else_body:
        return tuple(Apply("select", (condition, a, b), a.type) for a, b in pairs)
    results = [builder.local(a.type, (), "chosen") for a in then_values]
    blocks = []
    for body, values in ((then_body, then_values), (else_body, else_values)):
        with builder.block() as block:
            block.extend(body)
            for result, value in zip(results, values, strict=True):
                builder.store(result, (), value)
        blocks.append(tuple(block))
    builder.emit(If(condition, *blocks))
    return tuple(map(Load, results))


def _nodes(expression: Expr) -> int:
    """Number of operators that are not index arithmetic."""
    if not isinstance(expression, Apply) or expression.type is INDEX:
        return 0
    return 1 + sum(_nodes(a) for a in expression.arguments)


def leaf_dimensions(instruction: Instruction) -> tuple[tuple[int, ...], ...]:
    """The dimensions of each array leaf of the result."""
    return tuple(s.dimensions for s in leaves(instruction.shape) if isinstance(s, ArrayShape))
