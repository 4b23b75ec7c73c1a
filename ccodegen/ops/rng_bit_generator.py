"""rng-bit-generator: uniform bits and the next state, with the bits that XLA:CPU gives.

The state's first word is the key. Threefry counts in the second; it gives two 32-bit words a
count, which make one 64-bit element, or two elements that are neighbours along one dimension: the
first even one, else the longest. Philox counts in 128 bits (second and third word; second and first
where there are two) and gives four 32-bit words a count, in row-major order. Elements of fewer
than 32 bits are the low bits of a word.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import ArrayShape, leaves
from ccodegen.loop import operators
from ccodegen.loop.builder import Builder, apply, compare, const, index
from ccodegen.loop.ir import Expr, Index
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.fold import Array, converted
from ccodegen.ops.lowering import NestScope
from ccodegen.ops.random_bits import Words, philox, threefry
from ccodegen.ops.shape_checks import arrays, require
from ccodegen.support.element_type import ElementType
from ccodegen.support.errors import UnsupportedError
from ccodegen.support.immutable import frozen, immutable

U32, U64, PRED = ElementType.U32, ElementType.U64, ElementType.PRED
ALGORITHMS = ("rng_default", "rng_three_fry", "rng_philox")


@frozen
class RngBitGenerator(Attributes):
    algorithm: str = attr(AttrKind.ENUM)


@immutable
class _Plan:
    """Which generator, and what each count of it gives."""

    state_size: int
    bits: ArrayShape
    is_threefry: bool

    @property
    def is_wide(self) -> bool:
        return self.bits.element_type.bits == 64

    @property
    def split(self) -> int:
        """The dimension along which Threefry's two words are neighbours."""
        sizes = self.dimensions
        even = [d for d, n in enumerate(sizes) if n % 2 == 0]
        return even[0] if even else sizes.index(max(sizes))

    @property
    def dimensions(self) -> tuple[int, ...]:
        return self.bits.dimensions or (1,)

    @property
    def per_count(self) -> int:
        """Elements that Philox gives a count."""
        return 2 if self.is_wide else 4

    @property
    def counts(self) -> tuple[int, ...]:
        """The counter takes these values, row-major."""
        if not self.is_threefry:
            return (-(-self.bits.size // self.per_count),)
        if self.is_wide:
            return self.dimensions
        halved = list(self.dimensions)
        halved[self.split] = (halved[self.split] + 1) // 2
        return tuple(halved)


def check(instruction: Instruction) -> None:
    arrays("rng-bit-generator", [instruction.operands[0].shape])
    algorithm = _algorithm(instruction)
    require(
        algorithm in ALGORITHMS,
        f"rng-bit-generator: algorithm is one of {', '.join(ALGORITHMS)}, not {algorithm}",
    )


def _plan(instruction: Instruction) -> _Plan:
    state = instruction.operands[0].array_shape
    *_, bits = leaves(instruction.shape)
    assert isinstance(bits, ArrayShape)
    threefry = _algorithm(instruction) == "rng_three_fry"
    sizes = (2,) if threefry else (2, 3)
    fits = state.element_type is U64 and state.rank == 1 and state.size in sizes
    if not fits or not bits.element_type.is_integer or bits.element_type.bits < 8:
        raise UnsupportedError(
            f"rng-bit-generator '{instruction.name}' of {bits} from a state {state}",
            instruction.location,
            f"{_algorithm(instruction)} takes a state of {' or '.join(map(str, sizes))} u64 and"
            " gives integers of 8 to 64 bits",
        )
    return _Plan(state.size, bits, threefry)


def evaluate(evaluator: Any, instruction: Instruction, state: Array) -> Any:
    plan = _plan(instruction)
    with np.errstate(all="ignore"):
        bits = _threefry_bits(plan, state) if plan.is_threefry else _philox_bits(plan, state)
        bits = bits.astype(plan.bits.element_type.dtype).reshape(plan.bits.dimensions)
        if isinstance(instruction.shape, ArrayShape):
            return bits
        return _next_state(plan, state), bits


def _array_words() -> Words[Array]:
    return Words(
        lambda op, a, b: operators.evaluate(op, np.broadcast_arrays(a, b), U32),
        lambda number: np.asarray(number, np.uint32),
    )


def _split_array(value: Array) -> tuple[Array, Array]:
    """The low and the high word of a u64."""
    return value.astype(np.uint32), (value >> np.uint64(32)).astype(np.uint32)


def _joined(low: Array, high: Array) -> Array:
    return low.astype(np.uint64) | high.astype(np.uint64) << np.uint64(32)


def _threefry_bits(plan: _Plan, state: Array) -> Array:
    numbers = np.arange(math.prod(plan.counts), dtype=np.uint64).reshape(plan.counts)
    counter = _split_array(numbers + state[1])
    first, second = threefry(_array_words(), _split_array(state[:1]), counter)
    if plan.is_wide:
        return _joined(first, second)
    neighbours = np.stack([first, second], plan.split + 1)
    doubled = list(plan.counts)
    doubled[plan.split] *= 2
    kept = tuple(slice(n) for n in plan.dimensions)
    return neighbours.reshape(doubled)[kept]


def _philox_bits(plan: _Plan, state: Array) -> Array:
    low = np.arange(plan.counts[0], dtype=np.uint64) + state[1]
    high = state[2 if plan.state_size == 3 else 0] + (low < state[1]).astype(np.uint64)
    counter = (*_split_array(low), *_split_array(high))
    found = np.stack(philox(_array_words(), _split_array(state[:1]), counter), -1)
    if plan.is_wide:
        found = _joined(found[:, ::2], found[:, 1::2])
    return found.reshape(-1)[: plan.bits.size]


def _next_state(plan: _Plan, state: Array) -> Array:
    result = state.copy()
    result[1] += np.uint64(math.prod(plan.counts))
    if plan.state_size == 3:
        result[2] += np.uint64(result[1] < state[1])
    return result


def nest(scope: NestScope, instruction: Instruction) -> None:
    plan, b = _plan(instruction), scope.builder
    state = [
        b.let(b.load(scope.operands[0], (index(n),)), "state") for n in range(plan.state_size)
    ]
    with b.loops(plan.counts, "n") as count:
        if plan.is_threefry:
            _emit_threefry(scope, plan, state, count)
        else:
            _emit_philox(scope, plan, state, count[0])
    if len(scope.results) > 1:
        _emit_next_state(scope, plan, state)


def _emit_next_state(scope: NestScope, plan: _Plan, state: Sequence[Expr]) -> None:
    b, result = scope.builder, scope.results[0]
    low = b.let(apply("add", state[1], const(U64, math.prod(plan.counts))), "next")
    b.store(result, (index(0),), state[0])
    b.store(result, (index(1),), low)
    if plan.state_size == 3:
        b.store(result, (index(2),), apply("add", state[2], _carry(low, state[1])))


def _carry(total: Expr, start: Expr) -> Expr:
    return converted(compare("lt", total, start), U64)


def _expression_words(builder: Builder) -> Words[Expr]:
    return Words(
        lambda op, a, b: builder.let(apply(op, a, b), "w"), lambda number: const(U32, number)
    )


def _split_expression(builder: Builder, value: Expr) -> tuple[Expr, Expr]:
    high = apply("shift-right-logical", value, const(U64, 32))
    return builder.let(converted(value, U32), "low"), builder.let(converted(high, U32), "high")


def _joined_expression(low: Expr, high: Expr) -> Expr:
    shifted = apply("shift-left", converted(high, U64), const(U64, 32))
    return apply("or", converted(low, U64), shifted)


def _emit_threefry(
    scope: NestScope, plan: _Plan, state: Sequence[Expr], count: Index
) -> None:
    b, bits = scope.builder, scope.results[-1]
    number = converted(_row_major(count, plan.counts), U64)
    counter = _split_expression(b, b.let(apply("add", state[1], number), "counter"))
    found = threefry(_expression_words(b), _split_expression(b, state[0]), counter)
    if plan.is_wide:
        value = converted(_joined_expression(*found), bits.type)
        b.store(bits, count[: len(bits.dimensions)], value)
        return
    d, size = plan.split, plan.dimensions[plan.split]
    for lane, word in enumerate(found):
        along = apply("add", apply("multiply", count[d], index(2)), index(lane))
        at = (*count[:d], along, *count[d + 1 :])[: len(bits.dimensions)]
        with b.when(compare("lt", along, index(size))):
            b.store(bits, at, converted(word, bits.type))


def _emit_philox(scope: NestScope, plan: _Plan, state: Sequence[Expr], count: Expr) -> None:
    b, bits = scope.builder, scope.results[-1]
    low = b.let(apply("add", state[1], converted(count, U64)), "low")
    top = state[2 if plan.state_size == 3 else 0]
    high = b.let(apply("add", top, _carry(low, state[1])), "high")
    counter = (*_split_expression(b, low), *_split_expression(b, high))
    words = philox(_expression_words(b), _split_expression(b, state[0]), counter)
    values: Sequence[Expr] = words
    if plan.is_wide:
        values = [_joined_expression(*words[:2]), _joined_expression(*words[2:])]
    for lane, value in enumerate(values):
        place = apply("add", apply("multiply", count, index(plan.per_count)), index(lane))
        with b.when(compare("lt", place, index(plan.bits.size))):
            b.store(bits, _unravelled(place, bits.dimensions), converted(value, bits.type))


def _row_major(at: Index, sizes: Sequence[int]) -> Expr:
    """The number of an element among all, row-major."""
    number: Expr = index(0)
    for i, size in zip(at, sizes, strict=True):
        number = apply("add", apply("multiply", number, index(size)), i)
    return number


def _unravelled(number: Expr, sizes: Sequence[int]) -> Index:
    """The index of the element of that number."""
    found: list[Expr] = []
    for d, size in enumerate(sizes):
        rest = apply("divide", number, index(math.prod(sizes[d + 1 :])))
        found.append(apply("remainder", rest, index(size)))
    return tuple(found)


def _algorithm(instruction: Instruction) -> str:
    return attributes_of(instruction, RngBitGenerator).algorithm


register(
    OpDef(
        "rng-bit-generator",
        RngBitGenerator,
        check=check,
        evaluate=evaluate,
        nest=nest,
    )
)
