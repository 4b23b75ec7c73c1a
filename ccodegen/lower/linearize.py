"""Entry computation → steps: flat values, explicit copies, nested control flow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.literal import Literal
from ccodegen.hlo.shape import ArrayShape, OpaqueShape, Shape, TupleShape, leaves
from ccodegen.lower.in_place import in_place_pairs, overwritten_operands
from ccodegen.lower.schedule import schedule
from ccodegen.lower.steps import Branch, Compute, Copy, Exchange, Loop, Step, StepProgram, Value
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.control import Conditional, While
from ccodegen.ops.creation import Constant
from ccodegen.ops.host import request_of
from ccodegen.ops.tuples import GetTupleElement
from ccodegen.support.errors import UnsupportedError
from ccodegen.support.hooks import Request

Values: TypeAlias = tuple[Value, ...]

_SAME_VALUES = ("reshape", "opt-barrier", "copy", "domain")
_NO_VALUES = ("after-all",)
_NOTHING: Mapping[int, Value] = MappingProxyType({})
_NO_TURNS: Mapping[Instruction, int] = MappingProxyType({})


def linearize(
    module: Module, donated: Mapping[int, int], doubled: Mapping[Instruction, int] = _NO_TURNS
) -> StepProgram:
    """`donated`: output leaf by donated parameter leaf, in whose memory it has to end. `doubled`:
    the loops that run two turns at a time, with their numbers of turns."""
    linearizer = _Linearizer(doubled)
    entry = module.entry
    numbers = 0
    for parameter in entry.parameters:
        values = []
        for shape in array_leaves(parameter.shape, parameter):
            values.append(Value(parameter.name, shape, parameter=numbers))
            numbers += 1
        linearizer.values[parameter] = tuple(values)
    parameters = tuple(v for p in entry.parameters for v in linearizer.values[p])
    linearizer.run(entry)
    outputs = linearizer.end(entry.root, "out", {o: parameters[p] for p, o in donated.items()})
    for number, value in enumerate(outputs):
        value.output = number
    together = linearizer.together
    together += [(parameters[p], outputs[o]) for p, o in donated.items()]
    return StepProgram(tuple(linearizer.steps), parameters, outputs, together)


class _Linearizer:
    def __init__(self, doubled: Mapping[Instruction, int]) -> None:
        self.doubled = doubled
        self.steps: list[Step] = []
        self.values: dict[Instruction, Values] = {}
        self.together: list[Values] = []

    def run(self, computation: Computation) -> Values:
        """Adds the steps of a computation whose parameters have values; returns the root's."""
        for instruction in schedule(computation):
            if instruction not in self.values:
                self.values[instruction] = self._visit(instruction)
        return self.values[computation.root]

    def end(self, root: Instruction, name: str, over: Mapping[int, Value] = _NOTHING) -> Values:
        """Copies of the root's leaves, to where the caller of the computation wants them: leaf n
        to the memory of `over[n]`, where that is given."""
        shapes = array_leaves(root.shape, root)
        targets = tuple(Value(f"{name}{n}", shape) for n, shape in enumerate(shapes))
        self._move(dict(enumerate(self.values[root])), targets, over)
        return targets

    def _visit(self, instruction: Instruction) -> Values:
        operands = [self.values[o] for o in instruction.operands]
        attributes = instruction.attributes
        if isinstance(attributes, Constant):
            return _constant_values(instruction)
        if isinstance(attributes, GetTupleElement):
            return _element(instruction.operands[0].shape, operands[0], attributes.index)
        if instruction.op == "tuple":
            return tuple(v for values in operands for v in values)
        if instruction.op in _NO_VALUES:
            return ()
        if instruction.op == "add-dependency":
            return operands[0]
        if instruction.op in _SAME_VALUES:
            return tuple(v for values in operands for v in values)
        if isinstance(attributes, While):
            return self._loop(instruction, attributes, operands[0])
        if isinstance(attributes, Conditional):
            return self._branch(instruction, attributes, operands)
        if instruction.op in ("recv", "send-done"):
            return _pending(instruction)
        request = request_of(instruction)
        if request is not None:
            return self._exchange(instruction, request)
        return self._compute(instruction, operands)

    def _exchange(self, instruction: Instruction, request: Request) -> Values:
        """What recv gave to recv-done is only a promise."""
        given = () if instruction.op == "recv-done" else instruction.operands
        reads = tuple(value for operand in given for value in self.values[operand])
        shapes = tuple(shape for o in given for shape in array_leaves(o.shape, o))
        if instruction.op == "send":
            self.steps.append(Exchange(instruction, request, reads, shapes, ()))
            return (*reads, *_pending(instruction)[len(reads) :])
        writes = _fresh(instruction)
        self.steps.append(Exchange(instruction, request, reads, shapes, writes))
        return writes

    def _compute(self, instruction: Instruction, operands: list[Values]) -> Values:
        outputs = _fresh(instruction)
        pairs = []
        overwritten = overwritten_operands(instruction)
        instruction = _with_own_operands(instruction, [operand for operand, _ in overwritten])
        for operand, leaf in overwritten:
            (old,) = operands[operand]
            (copy,) = operands[operand] = (self._copied(old, instruction.name),)
            pairs.append((copy, outputs[leaf]))
            self.together.append((copy, outputs[leaf]))
        straight = in_place_pairs(instruction)
        for operand, leaf in straight:
            (value,) = operands[operand]
            if all((n, leaf) in straight for n, o in enumerate(operands) if value in o):
                pairs.append((value, outputs[leaf]))
        self.steps.append(Compute(instruction, tuple(operands), outputs, tuple(pairs)))
        return outputs

    def _copied(self, source: Value, name: str) -> Value:
        target = Value(name, source.shape)
        self.steps.append(Copy(source, target))
        return target

    def _nested(self) -> _Linearizer:
        """For a called computation: steps and values of its own, the same obligations."""
        nested = _Linearizer(self.doubled)
        nested.together = self.together
        return nested

    def _loop(self, instruction: Instruction, attributes: While, initial: Values) -> Values:
        kept = unchanged_leaves(attributes.body)
        turns = self.doubled.get(instruction, 0)
        if turns % 2:
            initial = self._turn(attributes.body, initial)
        state = tuple(
            value if n in kept else self._copied(value, instruction.name)
            for n, value in enumerate(initial)
        )
        condition, body = self._nested(), self._nested()
        condition.values[attributes.condition.parameters[0]] = state
        (predicate,) = condition.run(attributes.condition)
        ends = body._turn(attributes.body, state)
        if turns:
            ends = body._turn(attributes.body, ends)
        next_state = body.next_state(state, ends, kept)
        result = tuple(
            value if n in kept else Value(instruction.name, value.shape)
            for n, value in enumerate(state)
        )
        self.together += [
            (state[n], next_state[n], result[n]) for n in range(len(state)) if n not in kept
        ]
        steps = tuple(condition.steps), tuple(body.steps)
        self.steps.append(
            Loop(instruction, state, steps[0], predicate, steps[1], next_state, result)
        )
        return result

    def _turn(self, body: Computation, state: Values) -> Values:
        """Adds the steps of one turn; returns the state after it."""
        nested = self._nested()
        nested.values[body.parameters[0]] = state
        ends = nested.run(body)
        self.steps += nested.steps
        return ends

    def next_state(self, state: Values, ends: Values, kept: set[int]) -> Values:
        """Copies of the body's results over the state."""
        targets = tuple(v if n in kept else Value(v.name, v.shape) for n, v in enumerate(state))
        sources = {n: end for n, end in enumerate(ends) if n not in kept}
        self._move(sources, targets, dict(enumerate(state)))
        return targets

    def _move(
        self, sources: Mapping[int, Value], targets: Values, over: Mapping[int, Value]
    ) -> None:
        """Copies source n to target n as if all at once, where target n takes the memory of
        `over[n]`: each after the last read of what it overwrites; a cycle (two leaves that swap)
        goes through temporaries."""
        waiting = dict(sources)
        while waiting:
            free = [n for n in waiting if not _read_by_others(over.get(n), n, waiting)]
            if not free:
                n, source = next(iter(waiting.items()))
                waiting[n] = self._copied(source, f"{source.name}_next")
                continue
            self.steps.append(Copy(waiting.pop(free[0]), targets[free[0]]))

    def _branch(
        self, instruction: Instruction, attributes: Conditional, operands: list[Values]
    ) -> Values:
        branches, ends = [], []
        for computation, argument in zip(attributes.branches(), operands[1:], strict=True):
            nested = self._nested()
            nested.values[computation.parameters[0]] = argument
            nested.run(computation)
            ends.append(nested.end(computation.root, instruction.name))
            branches.append(tuple(nested.steps))
        result = _fresh(instruction)
        self.together += [
            (value, *(end[n] for end in ends)) for n, value in enumerate(result)
        ]
        (selector,) = operands[0]
        self.steps.append(Branch(instruction, selector, tuple(branches), tuple(ends), result))
        return result


def unchanged_leaves(body: Computation) -> set[int]:
    """The leaves of a while's state that its body hands on as they are."""
    parameter = body.parameters[0]
    kept: set[int] = set()
    first = 0
    root = body.root
    if root is parameter:
        return set(range(_array_count(parameter.shape)))
    if root.op != "tuple":
        return kept
    for number, operand in enumerate(root.operands):
        count = _array_count(operand.shape)
        attributes = operand.attributes
        is_element = isinstance(attributes, GetTupleElement) and attributes.index == number
        if is_element and operand.operands[0] is parameter:
            kept |= set(range(first, first + count))
        first += count
    return kept


def array_leaves(shape: Shape, instruction: Instruction) -> tuple[ArrayShape, ...]:
    """The array leaves; tokens have no memory. Refuses opaque values and unbounded sizes."""
    found = []
    for leaf in leaves(shape):
        if isinstance(leaf, OpaqueShape):
            message = f"value '{instruction.name}' of shape {leaf}, which has no known memory"
            raise UnsupportedError(message, instruction.location)
        if isinstance(leaf, ArrayShape):
            if any(leaf.dynamic):
                message = f"dynamic shape {leaf} of '{instruction.name}'"
                raise UnsupportedError(message, instruction.location)
            found.append(ArrayShape(leaf.element_type, leaf.dimensions))
    return tuple(found)


def _read_by_others(old: Value | None, number: int, waiting: Mapping[int, Value]) -> bool:
    return any(n != number and value is old for n, value in waiting.items())


def _with_own_operands(instruction: Instruction, numbers: Sequence[int]) -> Instruction:
    """The instruction with operands that it overwrites apart from those that it only reads, even
    where they are the same."""
    operands = list(instruction.operands)
    for number in numbers:
        if operands.count(operands[number]) > 1:
            operands[number] = replace(operands[number])
    return instruction.with_operands(tuple(operands))


def _fresh(instruction: Instruction) -> Values:
    shapes = array_leaves(instruction.shape, instruction)
    return tuple(Value(instruction.name, s) for s in shapes)


def _pending(instruction: Instruction) -> Values:
    """Zeros: the result of what only begins or ends a transfer. Nobody may look into them before
    the transfer is done, but a loop may carry them."""
    shapes = array_leaves(instruction.shape, instruction)
    zeros = (np.zeros(s.dimensions, s.element_type.dtype) for s in shapes)
    return tuple(
        Value(instruction.name, s, constant=Literal(zero))
        for s, zero in zip(shapes, zeros, strict=True)
    )


def _constant_values(instruction: Instruction) -> Values:
    literal = attributes_of(instruction, Constant).literal
    stack, values = [literal], []
    while stack:
        part = stack.pop()
        if part.elements is not None:
            stack.extend(reversed(part.elements))
            continue
        shape = part.shape
        assert isinstance(shape, ArrayShape)
        values.append(Value(instruction.name, shape, constant=part))
    return tuple(values)


def _element(shape: Shape, values: Values, number: int) -> Values:
    assert isinstance(shape, TupleShape)
    counts = [_array_count(e) for e in shape.elements]
    first = sum(counts[:number])
    return values[first : first + counts[number]]


def _array_count(shape: Shape) -> int:
    return sum(isinstance(s, ArrayShape) for s in leaves(shape))
