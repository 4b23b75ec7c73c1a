"""Merges ops that only move elements, and drops those that move nothing."""

from __future__ import annotations

from ccodegen.hlo.ir import Module
from ccodegen.passes.context import PassContext
from ccodegen.passes.rules import (
    apply_rules,
    assembly,
    broadcast,
    degenerate,
    merged,
    place,
    reshape,
    scatter,
    slice,
    squeeze,
    window,
)

_RULES = merged(
    module.RULES
    for module in (degenerate, reshape, broadcast, slice, assembly, place, scatter, squeeze, window)
)


def simplify_movement(module: Module, context: PassContext) -> Module:
    """`broadcast(reshape(%x))` → `broadcast(%x)`; `transpose(transpose(%x))` → `transpose(%x)`.

    The rules of `passes/rules/` say which. No element is computed another way, so all bits stay.
    """
    return apply_rules(module, context, _RULES)
