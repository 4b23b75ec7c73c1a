"""A reduce, taken apart: its dimensions, its combiner; and several accumulators side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from ccodegen.hlo.ir import Instruction
from ccodegen.loop.builder import Builder, apply, compare, const, index
from ccodegen.loop.ir import Expr, Index, LoopKind
from ccodegen.loop.neutral import neutral
from ccodegen.lower.elements import Elements, call
from ccodegen.lower.float_extremum import FloatExtremum, better_number, is_float_extremum
from ccodegen.lower.kernel_builder import Values
from ccodegen.lower.lanes import Lanes
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.fold import operator_name
from ccodegen.ops.index import plus, times
from ccodegen.ops.reduce import Reduce
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable

_OF_ONE = frozenset(("maximum", "minimum", "and", "or"))  # of a value twice are that value


@immutable
class Reduction:
    """A reduce instruction, taken apart. `shifts`: an extremum of floats of which neither NaNs nor
    signs of zeros matter, see softmax_shift.py."""

    instruction: Instruction
    shifts: bool = False

    @property
    def attributes(self) -> Reduce:
        return attributes_of(self.instruction, Reduce)

    @property
    def inputs(self) -> tuple[Instruction, ...]:
        return self.instruction.operands[: len(self.instruction.operands) // 2]

    @property
    def initial(self) -> tuple[Instruction, ...]:
        return self.instruction.operands[len(self.instruction.operands) // 2 :]

    @property
    def dimensions(self) -> tuple[int, ...]:
        """Of the inputs."""
        return self.inputs[0].array_shape.dimensions

    @property
    def reduced(self) -> tuple[int, ...]:
        return tuple(sorted(self.attributes.dimensions))

    @property
    def kept(self) -> tuple[int, ...]:
        return tuple(d for d in range(len(self.dimensions)) if d not in self.reduced)

    @property
    def kept_dimensions(self) -> tuple[int, ...]:
        """Of the result: for rows, how many there are."""
        return tuple(self.dimensions[d] for d in self.kept)

    @property
    def reduced_dimensions(self) -> tuple[int, ...]:
        """Of what becomes one element of the result: for rows, of one row."""
        return tuple(self.dimensions[d] for d in self.reduced)

    def input_index(self, kept: Index, reduced: Index) -> Index:
        """The inputs' index out of the result's and that of the reduced dimensions."""
        at = dict(zip(self.kept, kept, strict=True)) | dict(zip(self.reduced, reduced, strict=True))
        return tuple(at[d] for d in range(len(self.dimensions)))

    def combine(self, elements: Elements, accumulators: Values, values: Values) -> Values:
        return call(elements, self.attributes.to_apply, (*accumulators, *values))

    @property
    def types(self) -> tuple[ElementType, ...]:
        return tuple(o.array_shape.element_type for o in self.initial)


def reduce_in_lanes(
    elements: Elements,
    reductions: Sequence[Reduction],
    at: Index,
    lanes: int,
    ways: int,
    kind: LoopKind,
) -> Values:
    """Reduces over the same unit-stride elements, with `lanes` accumulators side by side for each,
    which loops of that kind take, and for so many of the turns around the last reduced dimension by
    turns, `ways`.

    Lane l takes elements l, l + lanes, … of the last reduced dimension; the lanes are joined as a
    tree, then with the init value: a fixed order, the same at each run. The last turn has as many
    elements as the others: lanes whose element another one had take nothing, or the same once more.
    (Fewer would be stored for some lanes, and read for all of them before that has come through.)
    """
    builder, first = elements.builder, reductions[0]
    accumulators = [_accumulators(builder, r, ways * lanes) for r in reductions]
    *outer, extent = first.reduced_dimensions

    def accumulate(way: int, turns: Index, base: Expr, had: int = 0) -> None:
        with builder.loop(lanes, "l", kind) as lane:
            place = first.input_index(at, (*turns, apply("add", base, lane)))
            values = [elements.value(r.inputs[0], place) for r in reductions]
            for r, accumulator, value in zip(reductions, accumulators, values, strict=True):
                if had and not takes_twice(r):
                    value = _from_lane(builder, lane, had, value, _operator(r))
                accumulator.take(plus(lane, way * lanes), value)

    def accumulate_all(way: int, turns: Index) -> None:
        left = extent % lanes
        with builder.loop(extent // lanes, "r") as turn:
            accumulate(way, turns, times(turn, lanes))
        if left:
            accumulate(way, turns, index(extent - lanes), lanes - left)

    if not outer:
        accumulate_all(0, ())
    else:
        *outer, around = outer
        with builder.loops(outer, "r") as before:
            with builder.loop(around // ways, "r") as turn:
                for way in range(ways):
                    accumulate_all(way, (*before, plus(times(turn, ways), way)))
            with builder.loop(around % ways, "r") as turn:
                accumulate_all(0, (*before, plus(turn, around - around % ways)))
    return tuple(
        builder.let(with_initial(elements, r, accumulator.joined()), r.instruction.name)
        for r, accumulator in zip(reductions, accumulators, strict=True)
    )


def _from_lane(builder: Builder, lane: Expr, first: int, value: Expr, operator: str) -> Expr:
    """The value in lanes from the first one on, in others what changes nothing."""
    nothing = const(value.type, neutral(operator, value.type))
    number = apply("convert", lane, type=ElementType.S32)  # as loops are cut where an index decides
    had = compare("lt", number, const(ElementType.S32, first))
    # Of elements that are read on a condition gcc makes no vectors.
    return apply("select", had, nothing, builder.let(value, "value"))


def reduce_levels(fused: Iterable[Instruction]) -> dict[Instruction, int]:
    """How many reduces one after the other each of the instructions waits for; they come operands
    first."""
    levels: dict[Instruction, int] = {}
    for instruction in fused:
        before = (levels.get(o, 0) + (o.op == "reduce") for o in instruction.operands)
        levels[instruction] = max(before, default=0)
    return levels


def is_extremum(reduction: Reduction) -> bool:
    """Whether it is of floats, and takes more accumulators than others."""
    return is_float_extremum(_operator(reduction), reduction.types[0])


def takes_twice(reduction: Reduction) -> bool:
    """Whether an element that it takes once more changes nothing."""
    return _operator(reduction) in _OF_ONE


def has_any_order(reduction: Reduction) -> bool:
    """Whether it takes elements in any order, but for the rounding of sums."""
    known = neutral(_operator(reduction), reduction.types[0]) is not None
    return len(reduction.inputs) == 1 and known


def accumulator_count(reduction: Reduction) -> int:
    """How many it has for each lane or column."""
    return 3 if is_extremum(reduction) and not reduction.shifts else len(reduction.types)


def _operator(reduction: Reduction) -> str:
    return operator_name(reduction.attributes.to_apply)


def float_extremum(builder: Builder, reduction: Reduction, count: int) -> FloatExtremum:
    """So many accumulators for an extremum of floats."""
    return FloatExtremum.of(builder, _operator(reduction), reduction.types[0], count)


def _accumulators(builder: Builder, reduction: Reduction, count: int) -> Lanes | FloatExtremum:
    if is_extremum(reduction) and not reduction.shifts:
        return float_extremum(builder, reduction, count)
    combine = partial(better_of, builder, reduction) if reduction.shifts else None
    return Lanes.of(builder, _operator(reduction), reduction.types[0], count, combine)


def better_of(builder: Builder, reduction: Reduction, a: Expr, b: Expr) -> Expr:
    """One of two elements, by comparison alone."""
    return better_number(builder, _operator(reduction), b, a)


def with_initial(elements: Elements, reduction: Reduction, value: Expr) -> Expr:
    """The result, of what all elements together give."""
    initial = elements.value(reduction.initial[0], ())
    return apply(_operator(reduction), initial, value)
