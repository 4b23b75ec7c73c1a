"""Gives each value of dynamic shape its bound as its shape, and its sizes as values of their own.

See `hlo.dynamic` for what such a value is. How each op does it is imported where a program has such
values, which few have.
"""

from __future__ import annotations

from dataclasses import replace

from ccodegen.hlo.dynamic import is_dynamic
from ccodegen.hlo.ir import Module
from ccodegen.hlo.shape import UNBOUNDED, ArrayShape, leaves
from ccodegen.passes.context import PassContext
from ccodegen.passes.expose_sizes import expose_sizes
from ccodegen.support.errors import UnsupportedError


def pad_dynamic(module: Module, context: PassContext) -> Module:
    """`reduce(f32[<=8] %x, %zero), to_apply=add` → `%x = f32[8] parameter(0)`,
    `%n = s32[] parameter(1)`, `reduce(select(iota < %n, %x, -0), %zero)`.

    The entry's interface is that of `expose_sizes`. Raises UnsupportedError for unbounded
    dimensions, and for an op that mixes elements of a dynamic dimension in a way we cannot write.
    """
    if not is_dynamic(module):
        return module
    from ccodegen.passes.dynamic.converter import Converter

    _check_bounds(module)
    module = expose_sizes(module)
    entry = Converter().entry(module.entry)
    return replace(module, entry=entry, extra_computations=())


def _check_bounds(module: Module) -> None:
    for computation in module.computations:
        for i in computation.instructions:
            arrays = [s for s in leaves(i.shape) if isinstance(s, ArrayShape)]
            if any(UNBOUNDED in s.dimensions for s in arrays):
                message = f"{i.op} '{i.name}' of shape {i.shape}, which has no bound"
                hint = "give the dimension a bound: f32[<=8]"
                raise UnsupportedError(message, i.location, hint)
