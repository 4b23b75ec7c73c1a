"""The sweep that passes are made of: operands first, each instruction once, no recursion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace

from ccodegen.hlo.attributes import Attributes, AttrKind
from ccodegen.hlo.ir import Computation, Instruction, Module

Visit = Callable[[Instruction], Instruction]


def rewrite_computation(
    computation: Computation,
    visit: Visit,
    callees: dict[Computation, Computation] | None = None,
) -> Computation:
    """The computation with `visit` applied to each instruction over already rewritten operands.

    `visit` returns its argument for "leave it". `callees` maps called computations to their new
    forms. Side roots without a side effect are dropped by `drop_dead`, not here. The same object
    comes back when nothing changed.
    """
    return rewrite_with_old(computation, lambda _, new: visit(new), callees)


def rewrite_with_old(
    computation: Computation,
    visit: Callable[[Instruction, Instruction], Instruction],
    callees: dict[Computation, Computation] | None = None,
) -> Computation:
    """`rewrite_computation` whose `visit(old, new)` also gets the instruction as it was, for
    passes that look up what an analysis has said about it."""
    callees = callees or {}
    memo: dict[Instruction, Instruction] = {}
    is_same = all(old is new for old, new in callees.items())
    for old in computation.instructions:
        new = visit(old, old if is_same else _rebuilt(old, memo, callees))
        is_same = is_same and new is old
        memo[old] = new
    if is_same:
        return computation
    return replace(
        computation,
        parameters=tuple(memo[p] for p in computation.parameters),
        root=memo[computation.root],
        side_roots=tuple(dict.fromkeys(memo[r] for r in computation.side_roots)),
    )


def rewrite_module(module: Module, visit: Visit) -> Module:
    """`rewrite_computation` over every computation, called ones first."""
    return map_computations(module, lambda c, callees: rewrite_computation(c, visit, callees))


def map_computations(
    module: Module,
    transform: Callable[[Computation, dict[Computation, Computation]], Computation],
) -> Module:
    """The module with each computation transformed, called ones first.

    `transform(computation, callees)` gets the new forms of what was transformed before and must
    put them in place of the old ones (rewrite_computation does).
    """
    callees: dict[Computation, Computation] = {}
    for computation in module.computations:
        callees[computation] = transform(computation, callees)
    if all(old is new for old, new in callees.items()):
        return module
    extra = tuple(callees[c] for c in module.extra_computations)
    return replace(module, entry=callees[module.entry], extra_computations=extra)


def transform_computations(
    module: Module, transform: Callable[[Computation], Computation]
) -> Module:
    """The module with each computation transformed, once it calls the new forms of others."""

    def with_new_callees(
        computation: Computation, callees: dict[Computation, Computation]
    ) -> Computation:
        return transform(rewrite_computation(computation, lambda i: i, callees))

    return map_computations(module, with_new_callees)


def _rebuilt(
    old: Instruction,
    memo: dict[Instruction, Instruction],
    callees: dict[Computation, Computation],
) -> Instruction:
    new = old.with_operands(tuple([memo[o] for o in old.operands]))
    control = tuple([memo[c] for c in old.control_predecessors])
    if control != old.control_predecessors:
        new = replace(new, control_predecessors=control)
    attributes = with_callees(old.attributes, callees)
    return new if attributes is old.attributes else replace(new, attributes=attributes)


def with_callees(
    attributes: Attributes, callees: dict[Computation, Computation]
) -> Attributes:
    """The attributes with called computations replaced; the same object where none is."""
    if not callees or not any(callees.get(c, c) is not c for c in attributes.computations()):
        return attributes
    changed = {}
    for f in fields(attributes):
        kind, value = f.metadata.get("kind"), getattr(attributes, f.name)
        if kind is AttrKind.COMPUTATION and value is not None:
            changed[f.name] = callees.get(value, value)
        elif kind is AttrKind.COMPUTATIONS:
            changed[f.name] = tuple(callees.get(c, c) for c in value)
    return replace(attributes, **changed)
