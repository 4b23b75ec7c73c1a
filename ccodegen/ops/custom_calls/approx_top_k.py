"""ApproxTopK and PartialReduce: what jax.lax.approx_max_k lowers to. Ours is exact."""

from __future__ import annotations

from collections.abc import Sequence

from ccodegen.hlo.attributes import PaddingDimension, SliceDimension
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.shape import ArrayShape, TupleShape
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.backend_config import backend_config_of
from ccodegen.ops.build import derived, element_of, slice_of, tuple_of
from ccodegen.ops.custom_call import CustomCall, CustomCallDef, register_custom_call
from ccodegen.ops.movement import Pad
from ccodegen.ops.sort import Sort


def expand(instruction: Instruction) -> Instruction:
    """`custom-call(%x, %indices, %init, %no_index), called_computations={%greater},
    backend_config={reduction_dim = 1, …}` → a sort by the comparator, and its first elements.

    As many as the result has: all of `top_k`, or more where a later step aggregates them.
    """
    count = len(instruction.operands) // 2
    arrays, initial = instruction.operands[:count], instruction.operands[count:]
    comparator = _comparator(instruction)
    shape = instruction.shape
    if comparator is None or not count or not isinstance(shape, TupleShape):
        return instruction
    dimension = int(backend_config_of(instruction).get("reduction_dim", -1))
    if not 0 <= dimension < arrays[0].array_shape.rank:
        return instruction
    ordered = _sorted(instruction, arrays, dimension, comparator)
    results = (s for s in shape.elements if isinstance(s, ArrayShape))
    parts = zip(ordered, results, initial, strict=True)
    return tuple_of(instruction, [_first(instruction, a, s, i, dimension) for a, s, i in parts])


def _comparator(instruction: Instruction) -> Computation | None:
    attributes = attributes_of(instruction, CustomCall)
    called = (*attributes.called_computations, *filter(None, [attributes.to_apply]))
    return called[0] if called else None


def _sorted(
    origin: Instruction, arrays: Sequence[Instruction], dimension: int, comparator: Computation
) -> list[Instruction]:
    attributes = Sort(dimensions=(dimension,), is_stable=True, to_apply=comparator)
    if len(arrays) == 1:
        return [derived(origin, "sort", arrays[0].shape, tuple(arrays), attributes)]
    shape = TupleShape(tuple(a.shape for a in arrays))
    together = derived(origin, "sort", shape, tuple(arrays), attributes)
    return [element_of(origin, together, n) for n in range(len(arrays))]


def _first(
    origin: Instruction, array: Instruction, wanted: ArrayShape, initial: Instruction, along: int
) -> Instruction:
    """The first elements along a dimension, filled up with the initial value."""
    sizes = array.array_shape.dimensions
    count = min(sizes[along], wanted.dimensions[along])
    slices = [SliceDimension(0, count if d == along else n) for d, n in enumerate(sizes)]
    part = slice_of(origin, array, slices)
    missing = wanted.dimensions[along] - count
    if not missing:
        return part
    padding = tuple(PaddingDimension(0, missing if d == along else 0) for d in range(len(sizes)))
    plain = wanted.with_dimensions(wanted.dimensions)
    return derived(origin, "pad", plain, (part, initial), Pad(padding))


for _target in ("ApproxTopK", "PartialReduce"):
    register_custom_call(CustomCallDef(_target, expand=expand))
