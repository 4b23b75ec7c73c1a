"""Makes the entry take and give arrays as they lie in memory."""

from __future__ import annotations

from dataclasses import replace

from ccodegen.hlo.attributes import PaddingDimension, SliceDimension
from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.layout import is_packed, major_to_minor, memory_shape
from ccodegen.hlo.rewrite import rewrite_with_old
from ccodegen.hlo.shape import ArrayShape, Shape, TupleShape, leaves
from ccodegen.ops.build import (
    constant,
    derived,
    element_of,
    reshape,
    slice_of,
    transpose,
    tuple_of,
)
from ccodegen.ops.movement import Pad
from ccodegen.passes.context import PassContext
from ccodegen.passes.settle_entry_layout import settle_entry_layout
from ccodegen.support.immutable import immutable


def expose_layouts(module: Module, context: PassContext | None = None) -> Module:
    """`%x = f32[2,3]{0,1} parameter(0)` → `%p = f32[3,2] parameter(0)`, and its transpose in the
    place of `%x`; results likewise. `s4[7]{0:E(4)}` is `u8[4]`, of which the values are taken.

    The entry's parameters are arrays, not tuples. Row-major interfaces stay as they are.
    """
    module = settle_entry_layout(module)
    shapes = (*(p.shape for p in module.entry.parameters), module.entry.root.shape)
    if not any(has_layout(leaf) for shape in shapes for leaf in leaves(shape)):
        return module
    entry = _with_parameters(module.entry)
    root = entry.root
    exposed = _exposed(root, root, module.entry.root.shape)
    # What is dynamic is as it was said, not as it is inside.
    said = replace(exposed, shape=_memory_shapes(module.entry.root.shape))
    return replace(module, entry=replace(entry, root=said))


@immutable
class Interface:
    """What the entry takes and gives, with the layouts: a shape per parameter, and the root's."""

    parameters: tuple[Shape, ...]
    result: Shape


def interface(module: Module) -> Interface:
    entry = settle_entry_layout(module).entry
    return Interface(tuple(p.shape for p in entry.parameters), entry.root.shape)


def has_layout(shape: Shape) -> bool:
    """Whether its memory is not simply the row-major array."""
    if not isinstance(shape, ArrayShape):
        return False
    return is_packed(shape) or major_to_minor(shape) != tuple(range(shape.rank))


def _with_parameters(entry: Computation) -> Computation:
    made = {p: _parameter(p) for p in entry.parameters if has_layout(p.shape)}
    logical = {old: _from_memory(new, old.array_shape) for old, new in made.items()}
    rewritten = rewrite_with_old(entry, lambda old, new: logical.get(old, new))
    parameters = tuple(made.get(p, p) for p in entry.parameters)
    return replace(rewritten, parameters=parameters)


def _parameter(parameter: Instruction) -> Instruction:
    return replace(parameter, shape=memory_shape(parameter.array_shape))


def _from_memory(memory: Instruction, shape: ArrayShape) -> Instruction:
    """The logical value; its shape keeps the layout, which a bitcast may look at."""
    order = major_to_minor(shape)
    physical = memory
    if is_packed(shape):
        each = 8 // shape.element_type.bits
        pairs = ArrayShape(shape.element_type, (*memory.array_shape.dimensions, each))
        values = derived(memory, "bitcast-convert", pairs, (memory,))
        flat = reshape(memory, values, (pairs.size,))
        taken = slice_of(memory, flat, [SliceDimension(0, shape.size, 1)])
        physical = reshape(memory, taken, [shape.dimensions[d] for d in order])
    value = transpose(memory, physical, sorted(range(shape.rank), key=order.__getitem__))
    return replace(value, shape=shape)


def _memory_shapes(shape: Shape) -> Shape:
    if isinstance(shape, TupleShape):
        return TupleShape(tuple(map(_memory_shapes, shape.elements)))
    return memory_shape(shape) if isinstance(shape, ArrayShape) and has_layout(shape) else shape


def _exposed(origin: Instruction, value: Instruction, shape: Shape) -> Instruction:
    if isinstance(shape, TupleShape):
        parts = [element_of(origin, value, n) for n in range(len(shape.elements))]
        made = [_exposed(origin, p, s) for p, s in zip(parts, shape.elements, strict=True)]
        return tuple_of(origin, made)
    return _to_memory(value, shape) if isinstance(shape, ArrayShape) else value


def _to_memory(value: Instruction, shape: ArrayShape) -> Instruction:
    if not has_layout(shape):
        return value
    physical = transpose(value, value, major_to_minor(shape))
    if not is_packed(shape):
        return physical
    memory = memory_shape(shape)
    each = 8 // shape.element_type.bits
    flat = reshape(value, physical, (shape.size,))
    zero = constant(value, shape.element_type.dtype.type(0).reshape(()))
    missing = memory.size * each - shape.size
    padded = derived(
        value,
        "pad",
        flat.array_shape.with_dimensions((memory.size * each,)),
        (flat, zero),
        Pad((PaddingDimension(0, missing, 0),)),
    )
    grouped = reshape(value, padded, (memory.size, each))
    return derived(value, "bitcast-convert", memory, (grouped,))
