"""Removes what no result and no side effect needs."""

from __future__ import annotations

from dataclasses import replace

from ccodegen.hlo.effects import has_side_effect
from ccodegen.hlo.ir import Computation, Module
from ccodegen.hlo.rewrite import map_computations, rewrite_computation
from ccodegen.passes.context import PassContext


def drop_dead(module: Module, context: PassContext) -> Module:
    """Side roots without a side effect, and computations that nobody calls, vanish.

    ```
    %unused = add(%x, %x)
    ROOT %y = negate(%x)        →   ROOT %y = negate(%x)
    ```
    """
    kept = replace(module, extra_computations=()) if module.extra_computations else module

    def transform(
        computation: Computation, callees: dict[Computation, Computation]
    ) -> Computation:
        return _without_dead(rewrite_computation(computation, lambda i: i, callees))

    return map_computations(kept, transform)


def _without_dead(computation: Computation) -> Computation:
    alive = tuple(r for r in computation.side_roots if has_side_effect(r))
    if len(alive) == len(computation.side_roots):
        return computation
    return replace(computation, side_roots=alive)
