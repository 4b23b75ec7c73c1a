"""Every plan for a kernel three ways, in both modes."""

from __future__ import annotations

import pytest

from ccodegen.loop.cost import cost
from ccodegen.loop.ir import CallC, For, Program
from ccodegen.loop.rebuild import statements
from ccodegen.support.element_type import HLO_TYPES
from tests.three_ways import check

MODES = pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])

FUNCTIONS = """
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] maximum(a, b) }
sub { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] subtract(a, b) }
mul { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT r = s32[] multiply(a, b) }
cadd { a = c64[] parameter(0)  b = c64[] parameter(1)  ROOT r = c64[] add(a, b) }
less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = pred[] compare(a, b), direction=LT }
larger { a = f32[] parameter(0)  i = s32[] parameter(1)  b = f32[] parameter(2)
  j = s32[] parameter(3)  c = pred[] compare(a, b), direction=GE
  v = f32[] select(c, a, b)  n = s32[] select(c, i, j)  ROOT t = (f32[], s32[]) tuple(v, n) }
"""


def softmax(dims: str, kept: str, reduced: str, places: str) -> str:
    return f"""x = {dims} parameter(0)  low = f32[] constant(-inf)  zero = f32[] constant(0)
      m = {kept} reduce(x, low), dimensions={{{reduced}}}, to_apply=max
      mb = {dims} broadcast(m), dimensions={{{places}}}
      s = {dims} subtract(x, mb)  e = {dims} exponential(s)
      t = {kept} reduce(e, zero), dimensions={{{reduced}}}, to_apply=add
      tb = {dims} broadcast(t), dimensions={{{places}}}  ROOT q = {dims} divide(e, tb)"""


def dense(rows: int, depth: int, columns: int, order: str, type_: str = "f32") -> str:
    """relu(x · w + b); `order` "kn" or "nk": how w lies."""
    sizes = {"k": depth, "n": columns}
    w = ",".join(str(sizes[axis]) for axis in order)
    result = f"{type_}[{rows},{columns}]"
    return f"""x = {type_}[{rows},{depth}] parameter(0)  w = {type_}[{w}] parameter(1)
      b = {type_}[{columns}] parameter(2)  z = {type_}[] constant(0)
      d = {result} dot(x, w), lhs_contracting_dims={{1}},
        rhs_contracting_dims={{{order.index("k")}}}
      s = {result} broadcast(b), dimensions={{1}}  a = {result} add(d, s)
      n = {result} broadcast(z), dimensions={{}}  ROOT r = {result} maximum(a, n)"""


KERNELS = {
    "rank 0": "x = f32[] parameter(0)  ROOT y = f32[] sine(x)",
    "rank 6": """x = f32[2,1,3,2,1,2] parameter(0)  t = f32[2,3,2,1,2,1] transpose(x),
      dimensions={5,2,0,1,3,4}  ROOT n = f32[2,3,2,1,2,1] negate(t)""",
    "no elements": """x = f32[0,3] parameter(0)  n = f32[0,3] negate(x)  z = f32[] constant(2)
      r = f32[3] reduce(n, z), dimensions={0}, to_apply=add
      ROOT t = (f32[0,3], f32[3]) tuple(n, r)""",
    "outputs of two shapes": """x = f32[4,6] parameter(0)  n = f32[4,6] negate(x)
      t = f32[6,4] transpose(n), dimensions={1,0}  ROOT r = (f32[4,6], f32[6,4]) tuple(n, t)""",
    "reshape that splits": """x = f32[6,10] parameter(0)  t = f32[10,6] transpose(x),
      dimensions={1,0}  r = f32[2,5,3,2] reshape(t)  ROOT n = f32[2,5,3,2] negate(r)""",
    "reshape that fits no loop": """x = f32[6,10] parameter(0)  t = f32[10,6] transpose(x),
      dimensions={1,0}  r = f32[4,15] reshape(t)  ROOT n = f32[4,15] negate(r)""",
    "rows": softmax("f32[5,33]", "f32[5]", "1", "0"),
    "rows, in the middle": softmax("f32[3,7,4]", "f32[3,4]", "1", "0,2"),
    "rows of two dimensions": softmax("f32[3,5,11]", "f32[3]", "1,2", "0"),
    "one row": softmax("f32[77]", "f32[]", "0", ""),
    "rows of no elements": softmax("f32[4,0]", "f32[4]", "1", "0"),
    "rows that lie in an output": softmax("f32[5,33]", "f32[5]", "1", "0").replace("ROOT", "")
    + "  z = f32[5,33] parameter(1)  ROOT p = f32[5,33] multiply(z, q)",
    "rows that are an output": softmax("f32[5,33]", "f32[5]", "1", "0").replace("ROOT", "")
    + "  ROOT p = (f32[5,33], f32[5]) tuple(e, t)",
    "rows beside an output": softmax("f32[5,33]", "f32[5]", "1", "0").replace("ROOT", "")
    + "  ROOT p = (f32[5,33], f32[5,33]) tuple(e, q)",
    "rows that are outputs": softmax("f32[5,33]", "f32[5]", "1", "0").replace("ROOT", "")
    + """  f = f32[5,33] exponential(e)
      u = f32[5] reduce(f, zero), dimensions={1}, to_apply=add
      ub = f32[5,33] broadcast(u), dimensions={0}  w = f32[5,33] divide(f, ub)
      ROOT p = (f32[5,33], f32[5,33], f32[5,33], f32[5,33]) tuple(e, f, q, w)""",
    "rows that are an output twice": softmax("f32[5,33]", "f32[5]", "1", "0").replace("ROOT", "")
    + "  ROOT p = (f32[5,33], f32[5,33], f32[5,33]) tuple(e, q, e)",
    "rows read backwards": softmax("f32[5,33]", "f32[5]", "1", "0").replace("ROOT", "")
    + "  b = f32[5,33] reverse(e), dimensions={1}  ROOT p = f32[5,33] divide(b, tb)",
    "rows of another type": softmax("f32[5,33]", "f32[5]", "1", "0").replace("ROOT", "")
    + "  ROOT p = bf16[5,33] convert(q)",
    "columns": """x = f32[19,70] parameter(0)  z = f32[] parameter(1)
      s = f32[19,70] multiply(x, x)  r = f32[70] reduce(s, z), dimensions={0}, to_apply=add
      ROOT q = f32[70] sqrt(r)""",
    "columns, twice": """x = f32[3,9,5] parameter(0)  z = f32[] constant(0)
      a = f32[3,5] reduce(x, z), dimensions={1}, to_apply=add
      m = f32[3,5] reduce(x, z), dimensions={1}, to_apply=max  ROOT d = f32[3,5] subtract(a, m)""",
    "a combiner whose order counts": """x = f32[4,21] parameter(0)  z = f32[] parameter(1)
      ROOT r = f32[4] reduce(x, z), dimensions={1}, to_apply=sub""",
    "integer product": """x = s32[4,21] parameter(0)  z = s32[] constant(1)
      ROOT r = s32[4] reduce(x, z), dimensions={1}, to_apply=mul""",
    "several operands": """x = f32[6,17] parameter(0)  i = s32[6,17] iota(), iota_dimension=1
      low = f32[] constant(-inf)  z = s32[] constant(0)
      r = (f32[6], s32[6]) reduce(x, i, low, z), dimensions={1}, to_apply=larger
      ROOT n = s32[6] get-tuple-element(r), index=1""",
    "several operands by columns": """x = f32[17,6] parameter(0)
      i = s32[17,6] iota(), iota_dimension=0  low = f32[] constant(-inf)  z = s32[] constant(0)
      ROOT r = (f32[6], s32[6]) reduce(x, i, low, z), dimensions={0}, to_apply=larger""",
    "concatenate": """x = f32[3,4] parameter(0)  y = f32[3,0] parameter(1)
      z = f32[3,5] parameter(2)  n = f32[3,5] negate(z)
      c = f32[3,9] concatenate(x, y, n), dimensions={1}  ROOT e = f32[3,9] exponential(c)""",
    "short parts of rows": """x = f32[50,2] parameter(0)  y = f32[50,2] parameter(1)
      n = f32[50,2] negate(y)  a = f32[50,2] abs(x)  z = f32[50,3] parameter(2)
      ROOT c = f32[50,9] concatenate(n, a, x, z), dimensions={1}""",
    "several reduces of a row": """x = f32[5,70] parameter(0)  z = f32[] constant(0)
      low = f32[] constant(-inf)  e = f32[5,70] exponential(x)  q = f32[5,70] multiply(e, x)
      a = f32[5] reduce(e, z), dimensions={1}, to_apply=add
      b = f32[5] reduce(q, z), dimensions={1}, to_apply=add
      m = f32[5] reduce(x, low), dimensions={1}, to_apply=max
      c = f32[5,70] broadcast(a), dimensions={0}  d = f32[5,70] divide(e, c)
      s = f32[5] reduce(d, z), dimensions={1}, to_apply=max
      ROOT t = (f32[5], f32[5], f32[5], f32[5]) tuple(b, m, a, s)""",
    "five reduces of a row": """x = f32[3,40] parameter(0)  z = f32[] constant(0)
      x2 = f32[3,40] multiply(x, x)  x3 = f32[3,40] multiply(x2, x)  x4 = f32[3,40] add(x2, x3)
      x5 = f32[3,40] subtract(x4, x)
      a = f32[3] reduce(x, z), dimensions={1}, to_apply=add
      b = f32[3] reduce(x2, z), dimensions={1}, to_apply=add
      c = f32[3] reduce(x3, z), dimensions={1}, to_apply=max
      d = f32[3] reduce(x4, z), dimensions={1}, to_apply=add
      e = f32[3] reduce(x5, z), dimensions={1}, to_apply=add
      ROOT t = (f32[3], f32[3], f32[3], f32[3], f32[3]) tuple(a, b, c, d, e)""",
    "a roll of each dimension": """x = f32[40,33] parameter(0)
      a = f32[1,33] slice(x), slice={[39:40], [0:33]}  b = f32[39,33] slice(x),
        slice={[0:39], [0:33]}  u = f32[40,33] concatenate(a, b), dimensions={0}
      c = f32[40,30] slice(x), slice={[0:40], [3:33]}  d = f32[40,3] slice(x),
        slice={[0:40], [0:3]}  l = f32[40,33] concatenate(c, d), dimensions={1}
      s = f32[40,33] add(u, l)  ROOT r = f32[40,33] subtract(s, x)""",
    "edges around what is computed": """x = f32[2,5,7,3] parameter(0)  z = f32[] parameter(1)
      n = f32[2,5,7,3] negate(x)
      ROOT p = f32[3,8,10,3] pad(n, z), padding=0_1x1_2x3_0x0_0""",
    "gaps in what is computed": """x = f32[2,5,1,7] parameter(0)  z = f32[] parameter(1)
      n = f32[2,5,1,7] negate(x)
      ROOT p = f32[2,15,4,14] pad(n, z), padding=0_0x1_1_2x3_0_1x0_1_1""",
    "edges around nothing": """x = f32[3,0,5] parameter(0)  z = f32[] constant(2)
      n = f32[3,0,5] negate(x)  ROOT p = f32[5,4,5] pad(n, z), padding=1_1x2_2x0_0""",
    "edges of pieces that take turns": """x = f32[6,4,5] parameter(0)  y = f32[6,4,5] parameter(1)
      z = f32[] constant(0)  a = f32[6,1,4,5] reshape(x)  b = f32[6,1,4,5] reshape(y)
      c = f32[6,2,4,5] concatenate(a, b), dimensions={1}  w = f32[12,4,5] reshape(c)
      e = f32[12,4,5] abs(w)  ROOT p = f32[14,6,5] pad(e, z), padding=1_1x1_1x0_0""",
    "a ring of padding read by its neighbours": """x = f32[33,40] parameter(0)
      z = f32[] constant(-2)  e = f32[33,40] exponential(x)
      p = f32[35,42] pad(e, z), padding=1_1x1_1
      u = f32[33,40] slice(p), slice={[0:33], [1:41]}
      l = f32[33,40] slice(p), slice={[1:34], [2:42]}  ROOT r = f32[33,40] add(u, l)""",
    "reduces of a concatenate": """x = f32[30,25] parameter(0)  y = f32[30,40] parameter(1)
      z = f32[] constant(0)  n = f32[30,40] negate(y)
      c = f32[30,65] concatenate(x, n), dimensions={1}
      s = f32[30] reduce(c, z), dimensions={1}, to_apply=add
      b = f32[30,65] broadcast(s), dimensions={0}  ROOT d = f32[30,65] add(c, b)""",
    "columns of a concatenate": """x = f32[30,25] parameter(0)  y = f32[30,40] parameter(1)
      z = f32[] constant(0)  c = f32[30,65] concatenate(x, y), dimensions={1}
      ROOT s = f32[65] reduce(c, z), dimensions={0}, to_apply=add""",
    "a transposed concatenate of four": """x = f32[9,40] parameter(0)  y = f32[3,40] parameter(1)
      z = f32[40,27] parameter(2)  c = f32[27,40] concatenate(x, y, y, x, y), dimensions={0}
      t = f32[40,27] transpose(c), dimensions={1,0}  ROOT m = f32[40,27] multiply(t, z)""",
    "concatenate of much": """x = f32[300,3] parameter(0)  y = f32[200,3] parameter(1)
      n = f32[200,3] negate(y)  ROOT c = f32[500,3] concatenate(x, n), dimensions={0}""",
    "update": """x = f32[5,7] parameter(0)  u = f32[2,3] parameter(1)  i = s32[] parameter(2)
      j = s32[] parameter(3)  n = f32[5,7] negate(x)  m = f32[2,3] exponential(u)
      ROOT d = f32[5,7] dynamic-update-slice(n, m, i, j)""",
    "update of what is read again": """x = f32[6] parameter(0)  i = s32[] constant(2)
      n = f32[6] negate(x)  u = f32[3] slice(n), slice={[3:6]}
      d = f32[6] dynamic-update-slice(n, u, i)  ROOT s = f32[6] add(d, n)""",
    "update by the window itself": """x = f32[6,3] parameter(0)  v = f32[2,3] parameter(1)
      i = s32[] parameter(2)  z = s32[] constant(0)  n = f32[6,3] negate(x)
      w = f32[2,3] dynamic-slice(n, i, z), dynamic_slice_sizes={2,3}  a = f32[2,3] add(w, v)
      ROOT d = f32[6,3] dynamic-update-slice(n, a, i, z)""",
    "update by the window itself, at a known place": """x = f32[6,3] parameter(0)
      v = f32[2,3] parameter(1)  i = s32[] constant(1)  z = s32[] constant(0)
      n = f32[6,3] negate(x)  w = f32[2,3] slice(n), slice={[1:3],[0:3]}  a = f32[2,3] add(w, v)
      ROOT d = f32[6,3] dynamic-update-slice(n, a, i, z)""",
    "update by another window": """x = f32[6,3] parameter(0)  i = s32[] parameter(1)
      z = s32[] constant(0)  n = f32[6,3] negate(x)
      w = f32[2,3] dynamic-slice(n, z, z), dynamic_slice_sizes={2,3}
      ROOT d = f32[6,3] dynamic-update-slice(n, w, i, z)""",
    "update by itself": """x = f32[6] parameter(0)  i = s32[] parameter(1)  n = f32[6] negate(x)
      ROOT d = f32[6] dynamic-update-slice(n, n, i)""",
    "scatter of what it changes": """x = f32[5] parameter(0)  i = s32[5,1] parameter(1)
      n = f32[5] negate(x)  ROOT s = f32[5] scatter(n, i, n), to_apply=add,
      update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0},
      index_vector_dim=1""",
    "nest": """x = f32[4,9] parameter(0)  n = f32[4,9] negate(x)
      s = f32[4,9] sort(n), dimensions={1}, to_apply=less  ROOT r = f32[4,9] negate(s)""",
    "running sum": """x = f32[40] parameter(0)  z = f32[] constant(0)
      ROOT r = f32[40] reduce-window(x, z), window={size=40 pad=39_0}, to_apply=add""",
    "tiles": dense(27, 32, 40, "kn"),
    "tiles over what is packed": dense(40, 24, 17, "nk"),
    "tiles over reversed rows": """x = f32[40,32] parameter(0)  w = f32[32,24] parameter(1)
      r = f32[40,32] reverse(x), dimensions={0}
      ROOT d = f32[40,24] dot(r, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}""",
    "tiles over a reversed depth": """x = f32[40,32] parameter(0)  w = f32[32,24] parameter(1)
      r = f32[40,32] reverse(x), dimensions={1}
      ROOT d = f32[40,24] dot(r, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}""",
    "few rows: columns": dense(2, 9, 37, "kn"),
    "few columns: rows": dense(5, 35, 3, "nk"),
    "vectors: lanes": """x = f32[70] parameter(0)  y = f32[70] parameter(1)
      ROOT d = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}""",
    "lanes of complex numbers": """x = c64[2,70] parameter(0)  y = c64[3,70] parameter(1)
      z = c64[] constant((1, 2))  d = c64[2,3] dot(x, y), lhs_contracting_dims={1},
        rhs_contracting_dims={1}  r = c64[2] reduce(x, z), dimensions={1}, to_apply=cadd
      ROOT t = (c64[2,3], c64[2]) tuple(d, r)""",
    "choices of complex numbers": """x = c64[70] parameter(0)  y = c64[70] parameter(1)
      p = pred[70] parameter(2)  m = c64[70] multiply(x, y)  a = c64[70] select(p, m, y)
      z = c64[] constant((0, 1))  ROOT s = c64[80] pad(a, z), padding=3_7""",
    "plain": dense(3, 5, 2, "kn"),
    "integers": dense(9, 16, 8, "kn", "s32"),
    "halves": dense(4, 12, 8, "kn", "bf16"),
    "no depth": dense(3, 0, 5, "kn"),
    "batches of dots": """x = f32[3,20,24] parameter(0)  y = f32[3,24,28] parameter(1)
      d = f32[3,20,28] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0},
        lhs_contracting_dims={2}, rhs_contracting_dims={1}
      ROOT t = f32[3,20,28] tanh(d)""",
    "convolution in tiles": """x = f32[1,14,14,8] parameter(0)  k = f32[3,3,8,16] parameter(1)
      ROOT c = f32[1,14,14,16] convolution(x, k), window={size=3x3 pad=1_1x1_1},
        dim_labels=b01f_01io->b01f""",
    "depthwise convolution": """x = f32[2,9,5,6] parameter(0)  k = f32[3,2,1,6] parameter(1)
      ROOT c = f32[2,4,4,6] convolution(x, k), window={size=3x2 stride=2x1},
        dim_labels=b01f_01io->b01f, feature_group_count=6""",
    "depthwise convolution of a long depth": """x = f32[1,9,6,37] parameter(0)
      k = f32[5,4,1,37] parameter(1)
      ROOT c = f32[1,9,3,37] convolution(x, k), window={size=5x4 pad=2_2x0_0},
        dim_labels=b01f_01io->b01f, feature_group_count=37""",
    "two outputs a group": """x = f32[1,4,4,6] parameter(0)  k = f32[2,2,1,12] parameter(1)
      ROOT c = f32[1,3,3,12] convolution(x, k), window={size=2x2},
        dim_labels=b01f_01io->b01f, feature_group_count=6""",
    "columns of a left matrix": """x = f32[24,40] parameter(0)  y = f32[24,21] parameter(1)
      ROOT d = f32[40,21] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}""",
}


@MODES
@pytest.mark.parametrize("name", KERNELS)
def test_kernel(name: str, strict: bool) -> None:
    check(f"{FUNCTIONS}\nENTRY e {{ {KERNELS[name]} }}", strict=strict)


def test_every_form_of_contraction_is_taken() -> None:
    """That the names above say what happens."""
    assert calls_tiles(compiled("tiles"))
    assert calls_tiles(compiled("tiles over what is packed"))
    assert calls_tiles(compiled("tiles over reversed rows"))
    assert calls_tiles(compiled("convolution in tiles"))
    assert calls_tiles(compiled("few columns: rows"))
    for name in ("few rows: columns", "vectors: lanes", "plain", "integers"):
        assert not calls_tiles(compiled(name)), name


def test_softmax_keeps_its_rows_where_the_result_will_lie() -> None:
    assert compiled("rows").arena_size == 0
    assert compiled("rows that lie in an output").arena_size == 0
    for name in ("rows beside an output", "rows that are outputs", "rows that are an output twice"):
        assert compiled(name).arena_size == 0, name
    assert 0 < compiled("rows read backwards").arena_size <= 256


@pytest.mark.parametrize("name", ["edges around what is computed", "gaps in what is computed"])
def test_nothing_asks_whether_it_is_padding(name: str) -> None:
    (kernel,) = compiled(name).kernels
    assert "select" not in str(kernel.body) and "If(" not in str(kernel.body)


@pytest.mark.parametrize(("terms", "times"), [(7, 2), (8, 1)])
def test_what_is_stored_and_made_with_much_work_is_made_once(terms: int, times: int) -> None:
    sums = "".join(
        f"m{n} = f32[300,200] multiply(s{n}, x)  s{n + 1} = f32[300,200] add(m{n}, x)\n"
        for n in range(terms)
    )
    text = f"""HloModule m
      add {{ a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }}
      ENTRY e {{ x = f32[300,200] parameter(0)  z = f32[] constant(0)
      s0 = f32[300,200] abs(x)
      {sums}  r = f32[300] reduce(s{terms}, z), dimensions={{1}}, to_apply=add
      ROOT t = (f32[300], f32[300,200]) tuple(r, s{terms}) }}"""
    (kernel,) = check(text).program.kernels
    once = 300 * 200 * (terms + 1)  # products and sums in one
    assert round(cost(kernel.body).operations / once) == times


def test_short_parts_of_rows_are_stored_side_by_side() -> None:
    """Three parts of two elements in one loop, and the one of three in another."""
    (kernel,) = compiled("short parts of rows").kernels
    assert [s.extent for s in kernel.body if isinstance(s, For)] == [50, 50]


@pytest.mark.parametrize(
    ("type_", "streams", "loops"), [("f32", 5, 1), ("f16", 5, 5), ("f16", 3, 1)]
)
def test_narrow_floats_where_that_leaves_vectors(type_: str, streams: int, loops: int) -> None:
    column = f"{type_}[40,1]"
    lines = [f"x{n} = {column} parameter({n})  n{n} = {column} abs(x{n})" for n in range(streams)]
    parts = ", ".join(f"n{n}" for n in range(streams))
    lines.append(f"ROOT c = {type_}[40,{streams}] concatenate({parts}), dimensions={{1}}")
    (kernel,) = check("ENTRY e { " + "\n".join(lines) + " }").program.kernels
    assert sum(isinstance(s, For) for s in kernel.body) == loops


def test_equal_kernels_are_shared() -> None:
    text = """x = f32[9] parameter(0)  s = f32[9] sort(x), dimensions={0}, to_apply=less
      a = f32[9] negate(s)  t = f32[9] sort(a), dimensions={0}, to_apply=less
      ROOT r = f32[9] negate(t)"""
    program = check(f"{FUNCTIONS}\nENTRY e {{ {text} }}").program
    assert len(program.steps) == 4 and len(program.kernels) == 2


def test_long_chains_need_no_recursion() -> None:
    lines = ["v0 = f32[3] parameter(0)"]
    ops = ("negate", "sine")
    lines += [f"v{n + 1} = f32[3] {ops[n % 2]}(v{n})" for n in range(3000)]
    lines[-1] = "ROOT " + lines[-1]
    check(f"ENTRY e {{ {' '.join(lines)} }}")


@pytest.mark.parametrize(
    "type_", [t.text for t in HLO_TYPES.values() if t.bits >= 8 or t.is_integer]
)
def test_every_type(type_: str) -> None:
    check(
        f"""ENTRY e {{ x = {type_}[3,5] parameter(0)  y = {type_}[5,3] parameter(1)
          t = {type_}[5,3] transpose(x), dimensions={{1,0}}
          c = pred[5,3] compare(t, y), direction=EQ  s = {type_}[5,3] select(c, t, y)
          r = {type_}[15] reshape(s)  ROOT o = ({type_}[15], pred[5,3]) tuple(r, c) }}""",
        strict=True,
    )


def compiled(name: str) -> Program:
    return check(f"{FUNCTIONS}\nENTRY e {{ {KERNELS[name]} }}").program


def calls_tiles(program: Program) -> bool:
    return any(isinstance(s, CallC) for k in program.kernels for s in statements(k.body))
