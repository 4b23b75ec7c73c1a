"""Random modules: small, typed, of nasty sizes, with control flow now and then.

    module = random_module(seed=7)

An exact module computes with small integers in whatever type, so that no order of operations
changes a result.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import ccodegen.ops  # noqa: F401  (fills the registry)
from ccodegen.hlo.attributes import (
    DimLabels,
    PaddingDimension,
    SliceDimension,
    Window,
    WindowDimension,
)
from ccodegen.hlo.builder import Builder, module
from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.literal import Literal
from ccodegen.hlo.shape import ArrayShape, TupleShape
from ccodegen.support.element_type import HLO_TYPES, ElementType, Kind
from ccodegen.support.errors import InputError

TYPES = [
    HLO_TYPES[name]
    for name in (
        "f32", "f32", "f32", "s32", "s32", "pred", "f16", "bf16", "s8", "u8", "u32", "s64", "f64",
        "c64",
    )
]  # fmt: skip
SIZES = (0, 1, 1, 2, 3, 4, 5, 7, 8, 13, 37)
_LARGE = (16, 17, 24, 32, 35)
_MOST_ELEMENTS = 1300
PRED, S32 = HLO_TYPES["pred"], HLO_TYPES["s32"]

_EXACT_UNARY = ("negate", "abs", "sign", "not", "floor", "ceil", "round-nearest-even", "copy")
_UNARY = (
    *_EXACT_UNARY, "exponential", "log", "tanh", "logistic", "sqrt", "rsqrt", "sine", "cosine",
    "erf", "cbrt", "is-finite", "exponential-minus-one", "log-plus-one", "popcnt",
    "count-leading-zeros", "real", "imag", "tan",
)  # fmt: skip
_EXACT_BINARY = ("add", "subtract", "maximum", "minimum", "and", "or", "xor")
_BINARY = (
    *_EXACT_BINARY, "multiply", "divide", "remainder", "power", "atan2", "shift-left",
    "shift-right-logical", "shift-right-arithmetic", "complex",
)  # fmt: skip
_COMBINERS = ("add", "maximum", "minimum", "and", "or")


def random_module(seed: int, exact: bool = False, steps: int = 14) -> Module:
    """The module of this seed."""
    maker = _Maker(random.Random(seed), exact)
    return module(maker.entry(steps), f"random_{seed}")


class _Maker:
    def __init__(self, source: random.Random, exact: bool) -> None:
        self.random = source
        self.exact = exact
        self.names = 0

    def entry(self, steps: int) -> Computation:
        body = _Body(self, "entry")
        for _ in range(self.random.randint(1, 3)):
            body.add(body.builder.parameter(body.shape()))
        body.grow(self.random.randint(2, steps))
        results = self.random.sample(body.values, min(len(body.values), self.random.randint(1, 4)))
        results += [body.values[-1]]
        if self.random.random() < 0.5:
            return body.builder.build(results[-1])
        if self.random.random() < 0.2:
            results[0] = body.builder.op("tuple", *results[:2], shape=_tuple_of(results[:2]))
        return body.builder.build(body.builder.op("tuple", *results, shape=_tuple_of(results)))

    def name(self, stem: str) -> str:
        self.names += 1
        return f"{stem}.{self.names}"

    def scalar_function(self, op: str, element_type: ElementType) -> Computation:
        """op(a, b) over scalars."""
        builder = Builder(self.name(op))
        shape = ArrayShape(element_type)
        return builder.build(builder.op(op, builder.parameter(shape), builder.parameter(shape)))


class _Body:
    """A computation in the making, and the arrays that it has so far."""

    def __init__(self, maker: _Maker, name: str, depth: int = 0) -> None:
        self.maker, self.random, self.depth = maker, maker.random, depth
        self.builder = Builder(maker.name(name))
        self.values: list[Instruction] = []

    def add(self, value: Instruction) -> Instruction:
        self.values.append(value)
        return value

    def grow(self, steps: int) -> None:
        """Adds so many instructions; what does not fit together is tried again."""
        for _ in range(steps):
            for _ in range(20):
                kind: Callable[[_Body], Instruction | None] = self.random.choice(_KINDS)
                try:
                    made = kind(self)
                except InputError:
                    continue
                if made is not None and made.array_shape.size <= _MOST_ELEMENTS:
                    self.add(made)
                    break

    def shape(self, element_type: ElementType | None = None) -> ArrayShape:
        rank = self.random.choice((0, 1, 1, 2, 2, 2, 3, 4))
        sizes = _LARGE if self.random.random() < 0.15 else SIZES
        dimensions = [self.random.choice(sizes) for _ in range(rank)]
        while np.prod(dimensions) > _MOST_ELEMENTS:
            dimensions[self.random.randrange(rank)] = 2
        chosen = element_type or self.random.choice(TYPES)
        return ArrayShape(chosen, tuple(dimensions))

    def any(self, rank: int = 0) -> Instruction:
        """An array of at least this rank; the newest ones most often."""
        fitting = [v for v in self.values if v.array_shape.rank >= rank]
        if not fitting:
            raise InputError("none")
        if self.random.random() < 0.6:
            return fitting[-1 - self.random.randrange(min(3, len(fitting)))]
        return self.random.choice(fitting)

    def like(self, shape: ArrayShape) -> Instruction:
        """An array of this shape: one there is, or one made."""
        fitting = [v for v in self.values if v.shape == shape]
        if fitting and self.random.random() < 0.8:
            return self.random.choice(fitting)
        same_size = [v for v in self.values if v.array_shape.dimensions == shape.dimensions]
        choice = self.random.random()
        if same_size and choice < 0.4:
            return self.converted(self.random.choice(same_size), shape.element_type)
        if choice < 0.6:
            return self.constant(shape)
        scalar = self.constant(ArrayShape(shape.element_type))
        return self.builder.op("broadcast", scalar, shape=shape, dimensions=())

    def converted(self, value: Instruction, element_type: ElementType) -> Instruction:
        if value.array_shape.element_type is element_type:
            return value
        narrows = value.array_shape.element_type.is_complex and not element_type.is_complex
        if narrows:
            value = self.builder.op("real", value)
        return self.builder.op(
            "convert", value, shape=value.array_shape.with_type(element_type)
        )

    def constant(self, shape: ArrayShape) -> Instruction:
        generator = np.random.default_rng(self.random.randrange(2**32))
        values = generator.integers(0 if _is_unsigned(shape) else -2, 3, shape.dimensions)
        array = values.astype(shape.element_type.dtype)
        return self.builder.constant(Literal(array))

    def index(self) -> Instruction:
        return self.like(ArrayShape(S32))


def _is_unsigned(shape: ArrayShape) -> bool:
    return shape.element_type.kind in (Kind.UNSIGNED, Kind.PRED)


def _tuple_of(values: Sequence[Instruction]) -> TupleShape:
    return TupleShape(tuple(v.shape for v in values))


def unary(body: _Body) -> Instruction:
    ops = _EXACT_UNARY if body.maker.exact else _UNARY
    return body.builder.op(body.random.choice(ops), body.any())


def binary(body: _Body) -> Instruction:
    left = body.any()
    op = body.random.choice(_EXACT_BINARY if body.maker.exact else _BINARY)
    return body.builder.op(op, left, body.like(left.array_shape))


def compare(body: _Body) -> Instruction:
    left = body.any()
    direction = body.random.choice(("EQ", "NE", "LT", "LE", "GT", "GE"))
    return body.builder.op("compare", left, body.like(left.array_shape), direction=direction)


def select(body: _Body) -> Instruction:
    value = body.any()
    condition = body.like(value.array_shape.with_type(PRED))
    return body.builder.op("select", condition, value, body.like(value.array_shape))


def clamp(body: _Body) -> Instruction:
    value = body.any()
    bound = ArrayShape(value.array_shape.element_type)
    low = body.like(body.random.choice((bound, value.array_shape)))
    return body.builder.op("clamp", low, value, body.like(low.array_shape))


def convert(body: _Body) -> Instruction:
    return body.converted(body.any(), body.random.choice(TYPES))


def broadcast(body: _Body) -> Instruction:
    value = body.any()
    sizes = list(value.array_shape.dimensions)
    places = list(range(len(sizes)))
    for _ in range(body.random.randint(0, 2)):
        place = body.random.randint(0, len(sizes))
        sizes.insert(place, body.random.choice(SIZES))
        places = [p + (p >= place) for p in places]
    shape = value.array_shape.with_dimensions(tuple(sizes))
    return body.builder.op("broadcast", value, shape=shape, dimensions=tuple(places))


def reshape(body: _Body) -> Instruction:
    value = body.any()
    factors = [f for d in value.array_shape.dimensions for f in _factors(d)]
    sizes: list[int] = []
    for factor in factors:
        if sizes and body.random.random() < 0.5:
            sizes[-1] *= factor
        else:
            sizes.append(factor)
    if body.random.random() < 0.3:
        sizes.insert(body.random.randint(0, len(sizes)), 1)
    return body.builder.op("reshape", value, shape=value.array_shape.with_dimensions(tuple(sizes)))


def _factors(size: int) -> Iterator[int]:
    if size == 0:
        yield 0
    divisor = 2
    while size > 1:
        while size % divisor == 0:
            yield divisor
            size //= divisor
        divisor += 1


def transpose(body: _Body) -> Instruction:
    value = body.any(1)
    order = list(range(value.array_shape.rank))
    body.random.shuffle(order)
    return body.builder.op("transpose", value, dimensions=tuple(order))


def reverse(body: _Body) -> Instruction:
    value = body.any(1)
    rank = value.array_shape.rank
    chosen = body.random.sample(range(rank), body.random.randint(1, rank))
    return body.builder.op("reverse", value, dimensions=tuple(sorted(chosen)))


def slice_(body: _Body) -> Instruction:
    value = body.any(1)
    parts = []
    for size in value.array_shape.dimensions:
        start = body.random.randint(0, size)
        limit = body.random.randint(start, size)
        parts.append(SliceDimension(start, limit, body.random.choice((1, 1, 2, 3))))
    return body.builder.op("slice", value, slice=tuple(parts))


def pad(body: _Body) -> Instruction:
    value = body.any(1)
    filling = body.like(ArrayShape(value.array_shape.element_type))
    padding = tuple(
        PaddingDimension(
            body.random.choice((-1, 0, 0, 1, 2)),
            body.random.choice((-1, 0, 0, 2)),
            body.random.choice((0, 0, 1)),
        )
        for _ in value.array_shape.dimensions
    )
    return body.builder.op("pad", value, filling, padding=padding)


def concatenate(body: _Body) -> Instruction:
    first = body.any(1)
    axis = body.random.randrange(first.array_shape.rank)
    operands = [first]
    for _ in range(body.random.randint(0, 2)):
        sizes = list(first.array_shape.dimensions)
        sizes[axis] = body.random.choice((sizes[axis], body.random.choice(SIZES)))
        operands.append(body.like(first.array_shape.with_dimensions(tuple(sizes))))
    return body.builder.op("concatenate", *operands, dimensions=(axis,))


def iota(body: _Body) -> Instruction:
    shape = body.shape(body.random.choice([t for t in TYPES if t.kind is not Kind.PRED]))
    if not shape.rank:
        raise InputError("iota has a dimension")
    return body.builder.op("iota", shape=shape, iota_dimension=body.random.randrange(shape.rank))


def constant(body: _Body) -> Instruction:
    return body.constant(body.shape())


def dynamic_slice(body: _Body) -> Instruction:
    value = body.any(1)
    sizes = tuple(body.random.randint(0, d) for d in value.array_shape.dimensions)
    starts = [body.index() for _ in sizes]
    return body.builder.op("dynamic-slice", value, *starts, dynamic_slice_sizes=sizes)


def dynamic_update_slice(body: _Body) -> Instruction:
    value = body.any(1)
    sizes = tuple(body.random.randint(0, d) for d in value.array_shape.dimensions)
    update = body.like(value.array_shape.with_dimensions(sizes))
    return body.builder.op("dynamic-update-slice", value, update, *(body.index() for _ in sizes))


def gather(body: _Body) -> Instruction:
    """Rows by number, along one dimension."""
    value = body.any(1)
    sizes = value.array_shape.dimensions
    axis = body.random.randrange(len(sizes))
    places = body.like(ArrayShape(S32, (body.random.choice(SIZES),)))
    return body.builder.op(
        "gather",
        value,
        places,
        offset_dims=tuple(range(1, len(sizes))),
        collapsed_slice_dims=(axis,),
        start_index_map=(axis,),
        index_vector_dim=1,
        slice_sizes=tuple(1 if d == axis else n for d, n in enumerate(sizes)),
    )


def scatter(body: _Body) -> Instruction:
    """Adds rows by number, along one dimension."""
    value = body.any(1)
    shape = value.array_shape
    axis = body.random.randrange(shape.rank)
    count = body.random.choice(SIZES)
    others = [n for d, n in enumerate(shape.dimensions) if d != axis]
    updates = body.like(shape.with_dimensions((count, *others)))
    combiner = body.random.choice(("add", "maximum") if body.maker.exact else ("add", "multiply"))
    return body.builder.op(
        "scatter",
        value,
        body.like(ArrayShape(S32, (count,))),
        updates,
        to_apply=body.maker.scalar_function(combiner, shape.element_type),
        update_window_dims=tuple(range(1, shape.rank)),
        inserted_window_dims=(axis,),
        scatter_dims_to_operand_dims=(axis,),
        index_vector_dim=1,
    )


def reduce(body: _Body) -> Instruction:
    value = body.any(1)
    rank, element_type = value.array_shape.rank, value.array_shape.element_type
    dimensions = body.random.sample(range(rank), body.random.randint(0, rank))
    combiner = body.maker.scalar_function(body.random.choice(_COMBINERS), element_type)
    initial = body.like(ArrayShape(element_type))
    return body.builder.op(
        "reduce", value, initial, dimensions=tuple(dimensions), to_apply=combiner
    )


def arg_maximum(body: _Body) -> Instruction:
    """A reduce of two operands: the larger value, and its number."""
    value = body.any(1)
    shape = value.array_shape
    axis = body.random.randrange(shape.rank)
    numbers = body.builder.op("iota", shape=shape.with_type(S32), iota_dimension=axis)
    results = body.builder.op(
        "reduce",
        value,
        numbers,
        body.constant(ArrayShape(shape.element_type)),
        body.constant(ArrayShape(S32)),
        dimensions=(axis,),
        to_apply=_larger_first(body, shape.element_type),
    )
    kept = tuple(n for d, n in enumerate(shape.dimensions) if d != axis)
    number = body.random.randrange(2)
    element_type = (shape.element_type, S32)[number]
    if body.random.random() < 0.5:
        other = ArrayShape((shape.element_type, S32)[1 - number], kept)
        body.add(body.builder.op("get-tuple-element", results, shape=other, index=1 - number))
    return body.builder.op(
        "get-tuple-element", results, shape=ArrayShape(element_type, kept), index=number
    )


def normalise(body: _Body) -> Instruction:
    """A value less or over what a reduce of it gives, row by row."""
    value = body.any(1)
    shape = value.array_shape
    rank = shape.rank
    dimensions = tuple(sorted(body.random.sample(range(rank), body.random.randint(1, rank))))
    kept = tuple(d for d in range(rank) if d not in dimensions)
    combiner = body.random.choice(("add", "maximum"))
    total = body.builder.op(
        "reduce",
        value,
        body.constant(ArrayShape(shape.element_type)),
        dimensions=dimensions,
        to_apply=body.maker.scalar_function(combiner, shape.element_type),
    )
    if body.random.random() < 0.5:
        total = body.builder.op(body.random.choice(("negate", "sign")), total)
    if body.random.random() < 0.2:
        body.add(total)
    spread = body.builder.op("broadcast", total, shape=shape, dimensions=kept)
    made = body.builder.op("subtract", value, spread)
    if body.maker.exact or not shape.element_type.is_float or body.random.random() < 0.5:
        return made
    return body.builder.op(body.random.choice(("exponential", "tanh")), made)


def _larger_first(body: _Body, element_type: ElementType) -> Computation:
    builder = Builder(body.maker.name("larger"))
    shapes = (ArrayShape(element_type), ArrayShape(S32)) * 2
    a, i, b, j = (builder.parameter(shape) for shape in shapes)
    first = builder.op("compare", a, b, direction="GE")
    chosen = [builder.op("select", first, x, y) for x, y in ((a, b), (i, j))]
    return builder.build(builder.op("tuple", *chosen, shape=_tuple_of(chosen)))


def reduce_window(body: _Body) -> Instruction:
    value = body.any(1)
    element_type = value.array_shape.element_type
    window = Window(tuple(_window_dimension(body, n) for n in value.array_shape.dimensions))
    return body.builder.op(
        "reduce-window",
        value,
        body.like(ArrayShape(element_type)),
        to_apply=body.maker.scalar_function(body.random.choice(_COMBINERS), element_type),
        window=window,
    )


def _window_dimension(body: _Body, size: int) -> WindowDimension:
    choice = body.random.random
    if size and choice() < 0.2:  # a running fold
        return WindowDimension(size, pad_low=size - 1)
    return WindowDimension(
        body.random.randint(1, 3),
        stride=body.random.choice((1, 1, 2)),
        pad_low=body.random.choice((0, 0, 1, -1)),
        pad_high=body.random.choice((0, 0, 1)),
        lhs_dilation=body.random.choice((1, 1, 1, 2)),
        rhs_dilation=body.random.choice((1, 1, 2)),
    )


def dot(body: _Body) -> Instruction:
    left = body.any(1)
    shape = left.array_shape
    axes = list(range(shape.rank))
    body.random.shuffle(axes)
    contracted = axes[: body.random.randint(0, min(2, len(axes)))]
    batch = [a for a in axes[len(contracted) :] if body.random.random() < 0.3]
    sizes = [shape.dimensions[a] for a in batch + contracted]
    sizes_to_choose = _LARGE if body.random.random() < 0.3 else SIZES
    free = [body.random.choice(sizes_to_choose) for _ in range(body.random.randint(0, 2))]
    order = list(range(len(sizes) + len(free)))
    body.random.shuffle(order)  # order[k]: where the k-th of batch, contracted, free stands
    dimensions = [0] * len(order)
    for place, size in zip(order, sizes + free, strict=True):
        dimensions[place] = size
    right = body.like(shape.with_dimensions(tuple(dimensions)))
    rest = [n for d, n in enumerate(shape.dimensions) if d not in batch + contracted]
    right_rest = [n for d, n in enumerate(dimensions) if d not in order[: len(sizes)]]
    result = (*(shape.dimensions[a] for a in batch), *rest, *right_rest)
    return body.builder.op(
        "dot",
        left,
        right,
        shape=shape.with_dimensions(result),
        lhs_batch_dims=tuple(batch),
        lhs_contracting_dims=tuple(contracted),
        rhs_batch_dims=tuple(order[: len(batch)]),
        rhs_contracting_dims=tuple(order[len(batch) : len(sizes)]),
    )


def convolution(body: _Body) -> Instruction:
    """Over one spatial dimension, in one of two layouts."""
    value = body.like(ArrayShape(body.random.choice(TYPES[:5]), (2, 7, 4)))
    groups = body.random.choice((1, 2))
    features = body.random.choice((2, 4))
    window = _window_dimension(body, 0)
    kernel_sizes = (window.size, 4 // groups, features)
    kernel = body.like(value.array_shape.with_dimensions(kernel_sizes))
    labels = DimLabels(0, 2, (1,), 1, 2, (0,), 0, 2, (1,))
    return body.builder.op(
        "convolution",
        value,
        kernel,
        shape=value.array_shape.with_dimensions((2, window.output_size(7), features)),
        dim_labels=labels,
        window=Window((window,)),
        feature_group_count=groups,
    )


def sort(body: _Body) -> Instruction:
    value = body.any(1)
    builder = Builder(body.maker.name("less"))
    shape = ArrayShape(value.array_shape.element_type)
    pair = builder.parameter(shape), builder.parameter(shape)
    less = builder.build(builder.op("compare", *pair, direction="LT"))
    axis = body.random.randrange(value.array_shape.rank)
    return body.builder.op("sort", value, dimensions=(axis,), to_apply=less, is_stable=True)


def loop(body: _Body) -> Instruction:
    """A while that counts to three or less, over a state of arrays that its body changes, swaps
    or leaves alone."""
    if body.depth > 1:
        raise InputError("deep enough")
    zero = body.builder.constant(0, ArrayShape(S32))
    state = [zero, *(body.any() for _ in range(body.random.randint(1, 3)))]
    initial = body.builder.op("tuple", *state, shape=_tuple_of(state))
    condition = _counts_to(body, initial, body.random.randint(0, 3))
    turn = _turn(body, initial)
    result = body.builder.op(
        "while", initial, shape=initial.shape, condition=condition, body=turn
    )
    return _elements(body, result, state)


def _counts_to(body: _Body, initial: Instruction, limit: int) -> Computation:
    builder = Builder(body.maker.name("condition"))
    state = builder.parameter(initial.shape)
    count = builder.op("get-tuple-element", state, shape=ArrayShape(S32), index=0)
    bound = builder.constant(limit, ArrayShape(S32))
    return builder.build(builder.op("compare", count, bound, direction="LT"))


def _turn(body: _Body, initial: Instruction) -> Computation:
    inner = _Body(body.maker, "body", body.depth + 1)
    state = inner.builder.parameter(initial.shape)
    parts = _parts(inner, state)
    one = inner.builder.constant(1, ArrayShape(S32))
    inner.values += parts
    inner.grow(body.random.randint(0, 5))
    count = inner.builder.op("add", parts[0], one)
    ends = [count, *(_end(inner, p) for p in parts[1:])]
    return inner.builder.build(inner.builder.op("tuple", *ends, shape=_tuple_of(ends)))


def _end(body: _Body, part: Instruction) -> Instruction:
    """What a state leaf becomes: itself, another one of its shape, something new."""
    choices = [v for v in body.values if v.shape == part.shape]
    return body.random.choice([part, *choices, choices[-1]])


def _parts(body: _Body, value: Instruction) -> list[Instruction]:
    assert isinstance(value.shape, TupleShape)
    return [
        body.builder.op("get-tuple-element", value, shape=shape, index=n)
        for n, shape in enumerate(value.shape.elements)
    ]


def _elements(body: _Body, value: Instruction, state: Sequence[Instruction]) -> Instruction:
    parts = _parts(body, value)
    body.values += parts[:-1] if body.random.random() < 0.7 else []
    return parts[-1]


def conditional(body: _Body) -> Instruction:
    """By pred or by number; the branches take arrays of one shape and return others."""
    if body.depth > 1:
        raise InputError("deep enough")
    by_number = body.random.random() < 0.5
    selector = body.like(ArrayShape(S32 if by_number else PRED))
    count = body.random.randint(1, 3) if by_number else 2
    operands = [body.any() for _ in range(count)]
    result = body.shape()
    branches = [_branch(body, operand, result) for operand in operands]
    names: dict[str, Any] = {"branch_computations": tuple(branches)}
    if not by_number:
        names = dict(zip(("true_computation", "false_computation"), branches, strict=True))
    shape = TupleShape((result, result))
    made = body.builder.op("conditional", selector, *operands, shape=shape, **names)
    return _elements(body, made, ())


def _branch(body: _Body, operand: Instruction, result: ArrayShape) -> Computation:
    inner = _Body(body.maker, "branch", body.depth + 1)
    inner.add(inner.builder.parameter(operand.shape))
    inner.grow(body.random.randint(0, 3))
    results = [inner.like(result), inner.like(result)]
    return inner.builder.build(inner.builder.op("tuple", *results, shape=_tuple_of(results)))


_COMMON = [unary, binary, binary, broadcast, reshape, transpose, compare, select, reduce, convert]
_KINDS: list[Callable[[_Body], Instruction | None]] = [
    *_COMMON, *_COMMON, clamp, reverse, slice_, pad, concatenate, iota, constant, dynamic_slice,
    dynamic_update_slice, gather, scatter, arg_maximum, reduce_window, convolution, sort, loop,
    conditional, dynamic_update_slice, dot, dot, normalise, normalise, normalise,
]  # fmt: skip
