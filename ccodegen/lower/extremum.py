"""Argmax and its kin in lanes: the best value of a block first, then the place where it stands.

    for each block of the row:
        found = the maximum of `best` and the block              in lanes
        if found is better than best:
            best = found, place = where the block has it first   in lanes

A block lies in the nearest cache when it is searched. What the other operands have to give is read
at the place that was found: a counter of places is never made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ccodegen.hlo.ir import Instruction
from ccodegen.loop.builder import Builder, apply, const, index
from ccodegen.loop.ir import INDEX, Apply, Buffer, Expr, Index, Load, LoopKind
from ccodegen.lower.elements import Elements, either
from ccodegen.lower.kernel_builder import Values
from ccodegen.lower.reduction import Reduction, join_lanes
from ccodegen.ops.creation import Constant, Iota
from ccodegen.ops.extremum import extremum_operator
from ccodegen.ops.movement import Broadcast
from ccodegen.support.element_type import ElementType, Kind

LEAST_LANES = 32  # compilers unroll shorter loops, and do not vectorise them
_BLOCK = 1024
_MOST_PLACES = 2**31 - 1


def find_extremum(reduction: Reduction) -> str:
    """The operator, `maximum` or `minimum`, of a reduce that looks for an extremum along one
    dimension; else nothing."""
    value = reduction.types[0]
    has_lanes = value is ElementType.PRED or value.bits >= (16 if value.is_float else 8)
    if len(reduction.reduced) != 1 or value.is_complex or not has_lanes:
        return ""
    (dimension,) = reduction.reduced
    if reduction.dimensions[dimension] > _MOST_PLACES:
        return ""
    pairs = zip(reduction.inputs, reduction.initial, strict=True)
    grows = (_counts(i, dimension) and _is_at_most_zero(initial) for i, initial in pairs)
    return extremum_operator(reduction.attributes.to_apply, tuple(grows))


def _counts(instruction: Instruction, dimension: int) -> bool:
    """Whether the elements along a dimension are 0, 1, 2, …"""
    attributes = instruction.attributes
    if isinstance(attributes, Broadcast):
        kept = dimension in attributes.dimensions
        (operand,) = instruction.operands
        return kept and _counts(operand, attributes.dimensions.index(dimension))
    if not isinstance(attributes, Iota) or not instruction.array_shape.element_type.is_integer:
        return False
    element_type = instruction.array_shape.element_type
    digits = element_type.bits - (element_type.kind is Kind.SIGNED)
    fits = instruction.array_shape.dimensions[dimension] <= 2**digits
    return fits and attributes.iota_dimension == dimension


def _is_at_most_zero(instruction: Instruction) -> bool:
    attributes = instruction.attributes
    return isinstance(attributes, Constant) and bool(attributes.literal.array.item() <= 0)


def extremum_in_lanes(
    elements: Elements, reduction: Reduction, operator: str, at: Index, lanes: int
) -> Values:
    """The results of a reduce that looks for `operator`'s extremum along the last dimension, which
    has at least `lanes` elements."""
    values = _Search(elements, reduction, operator, at, lanes).values()
    best = values[0]
    if not elements.strict or not best.type.is_float:
        return values
    # Which zero and which NaN it is depends on the order.
    is_zero = _compare("eq", best, const(best.type, 0.0))
    unclear = apply("or", is_zero, _compare("ne", best, best))
    return either(
        elements.builder,
        unclear,
        lambda: elements.computed(reduction.instruction, at),
        lambda: values,
    )


def keep_better(builder: Builder, operator: str, kept: Values, values: Values) -> Values:
    """What one more element, `values`, makes of what is kept of those before: straight code, for
    lanes that each have a search of their own."""
    old, value = builder.let(kept[0], "old"), builder.let(values[0], "value")
    best = builder.let(_better(builder, operator, old, value), "best")
    others = []
    for before, now in zip(kept[1:], values[1:], strict=True):
        before = builder.let(before, "before")
        if value.type.is_float:  # the first NaN stays
            now = builder.let(_select(_compare("eq", old, old), now, before), "now")
        chosen = _select(_compare("eq", best, old), before, now)
        others.append(builder.let(chosen, "kept"))
    return (best, *others)


def _better(builder: Builder, operator: str, a: Expr, b: Expr) -> Expr:
    """The operator, but for the signs of zeros and NaNs: that is less work."""
    if not a.type.is_float:
        return apply(operator, a, b)
    is_better = _compare("gt" if operator == "maximum" else "lt", a, b)
    better = builder.let(_select(is_better, a, b), "better")
    return _select(_compare("eq", a, a), better, a)


@dataclass(frozen=True)
class _Search:
    """The search along one row. `at`: the index of the row."""

    elements: Elements
    reduction: Reduction
    operator: str
    at: Index
    lanes: int

    @property
    def builder(self) -> Builder:
        return self.elements.builder

    def element(self, operand: int, place: Expr) -> Expr:
        source = self.reduction.inputs[operand]
        return self.elements.value(source, self.reduction.input_index(self.at, (place,)))

    def values(self) -> Values:
        builder, extent = self.builder, self.reduction.dimensions[-1]
        first, *others = (self.elements.value(i, ()) for i in self.reduction.initial)
        best = builder.variable(first, "best")
        place = builder.variable(const(ElementType.S32, -1), "place")
        block = min(extent, _BLOCK)
        with builder.loop(-(-extent // block), "block") as number:
            start: Expr = apply("multiply", number, index(block))
            if extent % block:  # the last block begins earlier, and sees some elements again
                start = builder.let(apply("minimum", start, index(extent - block)), "start")
            self._block(best, place, start, block)
        operands = range(1, len(self.reduction.inputs))
        there = apply("convert", Load(place), type=INDEX)
        kept = either(
            builder,
            _compare("ge", Load(place), const(ElementType.S32, 0)),
            lambda: tuple(self.element(n, there) for n in operands),
            lambda: tuple(others),
        )
        return (Load(best), *kept)

    def _block(self, best: Buffer, place: Buffer, start: Expr, size: int) -> None:
        builder, value_type = self.builder, best.type
        is_stored = self.reduction.inputs[0] in self.elements.stored
        kept = None if is_stored else builder.local(value_type, (size,), "kept")

        def fold(offset: Expr, so_far: Expr) -> Expr:
            value = builder.let(self.element(0, apply("add", start, offset)), "value")
            if kept is not None:
                builder.store(kept, (offset,), value)
            return _better(builder, self.operator, so_far, value)

        def search(offset: Expr, so_far: Expr) -> Expr:
            stored = kept and Load(kept, (offset,))
            value = builder.let(stored or self.element(0, apply("add", start, offset)), "value")
            here = apply("convert", offset, type=so_far.type)
            nearer = builder.let(apply("minimum", so_far, here), "nearer")
            nearest = builder.let(_select(_compare("eq", value, found), nearer, so_far), "nearest")
            if not value_type.is_float:
                return nearest
            return _select(_compare("ne", value, value), nearer, nearest)

        found = self._in_lanes(size, Load(best), fold, self.operator)
        better = _compare("ne", found, Load(best))
        if value_type.is_float:
            better = apply("and", better, _compare("eq", Load(best), Load(best)))
        with builder.when(better):
            builder.store(best, (), found)
            nowhere = const(place.type, size)
            offset = self._in_lanes(size, nowhere, search, "minimum")
            begin = apply("convert", start, type=place.type)
            builder.store(place, (), apply("add", begin, offset))

    def _in_lanes(
        self, size: int, initial: Expr, step: Callable[[Expr, Expr], Expr], operator: str
    ) -> Expr:
        """The join of lanes that begin with `initial` and take `step(offset, lane)` for every
        offset below `size`, for some of them twice."""
        builder, count = self.builder, self.lanes
        lanes = builder.local(initial.type, (count,), "lanes")
        with builder.loop(count, "l", LoopKind.VECTOR) as lane:
            builder.store(lanes, (lane,), initial)

        def turn(first: Expr) -> None:
            with builder.loop(count, "l", LoopKind.VECTOR) as lane:
                so_far = builder.let(Load(lanes, (lane,)), "so_far")
                builder.store(lanes, (lane,), step(apply("add", first, lane), so_far))

        with builder.loop(size // count, "r") as number:
            turn(apply("multiply", number, index(count)))
        if size % count:
            turn(index(size - count))
        return builder.let(join_lanes(builder, lanes, operator), "joined")


def _compare(direction: str, a: Expr, b: Expr) -> Expr:
    return Apply(f"compare-{direction}", (a, b), ElementType.PRED)


def _select(condition: Expr, a: Expr, b: Expr) -> Expr:
    return Apply("select", (condition, a, b), a.type)
