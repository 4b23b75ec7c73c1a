"""Loop-invariant code motion: computes before a loop what is the same in each turn."""

from __future__ import annotations

import enum
from dataclasses import replace

from ccodegen.hlo.ir import Computation, Instruction, Module, post_order
from ccodegen.hlo.opdef import is_elementwise
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.hlo.shape import ArrayShape, Shape, TupleShape
from ccodegen.ops.build import element_of, tuple_of
from ccodegen.ops.control import While
from ccodegen.ops.elementwise import MATH_FUNCTIONS
from ccodegen.passes.context import PassContext
from ccodegen.passes.effects import is_repeatable
from ccodegen.passes.loops import Loop, as_loop, state_index, with_state

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
    together, for it first; and costs no more memory than its operands have, or
    `context.folding_limit` bytes.
    """

    def visit(instruction: Instruction) -> Instruction:
        loop = as_loop(instruction)
        if loop is None:
            return instruction
        hoisted = _hoistable(loop, context.folding_limit)
        return _apply(loop, hoisted) if hoisted else instruction

    return rewrite_module(module, visit)


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
    for instruction in loop.body.instructions:
        index = state_index(instruction, loop.body)
        if index is not None:
            if loop.is_invariant(index):
                found[instruction] = _Cost.NONE
        elif _may_move(instruction) and all(o in found for o in instruction.operands):
            before = (found[o] for o in instruction.operands)
            found[instruction] = max([_cost(instruction), *before])
    return found


def _cost(instruction: Instruction) -> _Cost:
    if instruction.op in _EXPENSIVE:
        return _Cost.EXPENSIVE
    is_made = is_elementwise(instruction) or instruction.op == "concatenate"
    return _Cost.SOME if is_made else _Cost.NONE


def _may_move(instruction: Instruction) -> bool:
    if instruction.op in ("parameter", "while", "conditional") or instruction.control_predecessors:
        return False
    return isinstance(instruction.shape, ArrayShape) and is_repeatable(instruction)


def _fits(instruction: Instruction, limit: int) -> bool:
    operands = sum(
        o.shape.bytes for o in instruction.operands if isinstance(o.shape, ArrayShape)
    )
    return instruction.array_shape.bytes <= max(limit, operands)


def _apply(loop: Loop, hoisted: list[Instruction]) -> Instruction:
    """A tuple of the old state's elements; the loop itself has the hoisted ones behind them."""
    shapes = (*loop.shapes, *(i.shape for i in hoisted))
    condition, _ = _with_more(loop.condition, shapes, [], [loop.condition.root])
    body, following = _with_more(loop.body, shapes, hoisted, [*loop.next, *hoisted])
    body = replace(body, root=tuple_of(loop.body.root, following))
    old = [loop.initial(i) for i in range(len(loop.shapes))]
    new = replace(
        loop.instruction,
        shape=TupleShape(shapes),
        operands=(tuple_of(loop.init, [*old, *_before(loop, hoisted)]),),
        attributes=While(condition, body),
    )
    return tuple_of(loop.instruction, [element_of(new, new, i) for i in range(len(old))])


def _with_more(
    computation: Computation,
    shapes: tuple[Shape, ...],
    hoisted: list[Instruction],
    roots: list[Instruction],
) -> tuple[Computation, tuple[Instruction, ...]]:
    """The computation with the hoisted instructions read from the last state elements."""
    places = {h: len(shapes) - len(hoisted) + n for n, h in enumerate(hoisted)}

    def stand_in(old: Instruction, parameter: Instruction) -> Instruction | None:
        index = places.get(old, state_index(old, computation))
        return None if index is None else element_of(old, parameter, index)

    return with_state(computation, shapes, stand_in, roots)


def _before(loop: Loop, hoisted: list[Instruction]) -> list[Instruction]:
    """Copies of the hoisted instructions that read the initial state instead."""
    memo: dict[Instruction, Instruction] = {}
    for old in post_order(hoisted):
        index = state_index(old, loop.body)
        if index is not None:
            memo[old] = loop.initial(index)
        elif old is not loop.body.parameters[0]:
            memo[old] = replace(old, operands=tuple(memo[o] for o in old.operands))
    return [memo[h] for h in hoisted]
