"""Argmax and its kin in lanes: the best value of each block first, then the place where it stands.

    for each block of the row:
        found = the maximum of the block                         in lanes
        if found is better than best: best = found, place = where the block begins
    place = where the block there has `best` first               in lanes

Nothing in the loop branches: what a row holds would be hard to predict. What the other operands
have to give is read at the place that was found: a counter of places is never made.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ccodegen.loop.builder import Builder, apply, compare, const, index
from ccodegen.loop.ir import INDEX, MOST_UNROLLED, Buffer, Expr, Index, Load, LoopKind
from ccodegen.lower.elements import Elements, either
from ccodegen.lower.float_extremum import better_number
from ccodegen.lower.kernel_builder import Values
from ccodegen.lower.lanes import Combine, filled, join_lanes
from ccodegen.lower.reduction import Reduction
from ccodegen.ops.extremum import extremum_operator, growing
from ccodegen.ops.movement import SAME_VALUES
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable

LEAST_LANES = 2 * MOST_UNROLLED  # a power of two; of shorter loops no vectors are made
_BLOCK = 1024
_MOST_KEPT = 4 * _BLOCK  # elements of a row; of a longer one a block is computed again
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
    grows = growing(reduction.inputs, reduction.initial, dimension)
    return extremum_operator(reduction.attributes.to_apply, grows)


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
    is_zero = compare("eq", best, const(best.type, 0.0))
    unclear = apply("or", is_zero, compare("ne", best, best))
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
            now = builder.let(apply("select", compare("eq", old, old), now, before), "now")
        chosen = apply("select", compare("eq", best, old), before, now)
        others.append(builder.let(chosen, "kept"))
    return (best, *others)


def _better(builder: Builder, operator: str, a: Expr, b: Expr) -> Expr:
    """The operator, but for the signs of zeros and NaNs: that is less work."""
    if not a.type.is_float:
        return apply(operator, a, b)
    a = builder.let(a, "a")
    better = builder.let(better_number(builder, operator, a, b), "better")
    return apply("select", compare("eq", a, a), better, a)


@immutable
class _Kept:
    """Elements that were computed, from the place `begin` of the row on."""

    buffer: Buffer
    begin: Expr

    def at(self, place: Expr) -> Index:
        return (apply("subtract", place, self.begin),)


@immutable
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
        first = builder.let(first, "first")
        best = builder.variable(first, "best")
        place = builder.variable(const(ElementType.S32, -1), "place")
        is_kept = self._is_computed and extent <= _MOST_KEPT
        kept = self._keeper(extent, index(0)) if is_kept else None
        block = min(extent, _BLOCK)
        with builder.loop(-(-extent // block), "block") as number:
            start: Expr = apply("multiply", number, index(block))
            if extent % block:  # the last block begins earlier, and sees some elements again
                start = builder.let(apply("minimum", start, index(extent - block)), "start")
            found = self._best_of(start, block, first, kept)
            self._keep_better(best, place, found, start)
        operands = range(1, len(self.reduction.inputs))

        def there() -> Values:
            begin = builder.let(apply("convert", Load(place), type=INDEX), "begin")
            at = builder.let(self._place(begin, block, first, Load(best), kept), "at")
            return tuple(self.element(n, at) for n in operands)

        is_found = compare("ge", Load(place), const(ElementType.S32, 0))
        kept_others = either(builder, is_found, there, lambda: tuple(others))
        return (Load(best), *kept_others)

    @property
    def _is_computed(self) -> bool:
        source, stored = self.reduction.inputs[0], self.elements.stored
        while source not in stored and source.op in SAME_VALUES:
            source = source.operands[0]
        return source not in stored

    def _keeper(self, size: int, begin: Expr) -> _Kept:
        return _Kept(self.builder.local(self.reduction.types[0], (size,), "kept"), begin)

    def _place(
        self, begin: Expr, size: int, first: Expr, wanted: Expr, kept: _Kept | None
    ) -> Expr:
        """Where the block that begins there has the wanted value."""
        last = index(self.reduction.dimensions[-1] - 1)
        if kept is None and self._is_computed:
            # Compilers may round what is computed anew in another way, and its best value too.
            kept = self._keeper(size, begin)
            wanted = self._best_of(begin, size, first, kept)
        offset = self._search(begin, size, self.builder.let(wanted, "wanted"), kept)
        return apply("minimum", apply("add", begin, apply("convert", offset, type=INDEX)), last)

    def _best_of(self, start: Expr, size: int, first: Expr, kept: _Kept | None) -> Expr:
        """The best of the first value and a block, whose elements it keeps."""

        def fold(offset: Expr, so_far: Expr) -> Expr:
            place = apply("add", start, offset)
            value = self.builder.let(self.element(0, place), "value")
            if kept is not None:
                self.builder.store(kept.buffer, kept.at(place), value)
            return _better(self.builder, self.operator, so_far, value)

        return self._in_lanes(size, first, fold, partial(_better, self.builder, self.operator))

    def _keep_better(self, best: Buffer, place: Buffer, found: Expr, start: Expr) -> None:
        builder = self.builder
        old = builder.let(Load(best), "old")
        new = builder.let(_better(builder, self.operator, old, found), "new")
        is_better = compare("ne", new, old)
        if old.type.is_float:  # the first NaN stays
            is_better = apply("and", is_better, compare("eq", old, old))
        is_better = builder.let(is_better, "is_better")
        begin = apply("convert", start, type=place.type)
        builder.store(place, (), apply("select", is_better, begin, Load(place)))
        builder.store(best, (), new)

    def _search(self, start: Expr, size: int, wanted: Expr, kept: _Kept | None) -> Expr:
        """How far from the start the wanted value is, or a NaN: there is none but where one is
        wanted."""

        def step(offset: Expr, so_far: Expr) -> Expr:
            place = apply("add", start, offset)
            stored = kept and Load(kept.buffer, kept.at(place))
            value = self.builder.let(stored or self.element(0, place), "value")
            here = apply("convert", offset, type=so_far.type)
            is_wanted = compare("eq", value, wanted)
            if value.type.is_float:
                is_wanted = apply("or", is_wanted, compare("ne", value, value))
            return apply("select", is_wanted, here, so_far)

        nowhere = const(ElementType.S32, size)
        return self._in_lanes(size, nowhere, step, partial(apply, "minimum"), backwards=True)

    def _in_lanes(
        self,
        size: int,
        initial: Expr,
        step: Callable[[Expr, Expr], Expr],
        join: Combine,
        backwards: bool = False,
    ) -> Expr:
        """The join of lanes that begin with `initial` and take `step(offset, lane)` for every
        offset below `size`, for some of them twice; or from the end."""
        builder, count = self.builder, self.lanes
        lanes = filled(builder, initial, count)

        def turn(first: Expr) -> None:
            with builder.loop(count, "l", LoopKind.VECTOR) as lane:
                so_far = builder.let(Load(lanes, (lane,)), "so_far")
                builder.store(lanes, (lane,), step(apply("add", first, lane), so_far))

        whole, rest = divmod(size, count)
        if rest and backwards:
            turn(index(size - count))
        with builder.loop(whole, "r") as number:
            block = apply("subtract", index(whole - 1), number) if backwards else number
            turn(apply("multiply", block, index(count)))
        if rest and not backwards:
            turn(index(size - count))
        return builder.let(join_lanes(builder, lanes, join), "joined")
