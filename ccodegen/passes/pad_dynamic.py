"""Gives each value of dynamic shape its bound as its shape, and its sizes as values of their own.

See `hlo.dynamic` for what such a value is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ccodegen.hlo.dynamic import dynamic_dimensions, is_dynamic, static
from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.shape import UNBOUNDED, ArrayShape, leaves
from ccodegen.ops.build import constant, derived, elementwise, splat, tuple_of
from ccodegen.ops.creation import Parameter
from ccodegen.passes.context import PassContext
from ccodegen.passes.dynamic import control
from ccodegen.passes.dynamic.rules import written
from ccodegen.passes.dynamic.values import (
    Flags,
    Padded,
    bundled,
    declared_flags,
    flags_of,
    size_values,
    unbundled,
    union,
    whole,
    with_sizes,
)
from ccodegen.passes.dynamic.writer import Writer
from ccodegen.passes.flatten_entry import lasting
from ccodegen.support.element_type import ElementType
from ccodegen.support.errors import UnsupportedError

_S32 = ArrayShape(ElementType.S32)


def pad_dynamic(module: Module, context: PassContext) -> Module:
    """`reduce(f32[<=8] %x, %zero), to_apply=add` → `%x = f32[8] parameter(0)`,
    `%n = s32[] parameter(1)`, `reduce(select(iota < %n, %x, -0), %zero)`.

    The entry takes the sizes of its parameters' dynamic dimensions after all its parameters, in
    order, and returns those of its results behind them, as ((results), size, …). A size that a
    caller gives is clamped to what there is room for. Raises UnsupportedError for unbounded
    dimensions, and for an op that mixes elements of a dynamic dimension in a way we cannot write.
    """
    if not is_dynamic(module):
        return module
    _check_bounds(module)
    return _Converter().module(module)


def _check_bounds(module: Module) -> None:
    for computation in module.computations:
        for i in computation.instructions:
            arrays = [s for s in leaves(i.shape) if isinstance(s, ArrayShape)]
            if any(UNBOUNDED in s.dimensions for s in arrays):
                message = f"{i.op} '{i.name}' of shape {i.shape}, which has no bound"
                hint = "give the dimension a bound: f32[<=8]"
                raise UnsupportedError(message, i.location, hint)


class _Converter:
    """Writes computations, one for each set of dynamic dimensions that it is called with."""

    def __init__(self) -> None:
        self._made: dict[tuple[object, ...], tuple[Computation, Flags]] = {}

    def module(self, module: Module) -> Module:
        old = module.entry
        parameters, values = _entry_parameters(old)
        env = dict(zip(old.parameters, values, strict=True))
        self._write(old, env)
        root = env[old.root]
        sizes = size_values(root, declared_flags(old.root.shape))
        result = tuple_of(root.value, (root.value, *sizes)) if sizes else root.value
        entry = replace(
            old, parameters=parameters, root=result, side_roots=_side_roots(old, env)
        )
        aliases = module.aliases
        if sizes:
            aliases = tuple(replace(a, output_index=(0, *a.output_index)) for a in aliases)
        annotations = lasting(module.annotations)
        return replace(
            module, entry=entry, aliases=aliases, annotations=annotations, extra_computations=()
        )

    def computation(
        self, computation: Computation, given: Sequence[Flags], wanted: Flags | None = None
    ) -> tuple[Computation, Flags]:
        """As `control.Convert`."""
        key = (computation, tuple(given), wanted)
        if key not in self._made:
            self._made[key] = self._converted(computation, given, wanted)
        return self._made[key]

    def _converted(
        self, old: Computation, given: Sequence[Flags], wanted: Flags | None
    ) -> tuple[Computation, Flags]:
        env: dict[Instruction, Padded] = {}
        parameters = []
        for parameter, flags in zip(old.parameters, given, strict=True):
            count = sum(map(sum, flags))
            plain = replace(parameter, shape=static(parameter.shape))
            sizes = [constant(plain, np.asarray(0, np.int32))] * count
            shape = tuple_of(plain, (plain, *sizes)).shape if count else plain.shape
            parameters.append(replace(plain, shape=shape))
            env[parameter] = unbundled(parameters[-1], flags)
        self._write(old, env)
        root = env[old.root]
        flags = flags_of(root) if wanted is None else union(flags_of(root), wanted)
        new = replace(
            old,
            parameters=tuple(parameters),
            root=bundled(root, flags),
            side_roots=_side_roots(old, env),
        )
        return new, flags

    def _write(self, computation: Computation, env: dict[Instruction, Padded]) -> None:
        for instruction in computation.instructions:
            if instruction not in env:
                env[instruction] = self._value(instruction, env)

    def _value(self, old: Instruction, env: dict[Instruction, Padded]) -> Padded:
        operands = [env[o] for o in old.operands]
        plain = replace(
            old,
            shape=static(old.shape),
            operands=tuple(o.value for o in operands),
            control_predecessors=tuple(env[c].value for c in old.control_predecessors),
        )
        write = Writer(old, plain)
        if old.op == "while":
            return control.while_loop(self.computation, write, operands)
        if old.op == "conditional":
            return control.conditional(self.computation, write, operands)
        if old.op == "call":
            return control.call(self.computation, write, operands)
        return written(write, operands) or whole(plain)


def _side_roots(old: Computation, env: dict[Instruction, Padded]) -> tuple[Instruction, ...]:
    return tuple(dict.fromkeys(env[root].value for root in old.side_roots))


def _entry_parameters(entry: Computation) -> tuple[tuple[Instruction, ...], list[Padded]]:
    """The parameters, then one for each size; and the values of the old ones."""
    parameters = [replace(p, shape=static(p.shape)) for p in entry.parameters]
    values = []
    for plain, old in list(zip(parameters, entry.parameters, strict=True)):
        sizes = []
        for leaf, dimension in dynamic_dimensions([old.shape]):
            bound = [s for s in leaves(plain.shape) if isinstance(s, ArrayShape)][leaf]
            name = _size_name(old, leaf, dimension)
            size = derived(plain, "parameter", _S32, (), Parameter(len(parameters)))
            parameters.append(replace(size, name=name))
            sizes.append(_within(parameters[-1], bound.dimensions[dimension]))
        values.append(with_sizes(plain, declared_flags(old.shape), sizes))
    return tuple(parameters), values


def _size_name(parameter: Instruction, leaf: int, dimension: int) -> str:
    place = f".{leaf}" if not isinstance(parameter.shape, ArrayShape) else ""
    return f"{parameter.name}{place}_size{dimension}"


def _within(size: Instruction, bound: int) -> Instruction:
    zero, most = (splat(size, n, _S32) for n in (0, bound))
    return elementwise(size, "minimum", elementwise(size, "maximum", size, zero), most)
