"""A reduce, taken apart: its dimensions, its combiner; and several accumulators side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ccodegen.hlo.ir import Instruction
from ccodegen.loop.builder import Builder, apply, const, index, vector_kind
from ccodegen.loop.ir import Buffer, Expr, Index, Load, LoopKind
from ccodegen.loop.neutral import neutral
from ccodegen.lower.elements import Elements, call
from ccodegen.lower.kernel_builder import Values
from ccodegen.lower.order_keys import from_key, has_keys, key
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.fold import operator_name
from ccodegen.ops.reduce import Reduce
from ccodegen.support.element_type import ElementType


@dataclass(frozen=True)
class Reduction:
    """A reduce instruction, taken apart."""

    instruction: Instruction

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
    elements: Elements, reductions: Sequence[Reduction], at: Index, lanes: int
) -> Values:
    """Reduces over the same unit-stride elements, with `lanes` accumulators side by side for each.

    Lane l takes elements l, l + lanes, … of the last reduced dimension; the lanes are joined as a
    tree, then with the init value: a fixed order, the same at each run.
    """
    builder, first = elements.builder, reductions[0]
    accumulators = [_lanes(builder, r, lanes) for r in reductions]
    *outer, extent = (first.dimensions[d] for d in first.reduced)

    def accumulate(turns: Index, base: Expr, count: int) -> None:
        with builder.loop(count, "l", LoopKind.VECTOR) as lane:
            place = first.input_index(at, (*turns, apply("add", base, lane)))
            values = [elements.value(r.inputs[0], place) for r in reductions]
            for r, buffer, value in zip(reductions, accumulators, values, strict=True):
                _accumulate(builder, r, buffer, lane, value)

    with builder.loops(outer, "r") as turns:
        with builder.loop(extent // lanes, "r") as block:
            accumulate(turns, apply("multiply", block, index(lanes)), lanes)
        if extent % lanes:
            accumulate(turns, index(extent - extent % lanes), extent % lanes)
    return tuple(
        _total(elements, r, buffer) for r, buffer in zip(reductions, accumulators, strict=True)
    )


def _operator(reduction: Reduction) -> str:
    return operator_name(reduction.attributes.to_apply)


def _has_keys(reduction: Reduction) -> bool:
    return has_keys(_operator(reduction), reduction.types[0])


def _in_lanes(reduction: Reduction) -> tuple[str, ElementType]:
    """How the lanes are combined, and what they hold: keys, where there are some."""
    if _has_keys(reduction):
        return "maximum", ElementType.S32
    return _operator(reduction), reduction.types[0]


def _lanes(builder: Builder, reduction: Reduction, lanes: int) -> Buffer:
    """Accumulators that hold the neutral value."""
    operator, element_type = _in_lanes(reduction)
    accumulators = builder.local(element_type, (lanes,), "lanes")
    with builder.loop(lanes, "l", LoopKind.VECTOR) as lane:
        builder.store(accumulators, (lane,), const(element_type, neutral(operator, element_type)))
    return accumulators


def _accumulate(
    builder: Builder, reduction: Reduction, accumulators: Buffer, lane: Expr, value: Expr
) -> None:
    held = key(builder, value, _operator(reduction)) if _has_keys(reduction) else value
    fold_into(builder, accumulators, (lane,), _in_lanes(reduction)[0], held)


def _total(elements: Elements, reduction: Reduction, accumulators: Buffer) -> Expr:
    initial = elements.value(reduction.initial[0], ())
    total = join_lanes(elements.builder, accumulators, _in_lanes(reduction)[0])
    if _has_keys(reduction):
        total = from_key(elements.builder, total, _operator(reduction))
    value = apply(_operator(reduction), initial, total)
    return elements.builder.let(value, reduction.instruction.name)


def join_lanes(builder: Builder, accumulators: Buffer, operator: str) -> Expr:
    """All lanes as one value: lane l takes lane l + half, then half of the half, and so on.

    The number of lanes is a power of two. A loop joins four lanes to one, two halvings at once.
    """
    count = accumulators.size
    while count > 4:
        count //= 4
        with builder.loop(count, "l", vector_kind(count)) as lane:
            places = [apply("add", lane, index(n * count)) for n in range(4)]
            builder.store(accumulators, (lane,), _tree(accumulators, places, operator))
    return _tree(accumulators, [index(n) for n in range(count)], operator)


def _tree(buffer: Buffer, places: Sequence[Expr], operator: str) -> Expr:
    """The elements at some places, the first half joined with the second one."""
    values: list[Expr] = [Load(buffer, (place,)) for place in places]
    while len(values) > 1:
        half = len(values) // 2
        pairs = zip(values[:half], values[half:], strict=True)
        values = [apply(operator, a, b) for a, b in pairs]
    return values[0]


def fold_into(builder: Builder, buffer: Buffer, at: Index, operator: str, value: Expr) -> None:
    """buffer[at] = buffer[at] operator value."""
    builder.store(buffer, at, apply(operator, Load(buffer, at), value))
