"""Which sort a line of values gets: what costs least, of those that its comparator allows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from ccodegen.loop.builder import Builder, apply, compare, const
from ccodegen.loop.ir import Index, LoopKind
from ccodegen.ops.bucket_radix_sort import BucketRadixSorter
from ccodegen.ops.line_sorter import Key, Less, LineSorter, Read, Write, key_word, line_memory
from ccodegen.ops.lowering import NestScope
from ccodegen.ops.merge_sort import MergeSorter
from ccodegen.ops.radix_buckets import takes_buckets
from ccodegen.ops.radix_sort import KeyedLine, Radix, RadixSorter, finds_places_first, room
from ccodegen.ops.rank_sort import RankSorter
from ccodegen.ops.sliced_radix_sort import SlicedRadixSorter
from ccodegen.ops.thread_parts import turns_of
from ccodegen.support.decisions import decided
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable
from ccodegen.target import Machine, Target

_MERGING, _RANK, _DIGITS = "merging", "rank", "digits"
_LEAST_SIDE_BY_SIDE = 16  # lines
_MOST_SIDE_BY_SIDE = 16  # elements of a line: the work grows with the square
_MOST_BITS = 64
_MOST_WIDTH = 12
_PLACES = 1 << 11  # that elements of a bucket move to at a time, all their values counted
_MOST_ELEMENTS = 2**31
_SLICES = 2  # of a line for each thread, as some cores are slower
_CACHE_LINES = 512  # that a first-level cache surely has room for beside other data

# Nanoseconds, measured where vectors are 64 bytes; one of them with 32.
_MERGED = 6.0  # a turn of a merge: mostly a branch that was not foreseen
_RANKING = 15.0  # of a line
_RANKED = 2.0  # an element moved to its rank
COMPARED = 0.07  # a key of 32 bits with another one
_PASS = 25.0  # over the digits of a line
_COUNTER = 0.45  # of a digit: cleared, and made a place
_COUNTED = 0.3  # an element's digit
_MOVED = 1.0  # an element's value to the place of its digit
_LEAST_SHARED = 600_000.0  # of a line that threads share, whose cores exchange it in each pass
_MISSED = 2.0  # where no cache near by has a line for that place
_MISSED_NEAR = 0.15  # where one has
_MISSED_NEAR_ALONE = 0.9  # likewise, where nothing but moves is done meanwhile: 32 bytes
_NEAR = 1 << 22  # bytes of a line, of all its values, for which that is so


@immutable
class Order:
    """`less(a, b)` of the values of two elements. `key(values)`: an unsigned integer of `bits` bits
    that orders in the same way; None, and no bits, where there is none. `unordered(values)`: not 0
    in a u32 for an element that has no place in that order."""

    less: Less
    bits: int = 0
    key: Key | None = None
    unordered: Key | None = None


class GuardedSorter:
    """Emits a sort by key, and beside it one that is taken if an element is not in order."""

    def __init__(
        self,
        builder: Builder,
        n: int,
        unordered: Key,
        sorter: LineSorter,
        otherwise: LineSorter,
    ) -> None:
        self._builder, self._n, self._unordered = builder, n, unordered
        self._sorter, self._otherwise = sorter, otherwise

    def sort(self, read: Read, write: Write, kept: int) -> None:
        b = self._builder
        found = b.variable(const(ElementType.U32, 0), "unordered")
        with b.loop(self._n, "i") as i:
            b.store(found, (), apply("or", b.load(found), self._unordered(read(i))))
        none = compare("eq", b.load(found), const(ElementType.U32, 0))
        with b.when(none):
            self._sorter.sort(read, write, kept)
        with b.otherwise():
            self._otherwise.sort(read, write, kept)


def sorts_side_by_side(target: Target, lines: Sequence[int], n: int, order: Order) -> bool:
    """Whether lines of n elements are sorted many at a time."""
    if order.key is None or order.unordered is not None or order.bits > _MOST_BITS:
        return False
    few = not lines or lines[-1] < _LEAST_SIDE_BY_SIDE
    return not few and 2 <= n <= _MOST_SIDE_BY_SIDE and target.machine.has_vectors


@contextmanager
def lines_to_sort(
    scope: NestScope, outer: Sequence[int], n: int, types: Sequence[ElementType], order: Order
) -> Iterator[Index]:
    """A loop over the lines, of n elements of these types. Threads share the lines, with memory for
    one line each, unless they share each line."""
    builder, threads = scope.builder, scope.target.machine.threads
    longest = max(range(len(outer)), key=outer.__getitem__, default=0)
    parts = min(threads, outer[longest]) if outer else 1
    if parts < 2 or _shares_line(scope.target, outer, n, types, order.bits):
        with builder.loops(outer, "line") as line:
            yield line
        return
    with (
        builder.loop(parts, "part", LoopKind.APART) as part,
        scope.in_parts(parts, part),
        builder.loops(outer[:longest], "line") as before,
        builder.loops(outer[longest + 1 :], "line") as after,
        turns_of(builder, part, parts, outer[longest]) as number,
    ):
        yield (*before, number, *after)


def line_sorter(
    scope: NestScope,
    n: int,
    types: Sequence[ElementType],
    order: Order,
    outer: Sequence[int] = (),
) -> LineSorter:
    """The cheapest sort of lines of n elements with values of these types, to be asked for in the
    loop over the lines. `outer`: of how many lines, where `lines_to_sort` loops over them."""
    builder = scope.builder
    if order.key is None or not _takes_keys(scope.target, n, order.bits):
        return MergeSorter(builder, n, [line_memory(scope, t, (2, n)) for t in types], order.less)
    lines = [line_memory(scope, t, (2, room(n))) for t in types]
    merge = MergeSorter(builder, n, lines, order.less)
    machine = scope.target.machine
    best = cheapest(f"sort of {n} elements", _prices(machine, n, types, order.bits))
    if best == _MERGING:
        return merge
    sorter: LineSorter = RankSorter(builder, n, key_word(order.bits), order.key)
    if best == _DIGITS:
        radix = best_radix(machine, n, types, order.bits)
        sorter = _radix_sorter(scope, KeyedLine(n, lines, order.key, radix), outer)
    if order.unordered is None:
        return sorter
    return GuardedSorter(builder, n, order.unordered, sorter, merge)


def cheapest(what: str, prices: Mapping[str, float]) -> str:
    """The way that takes the fewest nanoseconds; a decision that can be looked at."""
    best = min(prices, key=prices.__getitem__)
    told = ", ".join(f"{price / 1e3:.2g} µs by {way}" for way, price in prices.items())
    decided(what, f"by {best}", told)
    return best


def sort_cost(target: Target, n: int, types: Sequence[ElementType], bits: int) -> float:
    """Nanoseconds of the sort of a line of n elements by keys of so many bits."""
    keyed = _takes_keys(target, n, bits)
    return min(_prices(target.machine, n, types, bits).values()) if keyed else merge_cost(n)


def _takes_keys(target: Target, n: int, bits: int) -> bool:
    memory_is_scarce = target.memory.ram > 0
    return bits <= _MOST_BITS and n <= _MOST_ELEMENTS and not memory_is_scarce


def _prices(
    machine: Machine, n: int, types: Sequence[ElementType], bits: int
) -> dict[str, float]:
    digits = radix_cost(machine, best_radix(machine, n, types, bits), n, types)
    return {_MERGING: merge_cost(n), _RANK: rank_cost(n, bits), _DIGITS: digits}


def _shares_line(
    target: Target, outer: Sequence[int], n: int, types: Sequence[ElementType], bits: int
) -> bool:
    """Whether threads share one line: it is long, sorted by digits, and they do not have as many
    lines each."""
    machine = target.machine
    has_as_many = max(outer, default=1) % machine.threads == 0
    if machine.threads < 2 or has_as_many or not bits or not _takes_keys(target, n, bits):
        return False
    prices = _prices(machine, n, types, bits)
    return prices[_DIGITS] >= _LEAST_SHARED and min(prices, key=prices.__getitem__) == _DIGITS


def _radix_sorter(scope: NestScope, line: KeyedLine, outer: Sequence[int]) -> LineSorter:
    machine, types = scope.target.machine, [b.type for b in line.buffers]
    if _shares_line(scope.target, outer, line.n, types, line.radix.bits):
        return SlicedRadixSorter(scope, line, _SLICES * machine.threads)
    bits, width = line.radix.bits, max(1, (_PLACES // len(types)).bit_length() - 1)
    parting = Radix(bits, -(-bits // width))
    if line.n * sum(t.bytes for t in types) > _NEAR and takes_buckets(line.n, parting):
        return BucketRadixSorter(scope, replace(line, radix=parting))
    return RadixSorter(scope, line)


def merge_cost(n: int) -> float:
    passes = max(0, n - 1).bit_length()
    return _MERGED * passes * n


def rank_cost(n: int, bits: int) -> float:
    words = 1 if bits <= 32 else 2
    return _RANKING + (_RANKED + COMPARED * words * n) * n


def radix_cost(machine: Machine, radix: Radix, n: int, types: Sequence[ElementType]) -> float:
    operands, line_bytes = len(types), n * sum(t.bytes for t in types)
    misses = max(0.0, 1 - _CACHE_LINES / (operands * radix.counters))
    near = _MISSED_NEAR_ALONE if finds_places_first(machine) else _MISSED_NEAR
    missed = near if line_bytes <= _NEAR else _MISSED
    element = _COUNTED + operands * (_MOVED + misses * missed)
    return radix.passes * (_PASS + _COUNTER * radix.counters + element * n)


def best_radix(machine: Machine, n: int, types: Sequence[ElementType], bits: int) -> Radix:
    choices = (Radix(bits, passes) for passes in range(1, bits + 1))
    narrow = (r for r in choices if r.width <= _MOST_WIDTH)
    return min(narrow, key=lambda r: radix_cost(machine, r, n, types))
