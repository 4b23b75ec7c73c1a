"""Gives the entry a parameter per array: tuples are put together inside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ccodegen.hlo.ir import Alias, Computation, Instruction, Module
from ccodegen.hlo.rewrite import rewrite_with_old
from ccodegen.hlo.shape import ArrayShape, Shape, TokenShape, TupleShape
from ccodegen.ops.build import derived, tuple_of
from ccodegen.ops.creation import Parameter
from ccodegen.passes.context import PassContext
from ccodegen.passes.settle_entry_layout import settle_entry_layout

# Module attributes that name parameters by number, and would be wrong afterwards.
_OUTDATED = frozenset(
    {
        "alias_passthrough_params",
        "allow_spmd_sharding_propagation_to_parameters",
        "buffer_donor",
    }
)


def flatten_entry(module: Module, context: PassContext | None = None) -> Module:
    """`%p = (f32[2], s32[]) parameter(0)` → `%p.0 = f32[2] parameter(0)`,
    `%p.1 = s32[] parameter(1)`, and their tuple in the place of `%p`. A token is made inside, by
    `after-all()`. Results stay as they are."""
    if all(isinstance(p.shape, ArrayShape) for p in module.entry.parameters):
        return module
    module = settle_entry_layout(module)
    entry = module.entry
    leaves = flat_leaves(entry)
    parameters = [
        replace(_leaf(entry.parameters[number], path), attributes=Parameter(n))
        for n, (number, path) in enumerate(leaves)
    ]
    numbers = {leaf: n for n, leaf in enumerate(leaves)}
    aliases = tuple(_flat_alias(a, numbers) for a in module.aliases)
    flat = _over(entry, parameters)
    return replace(
        module, entry=flat, aliases=aliases, annotations=lasting(module.annotations)
    )


def lasting(annotations: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Those that stay true when the entry's parameters are numbered anew."""
    return tuple(a for a in annotations if a[0] not in _OUTDATED)


def flat_leaves(entry: Computation) -> list[tuple[int, tuple[int, ...]]]:
    """For each flat parameter number the parameter, and the path to the leaf in it."""
    return [
        (number, path)
        for number, parameter in enumerate(entry.parameters)
        for path in _paths(parameter.shape)
        if not isinstance(_part(parameter.shape, path), TokenShape)
    ]


def _paths(shape: Shape) -> Iterator[tuple[int, ...]]:
    if not isinstance(shape, TupleShape):
        yield ()
        return
    for index, element in enumerate(shape.elements):
        yield from ((index, *path) for path in _paths(element))


def _leaf(parameter: Instruction, path: tuple[int, ...]) -> Instruction:
    shape = _part(parameter.shape, path)
    leaf = derived(parameter, "parameter", shape, (), parameter.attributes)
    return replace(leaf, name=".".join([parameter.name, *map(str, path)]))


def _part(shape: Shape, path: tuple[int, ...]) -> Shape:
    for index in path:
        assert isinstance(shape, TupleShape)
        shape = shape.elements[index]
    return shape


def _over(entry: Computation, parameters: list[Instruction]) -> Computation:
    """The entry with its old parameters assembled from the new ones."""
    supply = iter(parameters)
    assembled = {p: _assembled(p, p.shape, supply) for p in entry.parameters}
    new = rewrite_with_old(entry, lambda old, rebuilt: assembled.get(old, rebuilt))
    return replace(new, parameters=tuple(parameters))


def _assembled(origin: Instruction, shape: Shape, supply: Iterator[Instruction]) -> Instruction:
    if isinstance(shape, TokenShape):
        return derived(origin, "after-all", shape)
    if not isinstance(shape, TupleShape):
        return next(supply)
    return tuple_of(origin, [_assembled(origin, element, supply) for element in shape.elements])


def _flat_alias(alias: Alias, numbers: dict[tuple[int, tuple[int, ...]], int]) -> Alias:
    number = numbers[alias.parameter, alias.parameter_index]
    return replace(alias, parameter=number, parameter_index=())
