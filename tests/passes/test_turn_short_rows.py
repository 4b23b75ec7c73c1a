"""Reduces of rows that no array holds as those of columns: the same numbers, in the same order."""

from __future__ import annotations

import numpy as np
import pytest

import ccodegen
from ccodegen.passes.context import PassContext
from ccodegen.passes.turn_short_rows import turn_short_rows
from ccodegen.target import load
from tests.passes.checking import WITHOUT_VECTORS_OR_STRICT, leaves_alone, rewrites
from tests.three_ways import check

HOST = load("host")
PC, STRICT = (PassContext(target=load("x86-64"), strict=strict) for strict in (False, True))
ADD = "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }\n"
ROWS, COLUMNS = "f32[20,32,9]", "f32[20,9,32]"


def program(made: str, shape: str = ROWS, dimension: int = 2, reads: str = "") -> str:
    """Sums of an array v that is made of x, c and n."""
    return f"""{ADD} ENTRY e {{ x = f32[20,9] parameter(0)  c = f32[32,9] parameter(1)
        n = f32[20] parameter(2)  z = f32[] parameter(3)
        {made.replace("ARRAY", shape)}
        r = f32[20,32] reduce(v, z), dimensions={{{dimension}}}, to_apply=add
        ROOT t = tuple(r{reads}) }}"""


SOURCES = """xs = ARRAY broadcast(x), dimensions={0,2}  cs = ARRAY broadcast(c), dimensions={1,2}
    ns = ARRAY broadcast(n), dimensions={0}  zs = ARRAY broadcast(z), dimensions={}
    i = ARRAY iota(), iota_dimension=2"""
TURNED = """xs = ARRAY broadcast(x), dimensions={0,1}  ct = f32[9,32] transpose(c), dimensions={1,0}
    cs = ARRAY broadcast(ct), dimensions={1,2}  ns = ARRAY broadcast(n), dimensions={0}
    zs = ARRAY broadcast(z), dimensions={}  i = ARRAY iota(), iota_dimension=1"""
DIFFERENCES = """d = ARRAY subtract(xs, cs)  a = ARRAY abs(d)  b = ARRAY multiply(a, ns)
    e = ARRAY add(b, zs)  v = ARRAY multiply(e, i)"""


@pytest.mark.parametrize("context", [PC, STRICT])
def test_rows_that_are_made_of_small_arrays(context: PassContext) -> None:
    before, after = program(SOURCES + DIFFERENCES), program(TURNED + DIFFERENCES, COLUMNS, 1)
    rewrites(before, after, turn_short_rows, context)


@pytest.mark.parametrize("context", WITHOUT_VECTORS_OR_STRICT[1:])
def test_targets_without_vectors(context: PassContext) -> None:
    leaves_alone(program(SOURCES + DIFFERENCES), turn_short_rows, context)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("32", "3"),  # fewer columns than a vector has
        ("9", "4"),  # rows that are written out
        ("9", "64"),  # rows of whole vectors
        ("20", "15"),  # an array that is not much smaller
    ],
)
def test_sizes_that_do_not_pay(old: str, new: str) -> None:
    text = program(SOURCES + DIFFERENCES)
    for before, after in (("[", ","), (",", ","), (",", "]"), ("[", "]")):
        text = text.replace(before + old + after, before + new + after)
    leaves_alone(text, turn_short_rows, PC)


def test_rows_in_memory() -> None:
    body = SOURCES + "w = ARRAY parameter(4)  d = ARRAY subtract(xs, cs)  v = ARRAY add(d, w)"
    leaves_alone(program(body), turn_short_rows, PC)


def test_rows_that_are_stored_besides() -> None:
    leaves_alone(program(SOURCES + DIFFERENCES, reads=", a"), turn_short_rows, PC)


def test_columns_that_lie_side_by_side() -> None:
    body = SOURCES.replace("broadcast(c), dimensions={1,2}", "broadcast(x), dimensions={0,2}")
    leaves_alone(program(body + DIFFERENCES), turn_short_rows, PC)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("sizes", [(17, 33, 5), (64, 20, 63), (300, 300, 7)])
def test_nearest(sizes: tuple[int, int, int], strict: bool) -> None:
    n, k, e = sizes
    text = f"""{ADD} ENTRY e {{ x = f32[{n},{e}] parameter(0)  c = f32[{k},{e}] parameter(1)
        xs = f32[{n},{k},{e}] broadcast(x), dimensions={{0,2}}  z = f32[] constant(0)
        cs = f32[{n},{k},{e}] broadcast(c), dimensions={{1,2}}
        d = f32[{n},{k},{e}] subtract(xs, cs)  q = f32[{n},{k},{e}] multiply(d, d)
        ROOT r = f32[{n},{k}] reduce(q, z), dimensions={{2}}, to_apply=add }}"""
    built = check(text, target=HOST, strict=strict)
    assert len(built.program.kernels) == 2, "the transpose has a kernel of its own"
    random = np.random.default_rng(0).standard_normal((n + k, e)).astype(np.float32)
    x, c = random[:n], random[n:]
    got = ccodegen.compile(text, strict=strict)(x, c)
    np.testing.assert_allclose(got, ((x[:, None] - c) ** 2).sum(-1), rtol=1e-4)
