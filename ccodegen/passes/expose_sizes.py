"""Makes the entry take and give the sizes of dynamic dimensions beside the arrays."""

from __future__ import annotations

from dataclasses import replace

from ccodegen.hlo.dynamic import dynamic_dimensions, static
from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.rewrite import rewrite_with_old
from ccodegen.hlo.shape import ArrayShape, Shape, TupleShape
from ccodegen.ops.build import derived, element_of, tuple_of
from ccodegen.ops.creation import Parameter
from ccodegen.ops.dynamic_shape import DimensionSize
from ccodegen.passes.context import PassContext
from ccodegen.passes.flatten_entry import flatten_entry
from ccodegen.passes.settle_entry_layout import settle_entry_layout
from ccodegen.support.element_type import ElementType

_S32 = ArrayShape(ElementType.S32)


def expose_sizes(module: Module, context: PassContext | None = None) -> Module:
    """`%x = f32[<=8] parameter(0)` → `%p = f32[8] parameter(0)`, `%n = s32[] parameter(1)`, and
    `f32[<=8] set-dimension-size(%p, %n)` in the place of `%x`; the root `%y` →
    `(%y, get-dimension-size(%y))`.

    The sizes come after all parameters, and after all results, in order. An entry whose interface
    is static stays as it is.
    """
    entry = module.entry
    shapes = (*(p.shape for p in entry.parameters), entry.root.shape)
    if not dynamic_dimensions(shapes):
        return module
    module = settle_entry_layout(flatten_entry(module))
    taken = _with_parameters(module.entry)
    sizes = _sizes(taken.root, module.entry.root.shape)
    if not sizes:
        return replace(module, entry=taken)
    pair = tuple_of(taken.root, (taken.root, *sizes))
    root = replace(pair, shape=static(pair.shape))
    aliases = tuple(replace(a, output_index=(0, *a.output_index)) for a in module.aliases)
    return replace(module, entry=replace(taken, root=root), aliases=aliases)


def _with_parameters(entry: Computation) -> Computation:
    parameters = [replace(p, shape=static(p.shape)) for p in entry.parameters]
    values: dict[Instruction, Instruction] = {}
    for plain, old in zip(tuple(parameters), entry.parameters, strict=True):
        value = plain
        for _, dimension in dynamic_dimensions([old.shape]):
            size = derived(plain, "parameter", _S32, (), Parameter(len(parameters)))
            parameters.append(replace(size, name=f"{old.name}_size{dimension}"))
            attributes = DimensionSize((dimension,))
            operands = (value, parameters[-1])
            value = derived(plain, "set-dimension-size", old.shape, operands, attributes)
        values[old] = value
    made = rewrite_with_old(entry, lambda old, new: values.get(old, new))
    return replace(made, parameters=tuple(parameters))


def _sizes(value: Instruction, shape: Shape) -> list[Instruction]:
    if isinstance(shape, TupleShape):
        parts = (element_of(value, value, n) for n in range(len(shape.elements)))
        pairs = zip(parts, shape.elements, strict=True)
        return [size for part, own in pairs for size in _sizes(part, own)]
    return [
        derived(value, "get-dimension-size", _S32, (value,), DimensionSize((dimension,)))
        for _, dimension in dynamic_dimensions([shape])
    ]
