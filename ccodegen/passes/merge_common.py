"""Common subexpressions: equal instructions become one, and so do equal computations."""

from __future__ import annotations

from collections.abc import Hashable

from ccodegen.hlo.effects import has_own_effect
from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.rewrite import map_computations, rewrite_computation
from ccodegen.hlo.shape import ArrayShape, leaves
from ccodegen.ops.custom_call import is_routine
from ccodegen.passes.context import PassContext
from ccodegen.passes.effects import is_repeatable


def merge_common(module: Module, context: PassContext) -> Module:
    """`%a = add(%x, %y); %b = add(%x, %y)` → `%a` for both.

    Equal are op, operands, attributes (literals bit for bit, computations by structure), shape and
    layout; of routines of linear algebra their options, too. The first in order stays, with its
    name and location.
    """
    seen: dict[Hashable, Computation] = {}

    def transform(
        computation: Computation, callees: dict[Computation, Computation]
    ) -> Computation:
        merged = _merge(computation, callees)
        if computation is module.entry:
            return merged
        return seen.setdefault(_structure(merged), merged)

    return map_computations(module, transform)


def _merge(computation: Computation, callees: dict[Computation, Computation]) -> Computation:
    seen: dict[Hashable, Instruction] = {}

    def visit(instruction: Instruction) -> Instruction:
        is_call = is_routine(instruction) and not has_own_effect(instruction)
        if instruction.op == "parameter" or not (is_call or is_repeatable(instruction)):
            return instruction
        operands = tuple(map(id, instruction.operands))
        control = tuple(map(id, instruction.control_predecessors))
        options = instruction.annotations if is_call else ()
        return seen.setdefault((_form(instruction), operands, control, options), instruction)

    return rewrite_computation(computation, visit, callees)


def _form(instruction: Instruction) -> Hashable:
    """All that tells an instruction from another but operands, names and places."""
    layouts = tuple(s.layout for s in leaves(instruction.shape) if isinstance(s, ArrayShape))
    return instruction.op, instruction.shape, layouts, instruction.attributes


def _structure(computation: Computation) -> Hashable:
    """Equal for computations that do the same in the same order, whatever their names."""
    number = {instruction: n for n, instruction in enumerate(computation.instructions)}
    lines = tuple(
        (
            _form(i),
            tuple(number[o] for o in i.operands),
            tuple(number[c] for c in i.control_predecessors),
            i.annotations,
        )
        for i in computation.instructions
    )
    ends = tuple(number[r] for r in (computation.root, *computation.side_roots))
    return lines, ends, computation.execution_thread
