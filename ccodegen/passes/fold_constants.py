"""Evaluates at compile time what depends on constants alone."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import Any

import numpy as np

from ccodegen.hlo import opdef
from ccodegen.hlo.evaluate import Evaluator
from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.rewrite import map_computations, rewrite_computation
from ccodegen.hlo.shape import ArrayShape
from ccodegen.ops import fold
from ccodegen.ops.build import constant, is_static, splat
from ccodegen.ops.reduce import Reduce
from ccodegen.passes.constants import array_of, uniform
from ccodegen.passes.context import PassContext
from ccodegen.passes.effects import is_repeatable
from ccodegen.support.errors import UnsupportedError

_MOVEMENT = frozenset(
    {
        "bitcast-convert",
        "concatenate",
        "dynamic-slice",
        "dynamic-update-slice",
        "gather",
        "pad",
        "reshape",
        "reverse",
        "slice",
        "transpose",
    }
)
# Left alone: they run computations for a time that nobody knows, stand for themselves, or give a
# value of dynamic shape.
_NEVER = frozenset(
    {
        "broadcast",
        "call",
        "conditional",
        "constant",
        "copy",
        "dynamic-reshape",
        "fusion",
        "iota",
        "parameter",
        "set-dimension-size",
        "while",
    }
)
_SPREAD = frozenset({"broadcast", "iota"})
# The references of other ops, sums and products apart, take one Python step for each element that
# they combine.
_SLOW_ELEMENTS = 4096

Array = np.ndarray[Any, Any]


def fold_constants(module: Module, context: PassContext) -> Module:
    """`add(constant({1, 2}), constant({3, 4}))` → `constant({4, 6})`, by the evaluator's bits.

    An elementwise op of values that are the same everywhere is computed once and broadcast. What
    is small as an expression stays one: a constant may be larger than those it is made from only
    up to `context.folding_limit` bytes, and a sixteenth of that if it comes from iota and
    broadcast alone. A large constant that has several users is folded where all that is made of it
    alone, such as normalised weights, takes no more bytes in the end.
    """
    evaluator = Evaluator()

    def transform(
        computation: Computation, callees: dict[Computation, Computation]
    ) -> Computation:
        folder = _Folder(evaluator, context.folding_limit, computation)
        return rewrite_computation(computation, folder.visit, callees)

    return map_computations(module, transform)


class _Folder:
    def __init__(self, evaluator: Evaluator, limit: int, computation: Computation) -> None:
        self._evaluator, self._limit, self._computation = evaluator, limit, computation

    def visit(self, instruction: Instruction) -> Instruction:
        if not _may_fold(instruction):
            return instruction
        value = self._of_uniform_operands(instruction)
        if value is not None:
            return splat(instruction, value, instruction.array_shape)
        if not self._is_worthwhile(instruction):
            return instruction
        largest = max(self._limit, instruction.array_shape.bytes)
        operands = [self._value(o, largest) for o in instruction.operands]
        if any(o is None for o in operands):
            return instruction
        value = self._evaluate(instruction, *operands)
        return instruction if value is None else constant(instruction, value)

    def _of_uniform_operands(self, instruction: Instruction) -> Array | None:
        """The result's one element, if each operand has one value everywhere."""
        if not opdef.get(instruction.op).elementwise or instruction.array_shape.size == 0:
            return None
        operands = [uniform(o) for o in instruction.operands]
        if any(o is None for o in operands):
            return None
        element = _as_scalar(instruction)
        value = self._evaluate(element, *operands)
        return None if value is None else value.reshape(())

    def _is_worthwhile(self, instruction: Instruction) -> bool:
        """By the sizes alone, before anything is computed."""
        sources = [o for o in instruction.operands if o.op == "constant"]
        arrays = [o for o in sources if o.array_shape.rank]
        size = instruction.array_shape.bytes
        allowed = self._limit if arrays else self._limit // 16
        if size > max(allowed, sum(o.array_shape.bytes for o in arrays)):
            return False
        return size <= self._limit or all(self._may_go(o) for o in arrays)

    def _may_go(self, operand: Instruction) -> bool:
        users = self._computation.users.get(operand, ())
        return len(users) <= 1 or operand in self._shrinking

    @cached_property
    def _shrinking(self) -> set[Instruction]:
        """The large constants of which all that is made of constants alone takes no more bytes."""
        sources: dict[Instruction, set[Instruction]] = {}  # of what is made of constants alone
        taken: Counter[Instruction] = Counter()
        for instruction in self._computation.instructions:
            if array_of(instruction) is not None:
                is_large = instruction.array_shape.bytes > self._limit
                sources[instruction] = {instruction} if is_large else set()
            elif (instruction.op in _SPREAD or _may_fold(instruction)) and all(
                o in sources for o in instruction.operands
            ):
                sources[instruction] = set().union(*(sources[o] for o in instruction.operands))
        for instruction, large in sources.items():
            users = self._computation.users.get(instruction, ())
            if instruction is self._computation.root or not all(u in sources for u in users):
                for constant in large:
                    taken[constant] += instruction.array_shape.bytes
        return {c for c, size in taken.items() if size <= c.array_shape.bytes}

    def _value(self, operand: Instruction, largest: int) -> Array | None:
        """A constant, or an iota or broadcast constant of up to so many bytes."""
        array = array_of(operand)
        if array is not None or operand.array_shape.bytes > largest:
            return array
        if operand.op == "broadcast":
            inner = array_of(operand.operands[0])
            return None if inner is None else self._evaluate(operand, inner)
        return self._evaluate(operand) if operand.op == "iota" else None

    def _evaluate(self, instruction: Instruction, *operands: Any) -> Array | None:
        reference = opdef.get(instruction.op).evaluate
        if reference is None:
            return None
        try:
            with np.errstate(all="ignore"):
                value = reference(self._evaluator, instruction, *operands)
        except UnsupportedError:
            return None
        return np.ascontiguousarray(value).reshape(instruction.array_shape.dimensions)


def _may_fold(instruction: Instruction) -> bool:
    if instruction.op in _NEVER or not isinstance(instruction.shape, ArrayShape):
        return False
    if not all(isinstance(o.shape, ArrayShape) for o in instruction.operands):
        return False
    if instruction.control_predecessors or not is_static(instruction):
        return False
    if not instruction.operands or not is_repeatable(instruction):
        return False
    if instruction.op in _MOVEMENT or opdef.get(instruction.op).elementwise:
        return True
    attributes = instruction.attributes
    if isinstance(attributes, Reduce) and fold.is_sequential(attributes.to_apply):
        return True
    return sum(o.array_shape.size for o in instruction.operands) <= _SLOW_ELEMENTS


def _as_scalar(instruction: Instruction) -> Instruction:
    """The op on one element of each operand."""
    shape = instruction.array_shape.with_dimensions(())
    return Instruction(
        instruction.op, shape, instruction.operands, instruction.attributes, instruction.name
    )
