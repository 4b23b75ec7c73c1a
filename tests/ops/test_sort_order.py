"""What comparators order by, and the sorts that need to know: by rank and by digits."""

from __future__ import annotations

import numpy as np
import pytest

import ccodegen.ops
from ccodegen.backend.options import with_threads
from ccodegen.hlo.text import parse
from ccodegen.loop.text import to_text
from ccodegen.ops import line_sort, radix_buckets
from ccodegen.ops import line_sorter as line_sorter_module
from ccodegen.ops.bucket_radix_sort import BucketRadixSorter
from ccodegen.ops.line_sort import Order, best_radix, line_sorter
from ccodegen.ops.merge_sort import MergeSorter
from ccodegen.ops.radix_sort import RadixSorter
from ccodegen.ops.rank_sort import RankSorter
from ccodegen.ops.sliced_radix_sort import SlicedRadixSorter
from ccodegen.ops.sort_order import sort_keys
from ccodegen.support.element_type import HLO_TYPES, ElementType
from ccodegen.target import Machine, load
from tests import three_ways
from tests.ops.scope import Scope, module_of

assert ccodegen.ops

_LESS = """
less {{ a = {0}[] parameter(0)
  b = {0}[] parameter(1)
  p = s32[] parameter(2)
  q = s32[] parameter(3)
  {1} }}
"""
BY = _LESS + """ENTRY e {{ x = {0}[{2}] parameter(0)
  i = s32[{2}] iota(), iota_dimension=0
  ROOT r = ({0}[{2}], s32[{2}]) sort(x, i), dimensions={{0}}, to_apply=less }}
"""
LINES = _LESS + """ENTRY e {{ x = {0}[{2}] parameter(0)
  i = s32[{2}] iota(), iota_dimension=0
  ROOT r = ({0}[{2}], s32[{2}]) sort(x, i), dimensions={{{3}}}, to_apply=less }}
"""
LESS = "ROOT c = pred[] compare(a, b), direction=LT, type=TOTALORDER"
GREATER = "ROOT c = pred[] compare(a, b), direction=GT"
SWAPPED = "ROOT c = pred[] compare(b, a), direction=LT"
CANONICAL = """zero = f32[] constant(0)
  nan = f32[] constant(nan)
  an = pred[] compare(a, a), direction=NE
  bn = pred[] compare(b, b), direction=NE
  az = pred[] compare(a, zero), direction=EQ
  bz = pred[] compare(b, zero), direction=EQ
  a0 = f32[] select(az, zero, a)
  b0 = f32[] select(bz, zero, b)
  a1 = f32[] select(an, nan, a0)
  b1 = f32[] select(bn, nan, b0)
  ROOT c = pred[] compare(a1, b1), direction=LT, type=TOTALORDER"""
THEN_BY_PAYLOAD = """lt = pred[] compare(a, b), direction=LT
  eq = pred[] compare(a, b), direction=EQ
  gt = pred[] compare(p, q), direction=GT
  tie = pred[] and(eq, gt)
  ROOT c = pred[] or(lt, tie)"""
SQUARES = """s = f32[] multiply(a, a)
  t = f32[] multiply(b, b)
  ROOT c = pred[] compare(s, t), direction=LT, type=TOTALORDER"""
COMPONENTS = """x = f32[] real(a)
  y = f32[] real(b)
  u = f32[] imag(a)
  v = f32[] imag(b)
  lt = pred[] compare(x, y), direction=GT, type=TOTALORDER
  eq = pred[] compare(y, x), direction=EQ, type=TOTALORDER
  rest = pred[] compare(u, v), direction=LT, type=TOTALORDER
  tie = pred[] and(rest, eq)
  ROOT c = pred[] or(tie, lt)"""


def values(element_type: str, n: int) -> np.ndarray:
    """All kinds of values, many of them more than once."""
    t, random = HLO_TYPES[element_type], np.random.default_rng(n)
    if t.is_integer or t is ElementType.PRED:
        held = 8 * t.bytes
        bits = random.integers(0, 2**t.bits, n, np.uint64) & np.uint64(2**t.bits - 1)
        if t.is_integer and t.bits < 8:
            return bits.astype(np.int8).astype(t.dtype)
        return bits.astype(f"u{held // 8}").view(t.dtype)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1, -1, 1e-40, -1e-40]
    x = np.where(random.random(n) < 0.5, random.choice(special, n), random.standard_normal(n))
    with np.errstate(all="ignore"):
        return x.astype(t.dtype) if not t.is_complex else (x + 1j * x[::-1]).astype(t.dtype)


PARTIAL = """lt = pred[] compare(a, b), direction=GT
  eq = pred[] compare(b, a), direction=EQ
  rest = pred[] compare(p, q), direction=LT
  tie = pred[] and(eq, rest)
  ROOT c = pred[] or(lt, tie)"""
CASES = [
    *((t, GREATER) for t in ("f32", "f64", "bf16", "f8e5m2")),
    *((t, PARTIAL) for t in ("f32", "f16")),
    ("c128", COMPONENTS.replace("f32", "f64")),
    *((t, LESS) for t in ("f32", "f64", "f16", "bf16", "f8e5m2", "f8e4m3fn")),
    *((t, GREATER) for t in ("pred", "s4", "u4", "s8", "u8", "s16", "u16", "s32", "u32", "s64")),
    *((t, SWAPPED) for t in ("u64", "s32", "u2")),
    *((t, THEN_BY_PAYLOAD) for t in ("s32", "u8", "s16")),
    ("f32", CANONICAL),
    ("c64", COMPONENTS),
]


FLOATS = ("f64", "f32", "f16", "bf16", "f8e5m2")


@pytest.mark.parametrize("n", [5, 53])
@pytest.mark.parametrize(("element_type", "comparator"), CASES)
def test_sorts_by_a_key_have_the_bits_of_the_merge_sort(element_type, comparator, n):
    text = BY.format(element_type, comparator, n)
    case = three_ways.Case(module_of(text), (values(element_type, n),), strict=True)
    three_ways.prepare(case, three_ways.plain_target()).interpret()


@pytest.mark.parametrize(("element_type", "comparator"), CASES[::4] + CASES[-2:])
def test_sorts_by_digits_compiled(element_type, comparator):
    text = BY.format(element_type, comparator, 301)
    three_ways.check(text, values(element_type, 301), strict=True)


@pytest.mark.parametrize("n", [2, 5, 16])
@pytest.mark.parametrize(("element_type", "comparator"), CASES)
def test_short_lines_side_by_side(element_type, comparator, n):
    text = BY.format(element_type, comparator, f"{n},70")
    x = values(element_type, n * 70).reshape(n, 70)
    target = load("host")
    if n == 5:
        built = three_ways.check(text, x, strict=True, target=target)
    else:
        prepared = three_ways.prepare(three_ways.Case(module_of(text), (x,), strict=True), target)
        prepared.interpret()
        built = prepared.built
    exchanges = any("let wrong" in to_text(kernel) for kernel in built.program.kernels)
    partial = comparator in (GREATER, PARTIAL) and element_type in FLOATS
    assert exchanges != (partial or element_type == "c128")


@pytest.mark.parametrize("n", [5, 53, 301])
@pytest.mark.parametrize(("element_type", "comparator"), [("f32", GREATER), ("bf16", PARTIAL)])
def test_floats_compared_as_numbers(element_type, comparator, n):
    x = values(element_type, n)
    numbers = np.where(np.isnan(x), x.dtype.type(0), x)
    three_ways.check(BY.format(element_type, comparator, n), numbers, strict=True)


@pytest.mark.parametrize("vector_bytes", [32, 64])
@pytest.mark.parametrize(
    ("element_type", "comparator", "n"),
    [("f32", CANONICAL, 301), ("bf16", PARTIAL, 601), ("s8", GREATER, 2100), ("u64", SWAPPED, 257)],
)
def test_sorts_by_digits_in_slices(element_type, comparator, n, vector_bytes, monkeypatch):
    monkeypatch.setattr(line_sort, "_LEAST_SHARED", 0)
    target = three_ways.with_vectors(with_threads(three_ways.plain_target(), 2), vector_bytes)
    text = BY.format(element_type, comparator, n)
    built = three_ways.check(text, values(element_type, n), strict=True, target=target)
    assert any("apart" in to_text(kernel) for kernel in built.program.kernels)


@pytest.fixture
def short_lines_in_buckets(monkeypatch):
    monkeypatch.setattr(line_sort, "_LEAST_SHARED", 0)
    monkeypatch.setattr(line_sort, "_NEAR", 0)
    monkeypatch.setattr(radix_buckets, "_ELEMENTS", 2**-20)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("element_type", "comparator", "n"),
    [("f32", CANONICAL, 301), ("u64", SWAPPED, 257), ("s32", GREATER, 2100)],
)
def test_sorts_by_digits_in_buckets(
    element_type, comparator, n, threads, short_lines_in_buckets
):
    target = with_threads(three_ways.plain_target(), threads)
    text = BY.format(element_type, comparator, n)
    built = three_ways.check(text, values(element_type, n), strict=True, target=target)
    assert any("bucket" in to_text(kernel) for kernel in built.program.kernels)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("share", [0, 0.5, 0.9, 1])
def test_most_elements_in_one_bucket(share, threads, short_lines_in_buckets):
    target = with_threads(three_ways.plain_target(), threads)
    random = np.random.default_rng(3)
    near, wide = random.integers(0, 1000, 1100), random.integers(-(2**31), 2**31, 1100)
    x = np.where(np.arange(1100) < share * 1100, near, wide).astype(np.int32)
    three_ways.check(BY.format("s32", GREATER, 1100), x, strict=True, target=target)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_first_of_many_in_buckets(threads, short_lines_in_buckets):
    target = with_threads(three_ways.plain_target(), threads)
    text = """ENTRY e { x = s32[700] parameter(0)
      ROOT r = (s32[650], s32[650]) topk(x), k=650, largest=true }"""
    built = three_ways.check(text, values("s32", 700), strict=True, target=target)
    assert any("bucket" in to_text(kernel) for kernel in built.program.kernels)


BY_PRODUCT = """s = {0}[] multiply(a, a)
  t = {0}[] multiply(b, b)
  ROOT c = pred[] compare(s, t), direction=LT"""


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize(("shape", "dimension"), [((3, 130), 1), ((140, 5), 0), ((2, 150, 4), 1)])
@pytest.mark.parametrize(
    ("element_type", "comparator"),
    [("f32", CANONICAL), ("u64", SWAPPED), ("s8", GREATER), ("s32", BY_PRODUCT.format("s32"))],
)
def test_threads_have_a_line_each(element_type, comparator, shape, dimension, threads, monkeypatch):
    """Of lines too long for a thread's stack: all of the memory that it takes to sort one."""
    monkeypatch.setattr(line_sorter_module, "_MOST_LOCAL", 0)
    target = with_threads(three_ways.plain_target(), threads)
    x = values(element_type, int(np.prod(shape))).reshape(shape)
    text = LINES.format(element_type, comparator, ",".join(map(str, shape)), dimension)
    built = three_ways.check(text, x, strict=True, target=target)
    assert any("apart" in to_text(kernel) for kernel in built.program.kernels)


@pytest.mark.parametrize("lines", [1, 3, 4])
def test_threads_have_a_line_each_of_which_they_find_the_first(lines, monkeypatch):
    monkeypatch.setattr(line_sorter_module, "_MOST_LOCAL", 0)
    target = with_threads(three_ways.plain_target(), 2)
    text = f"""ENTRY e {{ x = s32[{lines},700] parameter(0)
      ROOT r = (s32[{lines},650], s32[{lines},650]) topk(x), k=650, largest=true }}"""
    built = three_ways.check(text, values("s32", 700 * lines).reshape(lines, 700), target=target)
    shared = any("apart" in to_text(kernel) for kernel in built.program.kernels)
    assert shared == (lines > 1)


def test_passes_over_digits_that_all_elements_share_are_left_out():
    x = np.random.default_rng(1).integers(70_000, 70_100, 300).astype(np.int32)
    three_ways.check(BY.format("s32", GREATER, 300), x, strict=True)
    three_ways.check(BY.format("s32", GREATER, 300), np.full(300, 7, np.int32), strict=True)


def test_passes_over_digits_that_all_elements_of_buckets_share(short_lines_in_buckets):
    random = np.random.default_rng(1)
    near, far = random.integers(70_000, 70_100, 300), random.integers(-3, 3, 300) << 29
    for x in (near, np.full(300, 7), near + far, far):
        three_ways.check(BY.format("s32", GREATER, 300), x.astype(np.int32), strict=True)


def test_passes_over_slices_are_left_out_likewise(monkeypatch):
    monkeypatch.setattr(line_sort, "_LEAST_SHARED", 0)
    target = with_threads(three_ways.plain_target(), 2)
    for x in (np.random.default_rng(1).integers(70_000, 70_100, 300), np.full(300, 7)):
        text = BY.format("s32", GREATER, 300)
        three_ways.check(text, x.astype(np.int32), strict=True, target=target)


@pytest.mark.parametrize(
    "shape", [(0, 40), (3, 0), (2, 1, 40), (40, 3), (1, 1, 2, 300)], ids=str
)
def test_lines_of_arrays(shape):
    for dimension in {0, len(shape) - 1}:
        dims = ",".join(map(str, shape))
        text = f"""less {{ a = f32[] parameter(0)
          b = f32[] parameter(1)
          {LESS} }}
        ENTRY e {{ x = f32[{dims}] parameter(0)
          ROOT r = f32[{dims}] sort(x), dimensions={{{dimension}}}, to_apply=less }}"""
        three_ways.check(text, np.random.default_rng(2).standard_normal(shape, np.float32))


def keys_of(element_type: str, comparator: str):
    module = parse("HloModule m\n" + BY.format(element_type, comparator, 2), "test.hlo")
    return sort_keys(module.entry.root.attributes.to_apply)


def test_keys_of_comparators():
    (key,) = keys_of("f32", LESS)
    assert key.computation.root.op == "parameter" and not key.descending
    for comparator in (GREATER, SWAPPED):
        (key,) = keys_of("s32", comparator)
        assert key.descending
    (key,) = keys_of("f32", GREATER)
    assert key.partial
    (key,) = keys_of("f32", CANONICAL)
    assert not key.partial and key.computation.root.name == "a1"
    first, second = keys_of("c64", COMPONENTS)
    assert (first.computation.root.op, first.descending) == ("real", True)
    assert (second.computation.root.op, second.descending) == ("imag", False)


@pytest.mark.parametrize(
    ("element_type", "comparator"),
    [
        ("f32", PARTIAL.replace("direction=EQ", "direction=EQ, type=TOTALORDER")),
        ("c64", "ROOT c = pred[] compare(a, b), direction=EQ"),
        ("s32", "ROOT c = pred[] compare(a, b), direction=LE"),
        ("s32", "ROOT c = pred[] compare(a, p), direction=LT"),
        ("s32", "n = s32[] negate(b)\nROOT c = pred[] compare(a, n), direction=LT"),
        ("s32", "ROOT c = pred[] constant(true)"),
        ("f32", SQUARES),  # may be computed with or without contraction
        ("s32", THEN_BY_PAYLOAD.replace("eq = pred[] compare(a, b)", "eq = pred[] compare(p, q)")),
    ],
)
def test_comparators_without_keys(element_type, comparator):
    assert keys_of(element_type, comparator) == ()


def sorter_of(n, bits, operands=1, target="x86-64", threads=1):
    scope = Scope(None, (), (), target=with_threads(load(target), threads))
    order = Order(lambda a, b: a[0], bits, (lambda values: values[0]) if bits else None)
    return type(line_sorter(scope, n, [ElementType.F32] * operands, order))


def test_the_cheapest_sort_is_taken():
    assert sorter_of(16, 32) is RankSorter and sorter_of(50, 64, 2) is RankSorter
    assert sorter_of(1000, 32) is RadixSorter and sorter_of(1000, 8) is RadixSorter
    assert sorter_of(10**5, 32) is RadixSorter
    assert sorter_of(2 * 10**6, 32) is BucketRadixSorter
    assert sorter_of(2 * 10**5, 32, threads=2) is SlicedRadixSorter
    assert sorter_of(10**5, 32, threads=2) is RadixSorter
    assert sorter_of(10**3, 32, threads=2) is RadixSorter
    assert sorter_of(1, 32) is MergeSorter
    assert sorter_of(1000, 0) is MergeSorter and sorter_of(1000, 65) is MergeSorter
    assert sorter_of(1000, 32, target="cortex-m4") is MergeSorter


@pytest.mark.parametrize(
    ("vector_bytes", "passes"),
    [(64, [[1, 3, 6], [1, 3, 8], [1, 4, 8]]), (32, [[1, 4, 8], [1, 4, 8], [1, 4, 8]])],
)
def test_the_cheapest_digits_are_taken(vector_bytes: int, passes: list[list[int]]):
    types = {8: ElementType.U8, 32: ElementType.F32, 64: ElementType.F64}
    machine, lengths = Machine(vector_bytes=vector_bytes), (10**5, 10**6, 10**7)
    taken = [[best_radix(machine, n, [types[b]], b).passes for b in types] for n in lengths]
    assert taken == passes
