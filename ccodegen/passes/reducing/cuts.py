"""Steps that make a module of fewer instructions; each stage lists its candidates in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import TypeAlias, TypeVar

import numpy as np

from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.rewrite import map_computations, rewrite_computation, rewrite_with_old
from ccodegen.hlo.shape import ArrayShape, TokenShape
from ccodegen.ops.build import derived, splat, tuple_of
from ccodegen.ops.control import Call, Conditional, Fusion, While
from ccodegen.ops.creation import Parameter
from ccodegen.passes.context import Pass, PassContext
from ccodegen.passes.drop_dead import drop_dead
from ccodegen.passes.flatten_calls import flatten_calls
from ccodegen.passes.hoist_invariant import hoist_invariant
from ccodegen.passes.inline import inline
from ccodegen.passes.simplify_algebra import simplify_algebra
from ccodegen.passes.simplify_control import simplify_control
from ccodegen.passes.simplify_movement import simplify_movement
from ccodegen.passes.trim_loops import trim_loops
from ccodegen.passes.unfuse import unfuse
from ccodegen.support.errors import unexpected_are_bugs

# Makes a module; one that is not valid, or an error, where the step does not go with the old one.
Candidate: TypeAlias = Callable[[], Module]
Stage: TypeAlias = Callable[[Module], Iterator[Candidate]]
T = TypeVar("T")

_PASSES: tuple[Pass, ...] = (
    unfuse, flatten_calls, drop_dead, simplify_control, trim_loops, hoist_invariant,
    simplify_movement, simplify_algebra,
)  # fmt: skip


def halving(items: Sequence[T]) -> Iterator[T]:
    """All of them, the middle first, then those at the quarters, and so on."""
    spans = [(0, len(items))]
    while spans:
        low, high = spans.pop(0)
        if low < high:
            middle = (low + high) // 2
            yield items[middle]
            spans += [(low, middle), (middle + 1, high)]


def other_roots(module: Module) -> Iterator[Candidate]:
    """The entry ends at another instruction."""
    entry = module.entry
    for instruction in halving([i for i in entry.instructions if i.op != "parameter"]):
        if instruction is not entry.root and not isinstance(instruction.shape, TokenShape):
            yield partial(_with_entry, module, replace(entry, root=instruction, side_roots=()))


def fewer_results(module: Module) -> Iterator[Candidate]:
    """One result less, or one alone."""
    root = module.entry.root
    if root.op != "tuple":
        return
    for operand in root.operands:
        yield partial(_with_entry, module, replace(module.entry, root=operand))
    for n in range(len(root.operands)):
        rest = tuple_of(root, root.operands[:n] + root.operands[n + 1 :])
        yield partial(_with_entry, module, replace(module.entry, root=rest))


def parameters_instead(module: Module) -> Iterator[Candidate]:
    """A parameter in the place of an instruction of the entry."""
    for instruction in halving(module.entry.instructions):
        if instruction.op != "parameter" and isinstance(instruction.shape, ArrayShape):
            yield partial(_parameter_instead, module, instruction)


def _parameter_instead(module: Module, instruction: Instruction) -> Module:
    entry = module.entry
    number = len(entry.parameters)
    parameter = derived(instruction, "parameter", instruction.shape, (), Parameter(number))
    changed = _replaced(entry, {instruction: parameter})
    return _with_entry(module, replace(changed, parameters=(*changed.parameters, parameter)))


def operands_instead(module: Module) -> Iterator[Candidate]:
    """One parameter for two of the same shape; an operand of the same shape in the place of an
    instruction, in any computation."""
    for first, second in combinations(module.entry.parameters, 2):
        if first.shape == second.shape:
            yield partial(_with_changed, module, module.entry, {second: first})
    for computation in module.computations:
        for instruction in computation.instructions:
            for operand in instruction.operands:
                if operand.shape == instruction.shape:
                    new = {instruction: operand}
                    yield partial(_with_changed, module, computation, new)


def constants_instead(module: Module) -> Iterator[Candidate]:
    """Zeros in the place of an instruction, in any computation."""
    for computation in module.computations:
        for instruction in computation.instructions:
            shape = instruction.shape
            if instruction.op in ("parameter", "constant") or not isinstance(shape, ArrayShape):
                continue
            zero = np.zeros((), shape.element_type.dtype)
            new = {instruction: splat(instruction, zero, shape)}
            yield partial(_with_changed, module, computation, new)


def called_in_place(module: Module) -> Iterator[Candidate]:
    """A called computation in the place of the instruction that calls it: the function of a call
    or fusion, a branch, one turn of a loop, or none."""
    for computation in module.computations:
        for instruction in computation.instructions:
            for called, operands in _calls(instruction):
                yield partial(_inlined, module, computation, instruction, called, operands)
            if isinstance(instruction.attributes, While):
                new = {instruction: instruction.operands[0]}
                yield partial(_with_changed, module, computation, new)


def _calls(
    instruction: Instruction,
) -> Iterator[tuple[Computation, Sequence[Instruction]]]:
    attributes, operands = instruction.attributes, instruction.operands
    match attributes:
        case Call(to_apply=called) | Fusion(calls=called) | While(body=called):
            yield called, operands
        case Conditional():
            for branch, operand in zip(attributes.branches(), operands[1:], strict=True):
                yield branch, (operand,)


def _inlined(
    module: Module,
    computation: Computation,
    instruction: Instruction,
    called: Computation,
    operands: Sequence[Instruction],
) -> Module:
    new = {instruction: inline(called, operands).root}
    return _with_changed(module, computation, new)


def simplified(module: Module) -> Iterator[Candidate]:
    """What a pass makes of it: loops lose state, calls vanish."""
    for transform in _PASSES:
        yield partial(_passed, module, transform)


def _passed(module: Module, transform: Pass) -> Module:
    """The fault may be the pass's own."""
    with unexpected_are_bugs():
        return transform(module, PassContext(strict=True))


def _with_entry(module: Module, entry: Computation) -> Module:
    return replace(module, entry=entry, extra_computations=())


def _with_changed(
    module: Module, computation: Computation, new: dict[Instruction, Instruction]
) -> Module:
    """The module with instructions of one computation replaced."""

    def transform(
        old: Computation, callees: dict[Computation, Computation]
    ) -> Computation:
        changed = _replaced(old, new) if old is computation else old
        return rewrite_computation(changed, lambda i: i, callees)

    return map_computations(module, transform)


def _replaced(
    computation: Computation, new: dict[Instruction, Instruction]
) -> Computation:
    kept = replace(computation, side_roots=())
    return rewrite_with_old(kept, lambda old, rebuilt: _chosen(old, rebuilt, new))


def _chosen(
    old: Instruction, rebuilt: Instruction, new: dict[Instruction, Instruction]
) -> Instruction:
    return new.get(old, rebuilt)
