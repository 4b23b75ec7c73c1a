"""Attention in blocks of rows: the same numbers, only where scores are used up, in less memory."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ccodegen.backend.build import Build
from ccodegen.hlo.ir import Module
from ccodegen.hlo.text import parse
from ccodegen.ops.build import tuple_of
from ccodegen.passes.attend_in_blocks import Memory, attend_in_blocks
from ccodegen.passes.context import PassContext
from ccodegen.target import load
from tests.passes.checking import module, same_bits
from tests.three_ways import check, plain_target, with_vectors

CONTEXT = PassContext(target=load("x86-64"))
HEAD = """
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = add(a, b) }
max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = maximum(a, b) }
ENTRY e {
"""


@pytest.fixture(autouse=True)
def _little_is_far(monkeypatch: pytest.MonkeyPatch) -> None:
    little = Memory(far=1 << 10, near=1 << 8, rows=4)
    monkeypatch.setattr("ccodegen.passes.attend_in_blocks.CACHES", little)


def softmax(shape: str, rank: int) -> str:
    """Lines that make `p` of `m`, along the last dimension."""
    rows = ",".join(shape.split(",")[:-1])
    kept = ",".join(map(str, range(rank - 1)))
    return f"""
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  top = f32[{rows}] reduce(m, low), dimensions={{{rank - 1}}}, to_apply=max
  tops = f32[{shape}] broadcast(top), dimensions={{{kept}}}
  less = f32[{shape}] subtract(m, tops)
  x = f32[{shape}] exponential(less)
  sum = f32[{rows}] reduce(x, zero), dimensions={{{rank - 1}}}, to_apply=add
  sums = f32[{shape}] broadcast(sum), dimensions={{{kept}}}
  p = f32[{shape}] divide(x, sums)
"""


def attention(
    heads: int, rows: int, columns: int, depth: int, between: str = "m = copy(s)"
) -> Module:
    """Of several heads; `between`: what is made of the scores `s` before softmax."""
    shape = f"{heads},{rows},{columns}"
    return module(f"""{HEAD}
  q = f32[{heads},{rows},{depth}] parameter(0)
  k = f32[{heads},{columns},{depth}] parameter(1)
  v = f32[{heads},{columns},{depth}] parameter(2)
  s = f32[{shape}] dot(q, k), lhs_batch_dims={{0}}, rhs_batch_dims={{0}},
    lhs_contracting_dims={{2}}, rhs_contracting_dims={{2}}
  {between.replace("SHAPE", f"f32[{shape}]").replace("SIZE", shape)}
  {softmax(shape, 3)}
  ROOT o = f32[{heads},{rows},{depth}] dot(p, v), lhs_batch_dims={{0}}, rhs_batch_dims={{0}},
    lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}}
}}""")


def loops(of: Module) -> int:
    return sum(i.op == "while" for c in of.computations for i in c.instructions)


def tried(program: Module, count: int) -> Build:
    """Checks that so many loops are made, and all three ways of the result, on any threads."""
    assert loops(attend_in_blocks(program, CONTEXT)) == count
    target = with_vectors(plain_target(), 32)
    check(program, target=target, strict=True)
    return check(program, target=target)


@pytest.mark.parametrize(
    "sizes", [(3, 20, 30, 8), (1, 41, 17, 5), (2, 17, 64, 33), (5, 64, 16, 1), (2, 7, 200, 16)]
)
def test_scores_of_a_block_at_a_time(sizes: tuple[int, int, int, int]) -> None:
    tried(attention(*sizes), 2 if sizes[0] > 1 else 1)


def test_blocks_as_large_as_a_batch() -> None:
    tried(attention(40, 5, 12, 4), 1)


def test_memory_is_that_of_a_block() -> None:
    built = tried(attention(5, 40, 50, 8), 2)
    assert built.program.arena_size < 4 * 5 * 40 * 50 / 2


@pytest.mark.parametrize(
    "between",
    [
        # The future is masked, by indices.
        """i = s32[SIZE] iota(), iota_dimension=1
  j = s32[SIZE] iota(), iota_dimension=2
  past = pred[SIZE] compare(i, j), direction=GE
  never = f32[] constant(-1e30)
  nevers = SHAPE broadcast(never), dimensions={}
  m = SHAPE select(past, s, nevers)""",
        # Heads count, in floats.
        """h = SHAPE iota(), iota_dimension=0
  r = SHAPE iota(), iota_dimension=1
  b = SHAPE multiply(h, r)
  m = SHAPE subtract(s, b)""",
        # A mask for all heads, and one for all rows.
        """a = f32[20,30] parameter(3)
  b = f32[3,30] parameter(4)
  as = SHAPE broadcast(a), dimensions={1,2}
  bs = SHAPE broadcast(b), dimensions={0,2}
  c = SHAPE add(as, bs)
  m = SHAPE add(s, c)""",
        # By what scales rows.
        """a = f32[20] parameter(3)
  as = SHAPE broadcast(a), dimensions={1}
  m = SHAPE multiply(s, as)""",
        # Through other shapes.
        """u = f32[3,1,20,30] reshape(s)
  w = f32[20,30,3,1] transpose(u), dimensions={2,3,0,1}
  n = f32[20,30,3,1] negate(w)
  y = f32[3,1,20,30] transpose(n), dimensions={2,3,0,1}
  m = SHAPE reshape(y)""",
        # Scores of two kinds.
        """q2 = f32[3,20,4] parameter(3)
  k2 = f32[4,30] parameter(4)
  s2 = SHAPE dot(q2, k2), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  m = SHAPE add(s, s2)""",
    ],
)
def test_what_is_made_of_scores(between: str) -> None:
    tried(attention(3, 20, 30, 8, between), 2)


@pytest.mark.parametrize("types", ["f64", "f16", "bf16"])
def test_other_types(types: str) -> None:
    text = attention(2, 20, 30, 8).to_text().replace("f32", types)
    tried(parse(text), 2)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_several_batches_and_probabilities_on_the_right(order: tuple[int, int]) -> None:
    """The batches are not the first dimensions of what is read."""
    batch = ",".join(str(2 * n) for n in order)
    sizes = ",".join(str((2, 3)[n]) for n in order)
    tried(
        module(f"""{HEAD}
  q = f32[2,9,3,4] parameter(0)
  k = f32[2,12,3,4] parameter(1)
  v = f32[2,12,3,5] parameter(2)
  m = f32[{sizes},9,12] dot(q, k), lhs_batch_dims={{{batch}}}, rhs_batch_dims={{{batch}}},
    lhs_contracting_dims={{3}}, rhs_contracting_dims={{3}}
  {softmax(f"{sizes},9,12", 4)}
  ROOT o = f32[{sizes},5,9] dot(v, p), lhs_batch_dims={{{batch}}}, rhs_batch_dims={{0,1}},
    lhs_contracting_dims={{1}}, rhs_contracting_dims={{3}}
}}"""),
        2,
    )


def test_without_vectors_scores_take_little_memory() -> None:
    program = attention(4, 64, 64, 16)
    built = check(program, target=replace(plain_target(), machine=load("cortex-m4").machine))
    assert built.program.arena_size < 5 << 10


def test_strict_mode_keeps_all_bits() -> None:
    program = attention(3, 20, 30, 8)
    context = PassContext(target=load("x86-64"), strict=True)
    assert same_bits(program, attend_in_blocks(program, context))


def test_left_alone() -> None:
    for few in (attention(1, 9, 8, 4), attention(1, 4, 90, 4)):  # scores, or rows
        assert attend_in_blocks(few, CONTEXT) is few
    several = attention(3, 20, 30, 8)
    assert attend_in_blocks(several, PassContext()) is several


@pytest.mark.parametrize("name", ["p", "s", "top", "x"])
def test_what_others_read_is_left_alone(name: str) -> None:
    """As a gradient does."""
    plain = attention(3, 20, 30, 8)
    root = plain.entry.root
    (read,) = (i for i in plain.entry.instructions if i.name == name)
    entry = replace(plain.entry, root=tuple_of(root, (root, read)))
    program = replace(plain, entry=entry)
    assert attend_in_blocks(program, CONTEXT) is program


def test_a_broadcast_that_others_read_is_made_in_each_block() -> None:
    """Such as a mask that all heads of several layers share."""
    between = "a = f32[20,30] parameter(3)  as = SHAPE broadcast(a), dimensions={1,2}"
    plain = attention(3, 20, 30, 8, f"{between}  m = SHAPE add(s, as)")
    root = plain.entry.root
    (mask,) = (i for i in plain.entry.instructions if i.name == "as")
    program = replace(plain, entry=replace(plain.entry, root=tuple_of(root, (root, mask))))
    tried(program, 2)
    (loop,) = (i for i in attend_in_blocks(program, CONTEXT).entry.instructions if i.op == "while")
    assert mask.shape not in (o.shape for o in loop.operands[0].operands)


def test_products_without_softmax_are_left_alone() -> None:
    """Two layers: each block would read the weights again."""
    program = module(
        "q = f32[80,8] parameter(0)  k = f32[8,30] parameter(1)  v = f32[30,8] parameter(2)\n"
        "s = f32[80,30] dot(q, k), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
        "t = f32[80,30] tanh(s)\n"
        "ROOT o = f32[80,8] dot(t, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    )
    assert attend_in_blocks(program, CONTEXT) is program
