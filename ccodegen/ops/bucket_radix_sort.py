"""A radix sort of a line that the caches near a core do not hold.

It begins with the greatest digit, if that makes buckets that pay, and goes on in each of them by
the lesser ones: elements move to places far apart only once. A line that stays whole has shorter
digits, for fewer places at a time, unless few bits differ. A digit that is the same in all keys has
no pass.
"""

from __future__ import annotations

from ccodegen.loop.builder import apply, compare, const, index
from ccodegen.loop.ir import Buffer, Expr, LoopKind
from ccodegen.ops.index import less, minus, plus
from ccodegen.ops.line_sorter import Read, Write
from ccodegen.ops.lowering import NestScope
from ccodegen.ops.radix_buckets import Buckets
from ccodegen.ops.radix_sort import BLOCK, Digit, KeyedLine, Radix, RadixSorter, Span, span_of

_WHOLE_WIDTH = 8  # bits, of a digit of a line that stays whole


class BucketRadixSorter(RadixSorter):
    """Emits the sort of one line."""

    def __init__(self, scope: NestScope, line: KeyedLine) -> None:
        super().__init__(scope, line, rows=1)
        bits = line.radix.bits
        self._whole = Radix(bits, -(-bits // _WHOLE_WIDTH))
        self._buckets = Buckets(scope, line)

    def sort(self, read: Read, write: Write, kept: int) -> None:
        b, parting, whole = self._builder, self._radix, self._whole
        last = parting.passes - 1
        keys = b.local(parting.word, (BLOCK,), "keys")
        varying = self._read_all(read, keys)
        parted = b.variable(index(0), "parted")  # the side where the elements lie
        with b.loop(2, "round") as number:
            is_first = compare("eq", number, index(0))
            is_parted = b.let(compare("ne", b.load(parted), index(0)), "is_parted")
            is_short = compare("lt", varying, const(parting.word, parting.counters))
            is_wide = b.let(apply("or", is_parted, is_short), "is_wide")

            def chosen(name: str, first: int, wide: int, narrow: int) -> Expr:
                then = apply("select", is_wide, index(wide), index(narrow))
                return b.let(apply("select", is_first, index(first), then), name)

            passes = chosen("passes", 1, last, whole.passes)
            shift = chosen("shift", last * parting.width, 0, 0)
            width = chosen("width", parting.width, parting.width, whole.width)
            values = chosen("values", parting.counters, parting.counters, whole.counters)
            buckets = apply("select", is_parted, index(parting.counters), index(1))
            with b.when(apply("not", is_parted)):
                self._buckets.be_one()
            with b.loop(b.let(buckets, "buckets"), "bucket") as d:
                start, stop = self._buckets.bounds(d)
                with b.when(less(start, stop)):
                    span = span_of(start, stop)
                    side = b.variable(b.load(parted), "side")
                    with b.loop(passes, "turn") as turn:
                        at = plus(shift, apply("multiply", turn, width))
                        digit = Digit(b.let(at, "at"), values)
                        varies = self._digit(varying, digit)
                        with b.when(compare("ne", varies, const(varies.type, 0))):
                            self._pass(digit, side, span, keys, is_first)
                    with b.when(is_first):
                        b.store(parted, (), b.load(side))
                    with b.otherwise():
                        self._write_span(span, b.load(side), write, kept)

    def _read_all(self, read: Read, keys: Buffer) -> Expr:
        """Puts what is read into the lines; the bits in which keys differ. Compilers make vectors
        of loops that make keys, or join them, not both."""
        b, word = self._builder, self._radix.word
        first = b.let(self._line.key([b.let(v, "value") for v in read(index(0))]), "first")
        varying = b.variable(const(word, 0), "varying")
        with self._blocks(span_of(index(0), index(self._line.n))) as (start, length):
            with b.loop(length, "k", LoopKind.VECTOR) as k:
                b.store(keys, (k,), self._line.key(self._read_and_store(read, plus(start, k))))
            with b.loop(length, "k", LoopKind.VECTOR) as k:
                differs = apply("xor", b.load(keys, (k,)), first)
                b.store(varying, (), apply("or", b.load(varying), differs))
        return b.let(b.load(varying), "varied")

    def _pass(self, digit: Digit, side: Buffer, span: Span, keys: Buffer, is_first: Expr) -> None:
        """By one digit, from the side where the elements of a span lie to the other one, where it
        pays; the first time, only if buckets do."""
        b, counters, row = self._builder, self._counters, (index(0),)
        source = b.let(b.load(side), "from")
        found = self._count_digit(counters, row, digit, source, span, keys)
        pays = b.variable(self._digits_differ(counters, row, digit, found, span), "pays")
        with b.when(is_first):
            with b.loop(self._buckets.count, "d") as d:
                self._buckets.begin(d, counters.place(row, d))
            self._buckets.end()
            b.store(pays, (), self._buckets.pay())
        with b.when(b.load(pays)):
            target = b.let(minus(index(1), source), "to")
            self._move_span(counters, row, digit, (source, target), span, keys)
            b.store(side, (), target)
