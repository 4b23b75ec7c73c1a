"""Ops that combine elements: what does not count is replaced by what changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ccodegen.hlo.attributes import WindowDimension
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.shape import ArrayShape, TupleShape
from ccodegen.ops import fold
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.batch_norm import BatchNorm
from ccodegen.ops.build import derived, element_of, tuple_of
from ccodegen.ops.creation import Parameter
from ccodegen.ops.reduce import Reduce
from ccodegen.ops.reduce_window import ReduceWindow
from ccodegen.ops.select_and_scatter import SelectAndScatter
from ccodegen.ops.sort import Sort
from ccodegen.passes.constants import PLAIN_FLOATS, highest, lowest
from ccodegen.passes.dynamic.values import Padded, Sizes, of_tuple, whole
from ccodegen.passes.dynamic.writer import Writer, dynamic_among, merged_size, only
from ccodegen.passes.inline import inline
from ccodegen.support.element_type import ElementType

PRED = ElementType.PRED


def reduce(write: Writer, operands: Sequence[Padded]) -> Padded:
    """`reduce(%x, %init), to_apply=add` → `reduce(select(iota < n, %x, -0), %init)`; a computation
    that we do not know is told which elements count."""
    count = len(operands) // 2
    attributes = attributes_of(write.plain, Reduce)
    sizes = tuple(map(merged_size, *(o.sizes for o in operands[:count])))
    kept = tuple(s for d, s in enumerate(sizes) if d not in attributes.dimensions)
    gone = only(sizes, attributes.dimensions)
    if not any(gone):
        return write.result(write.plain, kept)
    x, init = operands[0].value, operands[count].value
    neutral = neutral_of(attributes.to_apply, x.array_shape.element_type)
    if neutral is None or count > 1:
        return _reduce_with_flag(write, operands, gone, kept)
    filler = write.scalar(neutral, x.array_shape.element_type)
    return write.result(write.over(write.filled(x, gone, filler), init), kept)


def neutral_of(computation: Computation, element_type: ElementType) -> Any:
    """What the computation of two scalars does not notice; None where we know no such value."""
    operator = fold.operator_name(computation)
    types = {p.array_shape.element_type for p in computation.parameters}
    without_zero = element_type is ElementType.F8E8M0FNU and operator == "add"
    if types != {element_type} or without_zero:
        return None
    if element_type is PRED:
        return {"and": True, "or": False, "xor": False}.get(operator)
    if operator in ("minimum", "maximum"):
        known = element_type.is_integer or element_type in PLAIN_FLOATS
        extreme = highest if operator == "minimum" else lowest
        return extreme(element_type) if known else None
    minus_zero = complex(-0.0, -0.0) if element_type.is_complex else -0.0
    zero = 0 if element_type.is_integer else minus_zero
    return {"add": zero, "multiply": 1, "and": -1, "or": 0, "xor": 0}.get(operator)


def _reduce_with_flag(
    write: Writer, operands: Sequence[Padded], gone: Sizes, kept: Sizes
) -> Padded:
    """Another operand says which elements count; the computation skips the others."""
    count = len(operands) // 2
    condition = write.inside(operands[0].bounds, gone)
    assert condition is not None
    values = [o.value for o in operands]
    true = write.scalar(True, PRED)
    inputs = (*values[:count], condition, *values[count:], true)
    skipping = _skipping(attributes_of(write.plain, Reduce).to_apply)
    dimensions = [n for d, n in enumerate(operands[0].bounds) if d not in _reduced(write)]
    results = [p.array_shape.element_type for p in skipping.parameters[: count + 1]]
    shape = TupleShape(tuple(ArrayShape(t, tuple(dimensions)) for t in results))
    attributes = Reduce(_reduced(write), skipping)
    made = derived(write.plain, "reduce", shape, inputs, attributes)
    made = replace(made, control_predecessors=write.plain.control_predecessors)
    parts = [Padded(element_of(made, made, n), kept) for n in range(count)]
    if not isinstance(write.plain.shape, TupleShape):
        return parts[0]
    return of_tuple(tuple_of(write.plain, [p.value for p in parts]), parts)


def _reduced(write: Writer) -> tuple[int, ...]:
    return attributes_of(write.plain, Reduce).dimensions


def _skipping(computation: Computation) -> Computation:
    """`f(a…, x…)` → `(counts ? f(a…, x…) : a…, flag)` of parameters a…, flag, x…, counts."""
    count = len(computation.parameters) // 2
    shapes = [p.array_shape for p in computation.parameters]
    pred = ArrayShape(PRED)
    wanted = (*shapes[:count], pred, *shapes[count:], pred)
    origin = computation.root
    given = tuple(
        replace(derived(origin, "parameter", shape, (), Parameter(n)), name=f"p{n}")
        for n, shape in enumerate(wanted)
    )
    old, new = given[:count], given[count + 1 : -1]
    result = inline(computation, (*old, *new)).root
    parts = [result] if count == 1 and not isinstance(result.shape, TupleShape) else [
        element_of(origin, result, n) for n in range(count)
    ]
    chosen = [
        derived(origin, "select", part.shape, (given[-1], part, a))
        for part, a in zip(parts, old, strict=True)
    ]
    root = tuple_of(origin, (*chosen, given[count]))
    return Computation(f"{computation.name}_skipping", given, root)


def reduce_window(write: Writer, operands: Sequence[Padded]) -> Padded:
    """What does not count holds the init value, as all padding does."""
    count = len(operands) // 2
    window = attributes_of(write.plain, ReduceWindow).window.dimensions
    sizes = tuple(map(merged_size, *(o.sizes for o in operands[:count])))
    wide = [d for d, w in enumerate(window) if w != WindowDimension()]
    inits = [o.value for o in operands[count:]]
    filled = [
        write.filled(o.value, only(sizes, wide), init)
        for o, init in zip(operands[:count], inits, strict=True)
    ]
    positions = tuple(s and window_count(write, s, w) for s, w in zip(sizes, window, strict=True))
    return write.result(write.over(*filled, *inits), positions)


def window_count(write: Writer, size: Instruction, window: WindowDimension) -> Instruction:
    """The number of window positions over so many elements: `WindowDimension.output_size`."""
    if window == WindowDimension():
        return size
    if window.lhs_dilation > 1:
        spread = write.apply("multiply", size, window.lhs_dilation)
        size = write.apply("maximum", write.apply("subtract", spread, window.lhs_dilation - 1), 0)
    rest = window.pad_low + window.pad_high - window.extent + window.stride
    count = write.apply("add", size, rest) if rest else size
    # Not below zero before the division, which rounds towards it.
    return write.apply("divide", write.apply("maximum", count, 0), window.stride)


def select_and_scatter(write: Writer, operands: Sequence[Padded]) -> Padded:
    """Sources that do not count add what changes nothing."""
    x, source, init = operands
    attributes = attributes_of(write.plain, SelectAndScatter)
    window = attributes.window.dimensions
    sizes = tuple(map(merged_size, x.sizes, (None,) * len(window)))
    wide = only(sizes, [d for d, w in enumerate(window) if w != WindowDimension()])
    if not any(wide):
        return Padded(write.plain, sizes)
    if any(size and w.pad_high > 0 for size, w in zip(wide, window, strict=True)):
        write.refuse("windows reach beyond a dynamic dimension")
    element_type = source.value.array_shape.element_type
    neutral = neutral_of(attributes.scatter, element_type)
    if neutral is None:
        write.refuse("its scatter computation has no neutral value that we know")
    counts = tuple(s and window_count(write, s, w) for s, w in zip(wide, window, strict=True))
    filled = write.filled(source.value, counts, write.scalar(neutral, element_type))
    return Padded(write.over(x.value, filled, init.value), sizes)


def sort(write: Writer, operands: Sequence[Padded]) -> Padded:
    """Another operand says which elements count; those come first."""
    attributes = attributes_of(write.plain, Sort)
    (dimension,) = attributes.dimensions
    sizes = tuple(map(merged_size, *(o.sizes for o in operands)))
    condition = write.inside(operands[0].bounds, only(sizes, [dimension]))
    if condition is None:
        return write.result(write.plain, sizes)
    values = (*(o.value for o in operands), condition)
    shape = TupleShape(tuple(v.shape for v in values))
    comparator = _counting_first(attributes.to_apply)
    made = replace(
        write.plain,
        shape=shape,
        operands=values,
        attributes=replace(attributes, to_apply=comparator),
    )
    parts = [Padded(element_of(made, made, n), sizes) for n in range(len(operands))]
    if not isinstance(write.plain.shape, TupleShape):
        return parts[0]
    return of_tuple(tuple_of(write.plain, [p.value for p in parts]), parts)


def _counting_first(less: Computation) -> Computation:
    """`less(a, b)` → `counts(a) and (less(a, b) or not counts(b))`."""
    count, origin, pred = len(less.parameters), less.root, ArrayShape(PRED)
    flags = [
        replace(derived(origin, "parameter", pred, (), Parameter(n)), name=f"p{n}")
        for n in (count, count + 1)
    ]
    beyond = derived(origin, "not", pred, (flags[1],))
    before = derived(origin, "or", pred, (less.root, beyond))
    root = derived(origin, "and", pred, (flags[0], before))
    return Computation(f"{less.name}_counting", (*less.parameters, *flags), root)


def batch_norm(write: Writer, operands: Sequence[Padded]) -> Padded:
    """Of the dimensions that a batch is averaged over none may be dynamic."""
    x = operands[0]
    feature = attributes_of(write.plain, BatchNorm).feature_index
    others = [d for d in range(len(x.sizes)) if d != feature]
    if write.plain.op == "batch-norm-inference":
        return Padded(write.plain, x.sizes)
    if dynamic_among(x.sizes, others):
        write.refuse("it averages over a dynamic dimension")
    parts = whole(write.plain)
    first, *rest = parts.elements
    vector = (x.sizes[feature],)
    return of_tuple(
        parts.value, (Padded(first.value, x.sizes), *(Padded(r.value, vector) for r in rest))
    )
