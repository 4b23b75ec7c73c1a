"""Drops from a loop's state what the loop does not change or nobody needs."""

from __future__ import annotations

from dataclasses import replace

from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.rewrite import rewrite_with_old, transform_computations
from ccodegen.hlo.shape import Shape, TupleShape
from ccodegen.ops.build import derived, element_of, tuple_of
from ccodegen.ops.control import While
from ccodegen.passes.context import PassContext
from ccodegen.passes.loops import Loop, as_loop, needed, read_after, state_index, with_state
from ccodegen.support.immutable import immutable


def trim_loops(module: Module, context: PassContext) -> Module:
    """State elements that are constants move into the loop; those that the loop hands on as they
    are are read from before it; those that only feed themselves vanish.

    ```
    while((%i, %c, %w, %unused))  →  while((%i, %w)), with %c in the body and %w used after it
    ```
    """
    return transform_computations(module, _trimmed)


@immutable
class _Plan:
    """`kept`: indices of the elements that stay; `sunk`: constants by the index they had."""

    kept: tuple[int, ...]
    sunk: dict[int, Instruction]

    def read(self, index: int, parameter: Instruction) -> Instruction | None:
        """What stands for element `index` in a computation with the new state."""
        if index in self.sunk:
            return self.sunk[index]
        if index not in self.kept:
            return None
        return element_of(parameter, parameter, self.kept.index(index))


def _trimmed(computation: Computation) -> Computation:
    def visit(old: Instruction, new: Instruction) -> Instruction:
        loop = as_loop(new)
        if loop is None:
            return new
        read = read_after(computation, old)
        plan = _plan(loop, read)
        whole = len(plan.kept) == len(loop.shapes) and not plan.sunk
        return new if whole and not _forwards(loop, read) else _apply(loop, plan)

    return rewrite_with_old(computation, visit)


def _forwards(loop: Loop, read: set[int] | None) -> bool:
    """Whether something read after the loop could be read from before it."""
    return any(loop.is_invariant(i) for i in (range(len(loop.shapes)) if read is None else read))


def _plan(loop: Loop, read: set[int] | None) -> _Plan:
    everything = range(len(loop.shapes))
    invariant = {i for i in everything if loop.is_invariant(i)}
    sunk = {i: replace(loop.initial(i)) for i in invariant if _is_cheap(loop.initial(i))}
    wanted = (set(everything) if read is None else read) - invariant
    wanted |= _elements_read(loop.condition)
    kept = needed(loop, wanted, sunk) or {0}
    sunk = {i: constant for i, constant in sunk.items() if i not in kept}
    return _Plan(tuple(sorted(kept)), sunk)


def _elements_read(computation: Computation) -> set[int]:
    return {
        index
        for instruction in computation.instructions
        if (index := state_index(instruction, computation)) is not None
    }


def _is_cheap(instruction: Instruction) -> bool:
    """A constant, or what is made anew without reading memory; it has no other operands."""
    return instruction.op in ("constant", "iota")


def _apply(loop: Loop, plan: _Plan) -> Instruction:
    """A tuple in the place of the old loop, of which only what is read has to be right."""
    shapes = [loop.shapes[i] for i in plan.kept]
    condition = _with_plan(loop.condition, plan, shapes, [loop.condition.root])[0]
    kept_next = [loop.next[i] for i in plan.kept]
    body, following = _with_plan(loop.body, plan, shapes, kept_next)
    body = replace(body, root=tuple_of(loop.body.root, following))
    init = tuple_of(loop.init, [loop.initial(i) for i in plan.kept])
    new = replace(
        loop.instruction,
        shape=TupleShape(tuple(shapes)),
        operands=(init,),
        attributes=While(condition, body),
    )
    results = [
        element_of(loop.instruction, new, plan.kept.index(i))
        if i in plan.kept and not loop.is_invariant(i)
        else loop.initial(i)
        for i in range(len(loop.shapes))
    ]
    return derived(loop.instruction, "tuple", loop.instruction.shape, tuple(results))


def _with_plan(
    computation: Computation, plan: _Plan, shapes: list[Shape], roots: list[Instruction]
) -> tuple[Computation, tuple[Instruction, ...]]:
    def stand_in(old: Instruction, parameter: Instruction) -> Instruction | None:
        index = state_index(old, computation)
        return None if index is None else plan.read(index, parameter)

    return with_state(computation, shapes, stand_in, roots)
