"""Ops that move elements: references against NumPy, and the lowering against the references."""

from __future__ import annotations

import numpy as np
import pytest

from ccodegen.hlo.evaluate import evaluate
from ccodegen.hlo.text import parse
from ccodegen.hlo.verify import verify
from ccodegen.support.errors import InputError
from tests.three_ways import check


def run(body, *arguments):
    return evaluate(parse(f"HloModule m\nENTRY e {{ {body} }}"), *arguments)


X = np.arange(2 * 3 * 5, dtype=np.float32).reshape(2, 3, 5)
TEXT = "x = f32[2,3,5] parameter(0)"


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("f32[4,2,3,5] broadcast(x), dimensions={1,2,3}", np.broadcast_to(X, (4, 2, 3, 5))),
        ("f32[5,2,3] broadcast(t), dimensions={0,2,1}", X.transpose(2, 0, 1)),
        ("f32[6,5] reshape(x)", X.reshape(6, 5)),
        ("f32[5,2,3] transpose(x), dimensions={2,0,1}", X.transpose(2, 0, 1)),
        ("f32[1,2,3] slice(x), slice={[1:2],[0:3:2],[0:5:2]}", X[1:2, 0:3:2, 0:5:2]),
        ("f32[2,0,5] slice(x), slice={[0:2],[3:3],[0:5]}", X[:, 3:3]),
        ("f32[2,8,5] concatenate(x, s, x), dimensions={1}", np.concatenate([X, X[:, :2], X], 1)),
        ("f32[2,3,5] reverse(x), dimensions={0,2}", X[::-1, :, ::-1]),
        ("f32[2,3,5] copy(x)", X),
    ],
)
def test_against_numpy(op, expected):
    operands = (
        "t = f32[5,3,2] transpose(x), dimensions={2,1,0}"
        "  s = f32[2,2,5] slice(x), slice={[0:2],[0:2],[0:5]}"
    )
    assert np.array_equal(run(f"{TEXT}  {operands}  ROOT r = {op}", X), expected)


def test_pad_grows_crops_and_spreads():
    x, v = np.array([1, 2, 3], np.float32), np.array(9, np.float32)
    text = "x = f32[3] parameter(0)  v = f32[] parameter(1)"
    for padding, expected in [
        ("1_2", [9, 1, 2, 3, 9, 9]),
        ("-1_1", [2, 3, 9]),
        ("0_0_1", [1, 9, 2, 9, 3]),
        ("-1_-2_2", [9, 9, 2, 9]),
        ("2_-4_1", [9, 9, 1]),
    ]:
        assert run(f"{text}  ROOT r = pad(x, v), padding={padding}", x, v).tolist() == expected
    nothing = run(
        "x = f32[0] parameter(0)  v = f32[] parameter(1)  ROOT r = pad(x, v), padding=1_1_3",
        x[:0], v,
    )
    assert nothing.tolist() == [9, 9]


def test_bitcast_follows_the_layouts():
    x = np.arange(6, dtype=np.int32).reshape(2, 3)
    same_memory = run("x = s32[2,3]{1,0} parameter(0)  ROOT r = s32[3,2]{0,1} bitcast(x)", x)
    assert np.array_equal(same_memory, x.T)
    rows = run("x = s32[2,3]{0,1} parameter(0)  ROOT r = s32[6]{0} bitcast(x)", x)
    assert rows.tolist() == [0, 3, 1, 4, 2, 5]
    halves = run("x = s32[2,3]{1,0} parameter(0)  ROOT r = s16[2,6]{1,0} bitcast(x)", x)
    assert halves[1].tolist() == [3, 0, 4, 0, 5, 0]


def test_iota():
    assert run("ROOT r = s8[2,3] iota(), iota_dimension=1").tolist() == [[0, 1, 2]] * 2
    assert run("ROOT r = bf16[300] iota(), iota_dimension=0")[257] == 256


def test_dynamic_slices_clamp_their_starts():
    x = np.arange(5, dtype=np.int32)
    text = "x = s32[5] parameter(0)  i = {0}[] parameter(1)"
    for dtype, start, first in [("s32", -7, 0), ("s32", 9, 3), ("u8", 200, 3), ("s64", 2**40, 3)]:
        dtype_name = {"s32": np.int32, "u8": np.uint8, "s64": np.int64}[dtype]
        given = np.array(start, dtype_name)
        cut = "ROOT r = dynamic-slice(x, i), dynamic_slice_sizes={2}"
        assert run(f"{text.format(dtype)}  {cut}", x, given).tolist() == [first, first + 1]
        put = "u = s32[2] constant({-1,-2})  ROOT r = dynamic-update-slice(x, u, i)"
        expected = x.tolist()
        expected[first : first + 2] = [-1, -2]
        assert run(f"{text.format(dtype)}  {put}", x, given).tolist() == expected


def test_dynamic_slice_takes_one_index_vector_too():
    x = np.arange(6, dtype=np.int32).reshape(2, 3)
    found = run(
        "x = s32[2,3] parameter(0)  i = s32[2] parameter(1)"
        "  ROOT r = dynamic-slice(x, i), dynamic_slice_sizes={1,2}",
        x, np.array([1, 1], np.int32),
    )
    assert found.tolist() == [[4, 5]]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("ROOT r = f32[7,5] reshape(x)", "which has 30 elements, to"),
        ("ROOT r = f32[2,3,5] broadcast(x), dimensions={0,1}", "does not place each of"),
        ("ROOT r = f32[3,3,5] broadcast(x), dimensions={0,1,2}", "another size"),
        ("ROOT r = transpose(x), dimensions={0,1}", "does not name each dimension"),
        ("ROOT r = transpose(x), dimensions={0,1,1}", "dimension 1 is named twice"),
        ("ROOT r = slice(x), slice={[0:3],[0:1],[0:1]}", "does not fit a dimension of size 2"),
        ("ROOT r = slice(x), slice={[0:2]}", "slice has 1 dimensions"),
        ("y = f32[4,3,5] iota(), iota_dimension=0  ROOT r = concatenate(x, y), dimensions={1}",
         "cannot join"),
        ("ROOT r = reverse(x), dimensions={3}", "dimension 3 is not one of the 3"),
        ("ROOT r = pad(x, x), padding=0_0x0_0x0_0", "pad takes a scalar"),
        ("v = f32[] constant(0)  ROOT r = pad(x, v), padding=0_0x-2_-2x0_0", "1 elements too many"),
        ("ROOT r = f32[2,3] iota(), iota_dimension=2", "dimension 2 is not one of the 2"),
        ("ROOT r = s16[2,3] bitcast(x)", "which has 960 bits"),
        ("i = s32[] constant(0)  ROOT r = dynamic-slice(x, i), dynamic_slice_sizes={1,1,1}",
         "scalar start index for each of the 3"),
    ],
)
def test_wrong_operands_are_the_users_error(body, message):
    with pytest.raises(InputError, match=message):
        verify(parse(f"HloModule m\nENTRY e {{ {TEXT}  {body} }}"))


def test_movement_three_ways():
    check(
        """ENTRY e { x = f32[2,3,5] parameter(0)  v = f32[] parameter(1)  e = f32[0,4] parameter(2)
          t = transpose(x), dimensions={2,1,0}
          a = f32[5,6] reshape(t)
          y = f32[5,3,2] reshape(x)
          p = pad(y, v), padding=1_1x0_0x0_0
          b = slice(p), slice={[0:7:2],[0:3],[0:2]}
          c = pad(x, v), padding=-1_2x2_-1_1x0_1_2
          s = slice(x), slice={[0:2],[2:3],[0:5]}
          n = slice(x), slice={[0:2],[1:1],[0:5]}
          d = concatenate(x, n, s, x), dimensions={1}
          f = reverse(d), dimensions={1,2}
          t2 = transpose(x), dimensions={1,0,2}
          g = f32[3,2,4,5] broadcast(t2), dimensions={0,1,3}
          h = pad(e, v), padding=1_1x0_1_1
          k = f32[2,3,5]{0,1,2} copy(x)
          i = f32[3,10]{1,0} bitcast(k)
          m = s16[2,3,10]{2,1,0} bitcast(x)
          ROOT r = tuple(a, b, c, d, f, g, h, i, m) }""",
        X, np.array(7, np.float32), np.zeros((0, 4), np.float32),
        strict=True,
    )


@pytest.mark.parametrize("t", ["s32", "u8", "s64"])
def test_dynamic_slices_three_ways(t):
    dtype = {"s32": np.int32, "u8": np.uint8, "s64": np.int64}[t]
    text = f"""ENTRY e {{ x = f32[2,3,5] parameter(0)
      i = {t}[] parameter(1)  j = {t}[] parameter(2)
      z = {t}[] constant(0)
      a = dynamic-slice(x, z, i, j), dynamic_slice_sizes={{2,2,3}}
      b = dynamic-update-slice(negate(x), exponential(a), z, j, i)
      v = s32[2,1] iota(), iota_dimension=0
      w = s32[2] reshape(v)
      c = dynamic-slice(v, w), dynamic_slice_sizes={{1,1}}
      ROOT r = tuple(a, b, c) }}"""
    for i, j in [(0, 1), (2, 0), (100, 3)]:
        check(text, X, np.array(i, dtype), np.array(j, dtype), strict=True)
