"""Ops whose places are known at run time only; start indices are often out of bounds."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.shape import ArrayShape
from tests.random_modules.body import S32, Body
from tests.random_modules.functions import combiner
from tests.random_modules.values import SMALL_SIZES


def dynamic_slice(body: Body) -> Instruction:
    value = body.any(1)
    sizes = tuple(body.random.randint(0, d) for d in value.array_shape.dimensions)
    return body.op("dynamic-slice", value, *_starts(body, len(sizes)), dynamic_slice_sizes=sizes)


def dynamic_update_slice(body: Body) -> Instruction:
    value = body.any(1)
    sizes = tuple(body.random.randint(0, d) for d in value.array_shape.dimensions)
    update = body.like(value.array_shape.with_dimensions(sizes))
    return body.op("dynamic-update-slice", value, update, *_starts(body, len(sizes)))


def _starts(body: Body, rank: int) -> list[Instruction]:
    """Start indices, of one type, scalars or a vector of them."""
    first = body.index()
    kind = first.array_shape.element_type
    if body.chance(0.1):
        return [body.like(ArrayShape(kind, (rank,)))]
    return [first, *(body.scalar(kind) for _ in range(rank - 1))]


@dataclass(frozen=True)
class _Roles:
    """What the dimensions of the operand of a gather or scatter do.

    `indexed`: those that index vectors speak of, in their order; `dropped`: those of them that
    windows do not have; `batching`: those that run with a dimension of the indices. `sizes`: of
    the windows.
    """

    indexed: tuple[int, ...]
    dropped: tuple[int, ...]
    batching: tuple[int, ...]
    sizes: tuple[int, ...]

    @property
    def offset(self) -> tuple[int, ...]:
        """The dimensions that windows keep."""
        gone = (*self.dropped, *self.batching)
        return tuple(d for d in range(len(self.sizes)) if d not in gone)


def _roles(body: Body, shape: ArrayShape) -> _Roles:
    order = list(range(shape.rank))
    body.random.shuffle(order)
    batching = order[: body.random.choice((0, 0, 0, 1, 1, 2))]
    rest = order[len(batching) :]
    indexed = rest[: body.random.randint(min(1, len(rest)), len(rest))]
    dropped = [d for d in rest if shape.dimensions[d] and body.chance(0.5)]
    sizes = [body.random.randint(0 if body.chance(0.1) else 1, max(n, 1)) for n in shape.dimensions]
    sizes = [min(s, n) for s, n in zip(sizes, shape.dimensions, strict=True)]
    for d in dropped:
        sizes[d] = 1
    for d in batching:
        sizes[d] = min(1, shape.dimensions[d])
    return _Roles(
        tuple(indexed), tuple(sorted(dropped)), tuple(sorted(batching)), tuple(sizes)
    )


@dataclass(frozen=True)
class _Indices:
    """`batching`: dimensions of the indices that run with the operand's; `batch`: the sizes of
    all dimensions but the index vectors'."""

    array: Instruction
    vector: int
    batching: tuple[int, ...]
    batch: tuple[int, ...]


def _indices(body: Body, shape: ArrayShape, roles: _Roles) -> _Indices:
    extra = [body.random.choice(SMALL_SIZES) for _ in range(body.random.choice((0, 1, 1, 2)))]
    sizes = [(d, shape.dimensions[d]) for d in roles.batching] + [(-1, n) for n in extra]
    body.random.shuffle(sizes)
    places = {d: n for n, (d, _) in enumerate(sizes)}
    batch = tuple(n for _, n in sizes)
    count = len(roles.indexed)
    vector = body.random.randint(0, len(batch))
    dims = (*batch[:vector], count, *batch[vector:])
    if count == 1 and body.chance(0.3):
        vector, dims = len(batch), batch
    batching = [places[d] for d in roles.batching]
    batching = [b + (b >= vector and len(dims) > len(batch)) for b in batching]
    kind = S32 if body.chance(0.7) else body.type_where(lambda t: t.is_integer)
    array = body.like(ArrayShape(kind, dims))
    return _Indices(array, vector, tuple(batching), batch)


def _window_dims(body: Body, roles: _Roles, batch: int) -> tuple[int, ...]:
    """Where the windows' dimensions stand among those of the result or the updates."""
    count = len(roles.offset)
    return tuple(sorted(body.random.sample(range(count + batch), count)))


def _laid_out(windows: tuple[int, ...], roles: _Roles, batch: tuple[int, ...]) -> tuple[int, ...]:
    kept, rest = iter([roles.sizes[d] for d in roles.offset]), iter(batch)
    return tuple(next(kept if d in windows else rest) for d in range(len(windows) + len(batch)))


def gather(body: Body) -> Instruction:
    value = body.any(1)
    roles = _roles(body, value.array_shape)
    indices = _indices(body, value.array_shape, roles)
    return body.op(
        "gather",
        value,
        indices.array,
        offset_dims=_window_dims(body, roles, len(indices.batch)),
        collapsed_slice_dims=roles.dropped,
        start_index_map=roles.indexed,
        index_vector_dim=indices.vector,
        slice_sizes=roles.sizes,
        operand_batching_dims=roles.batching,
        start_indices_batching_dims=indices.batching,
    )


def scatter(body: Body) -> Instruction:
    value = body.any(1)
    shape = value.array_shape
    roles = _roles(body, shape)
    indices = _indices(body, shape, roles)
    windows = _window_dims(body, roles, len(indices.batch))
    updates = body.like(shape.with_dimensions(_laid_out(windows, roles, indices.batch)))
    return body.op(
        "scatter",
        value,
        indices.array,
        updates,
        to_apply=combiner(body, shape.element_type),
        update_window_dims=windows,
        inserted_window_dims=roles.dropped,
        scatter_dims_to_operand_dims=roles.indexed,
        index_vector_dim=indices.vector,
        input_batching_dims=roles.batching,
        scatter_indices_batching_dims=indices.batching,
    )
