"""ragged-dot: a dot in which one left dimension is a row of groups, one after the other.

Which dimension is ragged makes three ops, here without batch dimensions:

    rows        [m,k] · [g,k,n] → [m,n]     a group of rows meets a right matrix of its own;
                                            rows after the last group give zeros
    contracted  [m,k] · [k,n] → [g,m,n]     each group of products is a sum of its own
    batch       [b,m,k] · [b,k,n] → [b,m,n] a dot: where batches begin or end changes nothing

The sizes of the groups are one vector, or one for each index of the dimensions that come before the
ragged one: the batch dimensions, then the other rows or contracted ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ccodegen.hlo.attributes import AttrKind, attr
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import ArrayShape, Shape
from ccodegen.loop.builder import apply, compare, const, index
from ccodegen.loop.ir import INDEX, Expr, Index
from ccodegen.ops import contraction
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.dot import Dot, dot_shape, free, joined
from ccodegen.ops.fold import Array, converted
from ccodegen.ops.index import exact, plus
from ccodegen.ops.lowering import ElementScope
from ccodegen.ops.precision import widened
from ccodegen.ops.shape_checks import arrays, dimension_numbers, require
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import frozen

PRED, S64 = ElementType.PRED, ElementType.S64


@frozen
class RaggedDot(Dot):
    lhs_ragged_dims: tuple[int, ...] = attr(AttrKind.INTS, ())
    rhs_group_dims: tuple[int, ...] = attr(AttrKind.INTS, ())

    @property
    def ragged(self) -> int:
        return self.lhs_ragged_dims[0]

    @property
    def splits_sums(self) -> bool:
        """Whether the ragged dimension is contracted, so that the groups are the result's first."""
        return self.ragged in self.lhs_contracting_dims

    def rows(self, rank: int) -> tuple[int, ...]:
        return free(rank, self.lhs_batch_dims + self.lhs_contracting_dims)

    def columns(self, rank: int) -> tuple[int, ...]:
        used = self.rhs_batch_dims + self.rhs_contracting_dims + self.rhs_group_dims
        return free(rank, used)

    def before(self, rank: int) -> tuple[int, ...]:
        """The left dimensions that may have group sizes of their own."""
        if self.ragged in self.lhs_batch_dims:
            return self.lhs_batch_dims[: self.lhs_batch_dims.index(self.ragged)]
        own = self.lhs_contracting_dims if self.splits_sums else self.rows(rank)
        return self.lhs_batch_dims + own[: own.index(self.ragged)]


def infer(shapes: tuple[Shape, ...], attributes: RaggedDot) -> ArrayShape:
    lhs, rhs, group_sizes = arrays("ragged-dot", (*widened(shapes[:2]), shapes[2]))
    require(len(attributes.lhs_ragged_dims) == 1, "ragged-dot takes one ragged dimension")
    dimension_numbers("ragged-dot", attributes.lhs_ragged_dims, lhs.rank)
    result = dot_shape("ragged-dot", lhs, rhs, attributes, attributes.rhs_group_dims)
    require(group_sizes.rank > 0, "ragged-dot takes a size for each group, not one scalar")
    before = tuple(lhs.dimensions[d] for d in attributes.before(lhs.rank))
    require(
        group_sizes.rank == 1 or group_sizes.dimensions[:-1] == before,
        f"ragged-dot: the group sizes are one vector, or one for each of {list(before)}, not"
        f" {group_sizes}",
    )
    by_rows = attributes.ragged in attributes.rows(lhs.rank)
    require(
        len(attributes.rhs_group_dims) == by_rows,
        "ragged-dot takes one group dimension on the right where rows are ragged, else none",
    )
    if by_rows:
        groups = rhs.dimensions[attributes.rhs_group_dims[0]]
        require(
            groups == group_sizes.dimensions[-1],
            f"ragged-dot: {group_sizes} are not the sizes of the {groups} groups of {rhs}",
        )
    if not attributes.splits_sums:
        return result
    return joined(ArrayShape(result.element_type, group_sizes.dimensions[-1:]), result)


def evaluate(
    evaluator: Any, instruction: Instruction, lhs: Array, rhs: Array, sizes: Array
) -> Array:
    """A dot for each group, with what is not of the group left out."""
    a = attributes_of(instruction, RaggedDot)
    if a.ragged in a.lhs_batch_dims:
        return _masked_dot(instruction, lhs, rhs, None)
    ends = np.cumsum(np.maximum(exact(sizes), 0), axis=-1)
    starts = np.concatenate([np.zeros_like(ends[..., :1]), ends[..., :-1]], -1)
    parts = []
    for group in range(sizes.shape[-1]):
        inside = _inside(a, lhs, starts[..., group], ends[..., group])
        own = np.take(rhs, group, a.rhs_group_dims[0]) if a.rhs_group_dims else rhs
        parts.append((inside, own))
    if a.splits_sums:
        made = [_masked_dot(instruction, lhs, rhs, inside) for inside, _ in parts]
        return np.stack(made) if made else _zeros(instruction)
    result = _zeros(instruction)
    for inside, own in parts:
        found = _masked_dot(instruction, lhs, own, None)
        result = np.where(_of_result(a, inside, lhs.ndim, result.ndim), found, result)
    return result


def _zeros(instruction: Instruction) -> Array:
    shape = instruction.array_shape
    return np.zeros(shape.dimensions).astype(shape.element_type.dtype)


def _inside(a: RaggedDot, lhs: Array, start: Array, end: Array) -> Array:
    """For each left element, all dimensions but a few of size 1, whether it is of the group."""
    before = a.before(lhs.ndim)
    shape = [1] * lhs.ndim
    limits = []
    for limit in (start, end):
        if limit.ndim:
            order = np.argsort(before)
            for d in before:
                shape[d] = lhs.shape[d]
            limits.append(limit.transpose(order).reshape(shape))
        else:
            limits.append(limit)
    along = [1] * lhs.ndim
    along[a.ragged] = lhs.shape[a.ragged]
    place = np.arange(lhs.shape[a.ragged]).reshape(along)
    return np.asarray((place >= limits[0]) & (place < limits[1]))


def _of_result(a: RaggedDot, inside: Array, rank: int, result_rank: int) -> Array:
    """What `_inside` says of rows, with the dimensions of the result."""
    kept = a.lhs_batch_dims + a.rows(rank)
    dropped = tuple(d for d in range(rank) if d not in kept)
    moved = inside.transpose((*kept, *dropped))
    moved = moved.reshape(moved.shape[: len(kept)])
    return moved.reshape(moved.shape + (1,) * (result_rank - len(kept)))


def _masked_dot(
    instruction: Instruction, lhs: Array, rhs: Array, inside: Array | None
) -> Array:
    """The dot of the products that are inside. `rhs` has no group dimension any more."""
    a = attributes_of(instruction, RaggedDot)
    accumulator = contraction.accumulator_type(instruction)
    rhs_batch, rhs_depth = (_less(dims, a) for dims in (a.rhs_batch_dims, a.rhs_contracting_dims))
    rows, columns = a.rows(lhs.ndim), free(rhs.ndim, rhs_batch + rhs_depth)
    left = contraction.matrices(lhs, a.lhs_batch_dims, rows, a.lhs_contracting_dims)
    right = contraction.matrices(rhs, rhs_batch, rhs_depth, columns)
    whole = np.broadcast_to(True if inside is None else inside, lhs.shape)
    mask = contraction.matrices(whole, a.lhs_batch_dims, rows, a.lhs_contracting_dims)
    total = np.zeros((*left.shape[:2], right.shape[2]), accumulator.dtype)
    for k in range(left.shape[2]):
        column, row = (m.astype(accumulator.dtype) for m in (left[:, :, k], right[:, k]))
        product = contraction.product(column[:, :, None], row[:, None, :], accumulator)
        total = np.where(mask[:, :, k, None], total + product, total)
    result = contraction.narrowed(total, instruction.array_shape.element_type)
    sizes = [lhs.shape[d] for d in a.lhs_batch_dims + rows] + [rhs.shape[d] for d in columns]
    return result.reshape(sizes)


def _less(dimensions: tuple[int, ...], a: RaggedDot) -> tuple[int, ...]:
    """The numbers of right dimensions once the group dimension is gone."""
    gone = a.rhs_group_dims
    return tuple(d - sum(g < d for g in gone) for d in dimensions)


def element(scope: ElementScope, instruction: Instruction, at: Index) -> Expr:
    """A sum over the depth. Products of other groups are left out."""
    a = attributes_of(instruction, RaggedDot)
    b, accumulator = scope.builder, contraction.accumulator_type(instruction)
    places = _Places(scope, instruction, at)
    total = b.variable(const(accumulator, 0), "acc")
    inside = places.choose_group() if a.rhs_group_dims else None
    depth_sizes = [instruction.operands[0].array_shape.dimensions[d] for d in places.depth]
    with b.loops(depth_sizes, "k") as depth:
        places.enter(depth)
        if a.splits_sums:
            inside = places.is_of(at[0])

        def sum_so_far() -> Expr:
            factors = (converted(places.value(n), accumulator) for n in range(2))
            return apply("add", b.load(total), apply("multiply", *factors))

        if inside is None:
            b.store(total, (), sum_so_far())
        else:
            with b.when(inside):
                b.store(total, (), sum_so_far())
    return converted(b.load(total), instruction.array_shape.element_type)


class _Places:
    """Where the factors of one element's products stand: an index by operand dimension."""

    def __init__(self, scope: ElementScope, instruction: Instruction, at: Index) -> None:
        self._scope, self._builder = scope, scope.builder
        self._a = a = attributes_of(instruction, RaggedDot)
        self._sizes = instruction.operands[2].array_shape
        lhs, rhs = (o.array_shape for o in instruction.operands[:2])
        self._rank = lhs.rank
        self.depth = a.lhs_contracting_dims
        rest = at[1:] if a.splits_sums else at
        shared, rows = len(a.lhs_batch_dims), a.rows(lhs.rank)
        left = a.lhs_batch_dims + rows
        self._left = dict(zip(left, rest, strict=False))
        others = rest[:shared] + rest[len(left) :]
        self._right = dict(zip(a.rhs_batch_dims + a.columns(rhs.rank), others, strict=True))

    def enter(self, depth: Index) -> None:
        """Inside of the loops over the depth."""
        self._left.update(zip(self._a.lhs_contracting_dims, depth, strict=True))
        self._right.update(zip(self._a.rhs_contracting_dims, depth, strict=True))

    def value(self, number: int) -> Expr:
        place = (self._left, self._right)[number]
        return self._scope.operand(number, tuple(place[d] for d in range(len(place))))

    def choose_group(self) -> Expr:
        """Finds the group of the row; returns whether there is one."""
        b, count = self._builder, self._sizes.dimensions[-1]
        group = b.variable(const(INDEX, 0), "group")
        if count > 1:
            end = b.variable(const(S64, 0), "end")
            with b.loop(count - 1, "g") as g:
                b.store(end, (), apply("add", b.load(end), self._size(g)))
                passed = compare("ge", self._ragged(), b.load(end))
                with b.when(passed):
                    b.store(group, (), plus(g, 1))
        found = b.let(b.load(group), "group") if count else index(0)
        self._right[self._a.rhs_group_dims[0]] = found
        return self.is_of(found) if count else const(PRED, False)

    def is_of(self, group: Expr) -> Expr:
        """Whether the ragged index is one of the group's."""
        b = self._builder
        start = b.variable(const(S64, 0), "start")
        with b.loop(group, "g") as g:
            b.store(start, (), apply("add", b.load(start), self._size(g)))
        first = b.let(b.load(start), "first")
        end = apply("add", first, self._size(group))
        behind = compare("ge", self._ragged(), first)
        return apply("and", behind, compare("lt", self._ragged(), end))

    def _ragged(self) -> Expr:
        return converted(self._left[self._a.ragged], S64)

    def _size(self, group: Expr) -> Expr:
        """The size of a group; a negative one is none."""
        dims = self._a.before(self._rank) if self._sizes.rank > 1 else ()
        place = (*(self._left[d] for d in dims), group)
        size = converted(self._scope.operand(2, place), S64)
        return self._builder.let(apply("maximum", size, const(S64, 0)), "size")


register(
    OpDef("ragged-dot", RaggedDot, (3, 3), infer=infer, evaluate=evaluate, element=element)
)
