"""Removes what no result and no side effect needs."""

from __future__ import annotations

from dataclasses import replace

from ccodegen.hlo.effects import has_side_effect
from ccodegen.hlo.ir import Computation, Module
from ccodegen.hlo.rewrite import transform_computations
from ccodegen.passes.context import PassContext


def drop_dead(module: Module, context: PassContext) -> Module:
    """Side roots without a side effect, and computations that nobody calls, vanish.

    ```
    %unused = add(%x, %x)
    ROOT %y = negate(%x)        →   ROOT %y = negate(%x)
    ```
    """
    kept = replace(module, extra_computations=()) if module.extra_computations else module

    return transform_computations(kept, _without_dead)


def _without_dead(computation: Computation) -> Computation:
    alive = tuple(r for r in computation.side_roots if has_side_effect(r))
    if len(alive) == len(computation.side_roots):
        return computation
    return replace(computation, side_roots=alive)
