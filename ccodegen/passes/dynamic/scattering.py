"""scatter: what does not count is sent out of bounds, where it is dropped."""

from __future__ import annotations

from collections.abc import Sequence

from ccodegen.hlo.ir import Instruction
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.gather import index_batch_dims
from ccodegen.ops.scatter import Scatter
from ccodegen.passes.constants import highest
from ccodegen.passes.dynamic.reductions import neutral_of
from ccodegen.passes.dynamic.values import Padded, Sizes, of_tuple, whole
from ccodegen.passes.dynamic.writer import Writer, merged_size, only
from ccodegen.support.element_type import Kind


def scatter(write: Writer, operands: Sequence[Padded]) -> Padded:
    """Windows beyond the actual sizes of indices or updates get an index that fits nowhere;
    elements beyond the size of a window that is not all of the operand's change nothing."""
    count = len(operands) // 2
    targets, indices, updates = operands[:count], operands[count], operands[count + 1 :]
    batch = _batch_sizes(write, indices, updates)
    windows = [_window_filled(write, t, u) for t, u in zip(targets, updates, strict=True)]
    values = (*(t.value for t in targets), _dropping(write, indices.value, batch), *windows)
    made = write.over(*values)
    if count == 1:
        return Padded(made, targets[0].sizes)
    pairs = zip(whole(made).elements, targets, strict=True)
    return of_tuple(made, [Padded(part.value, target.sizes) for part, target in pairs])


def _batch_sizes(write: Writer, indices: Padded, updates: Sequence[Padded]) -> Sizes:
    """The sizes of the indices' dimensions, as far as they run over windows."""
    attributes = attributes_of(write.plain, Scatter)
    vector = attributes.index_vector_dim
    if vector < len(indices.sizes) and indices.sizes[vector] is not None:
        write.refuse("the index vectors are dynamic")
    places = attributes.batch_dims(len(updates[0].sizes))
    sizes = list(indices.sizes)
    for d, place in zip(index_batch_dims(len(sizes), vector), places, strict=True):
        sizes[d] = merged_size(sizes[d], *(u.sizes[place] for u in updates))
    return tuple(sizes)


def _dropping(write: Writer, indices: Instruction, sizes: Sizes) -> Instruction:
    if not any(sizes):
        return indices
    if not attributes_of(write.plain, Scatter).scatter_dims_to_operand_dims:
        write.refuse("it has no index by which to drop a window")
    element_type = indices.array_shape.element_type
    nowhere = -1 if element_type.kind is Kind.SIGNED else highest(element_type)
    return write.filled(indices, sizes, write.scalar(nowhere, element_type))


def _window_filled(write: Writer, target: Padded, update: Padded) -> Instruction:
    attributes = attributes_of(write.plain, Scatter)
    rank = len(target.sizes)
    pairs = zip(attributes.window_operand_dims(rank), attributes.update_window_dims, strict=True)
    partial = [
        u
        for d, u in pairs
        if update.sizes[u] is not None
        and not (target.sizes[d] is not None and update.bounds[u] == target.bounds[d])
    ]
    sizes = only(update.sizes, partial)
    if not any(sizes):
        return update.value
    element_type = update.value.array_shape.element_type
    neutral = neutral_of(attributes.to_apply, element_type)
    if neutral is None:
        write.refuse("its windows are dynamic, and its computation has no neutral value")
    return write.filled(update.value, sizes, write.scalar(neutral, element_type))
