"""Loop-invariant code motion: computes before a loop what is the same in each turn."""

from __future__ import annotations

import enum

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.hlo.shape import ArrayShape
from ccodegen.ops.build import element_of, tuple_of
from ccodegen.ops.elementwise import MATH_FUNCTIONS
from ccodegen.passes.context import PassContext
from ccodegen.passes.element_loops import is_kernel, made_elsewhere
from ccodegen.passes.loops import (
    Loop,
    as_loop,
    invariant_parts,
    trip_count,
    with_hoisted,
)

_EXPENSIVE = frozenset(
    {
        "cholesky",
        "convolution",
        "divide",
        "dot",
        "fft",
        "power",
        "reduce",
        "reduce-window",
        "remainder",
        "scatter",
        "select-and-scatter",
        "triangular-solve",
        *MATH_FUNCTIONS.split(),
    }
)


def hoist_invariant(module: Module, context: PassContext) -> Module:
    """What a loop's body computes from state that it does not change becomes state itself.

    ```
    body: %y = add(%i, dot(%w, %w))   →   before: %d = dot(%w, %w); body: %y = add(%i, %d)
    ```
    Only where it saves an expensive op, or a product of matrices from what is computed, or put
    together, for it first, and costs no more memory than its operands have, or
    `context.folding_limit` bytes; or where the loop then makes each element of those at its place.
    """

    def visit(instruction: Instruction) -> Instruction:
        loop = as_loop(instruction)
        if loop is None:
            return instruction
        hoisted = with_hoisted(loop, _hoistable(loop, context.folding_limit))
        new = _with_elements(hoisted, context.has_vectors).instruction
        if new is instruction:
            return instruction
        return tuple_of(new, [element_of(new, new, n) for n in range(len(loop.shapes))])

    return rewrite_module(module, visit)


def _with_elements(loop: Loop, has_vectors: bool) -> Loop:
    """With what its turns read in another order, if it then can be one kernel."""
    if trip_count(loop) is None:
        return loop
    more = with_hoisted(loop, made_elsewhere(loop))
    return more if is_kernel(more, has_vectors) else loop


def _hoistable(loop: Loop, limit: int) -> list[Instruction]:
    """The last invariant instructions of each kind: what the changing part of the body reads."""
    costs = _invariant_parts(loop)
    found: dict[Instruction, None] = {}
    for user in loop.body.instructions:
        if user in costs:
            continue
        least = _Cost.SOME if user.op in ("convolution", "dot") else _Cost.EXPENSIVE
        for operand in user.operands:
            if costs.get(operand, _Cost.NONE) >= least and _fits(operand, limit):
                found[operand] = None
    return list(found)


class _Cost(enum.IntEnum):
    """Of the most expensive op that makes a value."""

    NONE = enum.auto()  # no more than to read the operand at other places
    SOME = enum.auto()
    EXPENSIVE = enum.auto()


def _invariant_parts(loop: Loop) -> dict[Instruction, _Cost]:
    """What depends on invariant state alone, and what it takes to make it."""
    found: dict[Instruction, _Cost] = {}
    for instruction in invariant_parts(loop):
        before = [found[o] for o in instruction.operands if o in found]
        found[instruction] = max([_cost(instruction), *before])
    return found


def _cost(instruction: Instruction) -> _Cost:
    if instruction.op in _EXPENSIVE:
        return _Cost.EXPENSIVE
    is_made = opdef.is_elementwise(instruction) or instruction.op == "concatenate"
    return _Cost.SOME if is_made else _Cost.NONE


def _fits(instruction: Instruction, limit: int) -> bool:
    operands = sum(
        o.shape.bytes for o in instruction.operands if isinstance(o.shape, ArrayShape)
    )
    return instruction.array_shape.bytes <= max(limit, operands)
