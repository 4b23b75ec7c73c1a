"""Each rule of movement: what it makes of an expression, and what it must leave alone."""

from __future__ import annotations

import re

import pytest

from ccodegen.passes.context import PassContext
from ccodegen.passes.simplify_movement import simplify_movement
from tests.passes.checking import DEFAULT, STRICT, leaves_alone, rewrites

X = "x = f32[2,3] parameter(0)\n "
V = "x = f32[6] parameter(0)\n "
ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"

CASES = {
    "reshape of reshape": (
        X + "a = f32[6] reshape(x)\n q = f32[3,2] reshape(a)",
        X + "q = f32[3,2] reshape(x)",
    ),
    "reshape there and back": (X + "a = f32[6] reshape(x)\n q = f32[2,3] reshape(a)", X + "q = x"),
    "reshape of a scalar's broadcast": (
        "x = f32[] parameter(0)\n a = f32[2,3] broadcast(x), dimensions={}\n q = f32[6] reshape(a)",
        "x = f32[] parameter(0)\n q = f32[6] broadcast(x), dimensions={}",
    ),
    "reshape of iota that adds a size-1 dimension": (
        "a = s32[2,3] iota(), iota_dimension=1\n q = s32[2,1,3] reshape(a)",
        "q = s32[2,1,3] iota(), iota_dimension=2",
    ),
    "transpose of transpose": (
        "x = f32[2,3,4] parameter(0)\n a = f32[3,4,2] transpose(x), dimensions={1,2,0}\n"
        "q = f32[4,3,2] transpose(a), dimensions={1,0,2}",
        "x = f32[2,3,4] parameter(0)\n q = f32[4,3,2] transpose(x), dimensions={2,1,0}",
    ),
    "transpose that moves a size-1 dimension": (
        "x = f32[2,1,3] parameter(0)\n q = f32[1,2,3] transpose(x), dimensions={1,0,2}",
        "x = f32[2,1,3] parameter(0)\n q = f32[1,2,3] reshape(x)",
    ),
    "transpose of a broadcast": (
        "x = f32[3] parameter(0)\n a = f32[2,3] broadcast(x), dimensions={1}\n"
        "q = f32[3,2] transpose(a), dimensions={1,0}",
        "x = f32[3] parameter(0)\n q = f32[3,2] broadcast(x), dimensions={0}",
    ),
    "transpose of rows put together": (
        "x = f32[1,3] parameter(0)\n y = f32[1,3] parameter(1)\n"
        "a = f32[2,3] concatenate(x, y), dimensions={0}\n"
        "q = f32[3,2] transpose(a), dimensions={1,0}",
        "x = f32[1,3] parameter(0)\n y = f32[1,3] parameter(1)\n"
        "a = f32[3,1] reshape(x)\n b = f32[3,1] reshape(y)\n"
        "q = f32[3,2] concatenate(a, b), dimensions={1}",
    ),
    "transpose of iota": (
        "a = s32[2,3] iota(), iota_dimension=0\n q = s32[3,2] transpose(a), dimensions={1,0}",
        "q = s32[3,2] iota(), iota_dimension=1",
    ),
    "an op of broadcast scalars": (
        "x = s32[] parameter(0)\n y = s32[] parameter(1)\n"
        "a = s32[2,3] broadcast(x), dimensions={}\n b = s32[2,3] broadcast(y), dimensions={}\n"
        "q = s32[2,3] remainder(a, b)",
        "x = s32[] parameter(0)\n y = s32[] parameter(1)\n"
        "a = s32[] remainder(x, y)\n q = s32[2,3] broadcast(a), dimensions={}",
    ),
    "clamp of a broadcast scalar": (
        "x = s32[] parameter(0)\n y = s32[] parameter(1)\n z = s32[] parameter(2)\n"
        "a = s32[4] broadcast(y), dimensions={}\n q = s32[4] clamp(x, a, z)",
        "x = s32[] parameter(0)\n y = s32[] parameter(1)\n z = s32[] parameter(2)\n"
        "a = s32[] clamp(x, y, z)\n q = s32[4] broadcast(a), dimensions={}",
    ),
    "keepdims: reshape, then broadcast": (
        "x = f32[4] parameter(0)\n a = f32[4,1] reshape(x)\n"
        "q = f32[4,1,5] broadcast(a), dimensions={0,1}",
        "x = f32[4] parameter(0)\n q = f32[4,1,5] broadcast(x), dimensions={0}",
    ),
    "elementwise between reshapes": (
        "x = f32[4] parameter(0)\n a = f32[4,1] reshape(x)\n k = f32[] constant(2)\n"
        "b = f32[4,1] broadcast(k), dimensions={}\n c = f32[4,1] add(a, b)\n"
        "d = f32[4,1] sqrt(c)\n e = f32[4] reshape(d)\n q = f32[4,5] broadcast(e), dimensions={0}",
        "x = f32[4] parameter(0)\n k = f32[] constant(2)\n"
        "b = f32[4] broadcast(k), dimensions={}\n c = f32[4] add(x, b)\n"
        "d = f32[4] sqrt(c)\n q = f32[4,5] broadcast(d), dimensions={0}",
    ),
    "elementwise between reshapes, in a batch of one": (
        "x = f32[1,4] parameter(0)\n a = f32[1,4,1] reshape(x)\n k = f32[] constant(2)\n"
        "b = f32[1,4,1] broadcast(k), dimensions={}\n c = f32[1,4,1] add(a, b)\n"
        "e = f32[1,4] reshape(c)\n q = f32[1,4,5] broadcast(e), dimensions={0,1}",
        "x = f32[1,4] parameter(0)\n k = f32[] constant(2)\n"
        "b = f32[1,4] broadcast(k), dimensions={}\n c = f32[1,4] add(x, b)\n"
        "q = f32[1,4,5] broadcast(c), dimensions={0,1}",
    ),
    "broadcast that adds a size-1 dimension": (
        "x = f32[4] parameter(0)\n q = f32[4,1] broadcast(x), dimensions={0}",
        "x = f32[4] parameter(0)\n q = f32[4,1] reshape(x)",
    ),
    "broadcast of broadcast": (
        "x = f32[3] parameter(0)\n a = f32[2,3] broadcast(x), dimensions={1}\n"
        "q = f32[2,5,3] broadcast(a), dimensions={0,2}",
        "x = f32[3] parameter(0)\n q = f32[2,5,3] broadcast(x), dimensions={2}",
    ),
    "slice of all": (X + "q = f32[2,3] slice(x), slice={[0:2],[0:3]}", X + "q = x"),
    "slice of slice": (
        "x = f32[20] parameter(0)\n a = f32[6] slice(x), slice={[1:18:3]}\n"
        "q = f32[2] slice(a), slice={[1:5:2]}",
        "x = f32[20] parameter(0)\n q = f32[2] slice(x), slice={[4:11:6]}",
    ),
    "slice of a broadcast": (
        "x = f32[6] parameter(0)\n a = f32[5,6] broadcast(x), dimensions={1}\n"
        "q = f32[2,2] slice(a), slice={[1:3],[0:2]}",
        "x = f32[6] parameter(0)\n a = f32[2] slice(x), slice={[0:2]}\n"
        "q = f32[2,2] broadcast(a), dimensions={1}",
    ),
    "slice of one piece of a concatenate": (
        X + "y = f32[2,4] parameter(1)\n a = f32[2,7] concatenate(x, y), dimensions={1}\n"
        "q = f32[2,2] slice(a), slice={[0:2],[4:6]}",
        X + "y = f32[2,4] parameter(1)\n q = f32[2,2] slice(y), slice={[0:2],[1:3]}",
    ),
    "slice of what was padded": (
        "x = f32[6] parameter(0)\n v = f32[] parameter(1)\n a = f32[9] pad(x, v), padding=2_1\n"
        "q = f32[3] slice(a), slice={[3:6]}",
        "x = f32[6] parameter(0)\n v = f32[] parameter(1)\n q = f32[3] slice(x), slice={[1:4]}",
    ),
    "slice of the padding": (
        "x = f32[6] parameter(0)\n v = f32[] parameter(1)\n a = f32[9] pad(x, v), padding=3_0\n"
        "q = f32[2] slice(a), slice={[0:2]}",
        "x = f32[6] parameter(0)\n v = f32[] parameter(1)\n"
        "q = f32[2] broadcast(v), dimensions={}",
    ),
    "concatenate of one": (X + "q = f32[2,3] concatenate(x), dimensions={0}", X + "q = x"),
    "concatenate of neighbouring slices": (
        V + "a = f32[2] slice(x), slice={[1:3]}\n b = f32[3] slice(x), slice={[3:6]}\n"
        "q = f32[5] concatenate(a, b), dimensions={0}",
        V + "q = f32[5] slice(x), slice={[1:6]}",
    ),
    "concatenate of concatenate and nothing": (
        V + "y = f32[6] parameter(1)\n e = f32[0] constant({})\n"
        "a = f32[12] concatenate(x, y), dimensions={0}\n"
        "q = f32[18] concatenate(a, e, x), dimensions={0}",
        V + "y = f32[6] parameter(1)\n q = f32[18] concatenate(x, y, x), dimensions={0}",
    ),
    "pad that crops": (
        V + "v = f32[] parameter(1)\n q = f32[3] pad(x, v), padding=-1_-2",
        V + "v = f32[] parameter(1)\n q = f32[3] slice(x), slice={[1:4]}",
    ),
    "pad of pad": (
        V + "v = f32[] parameter(1)\n a = f32[8] pad(x, v), padding=1_1\n"
        "q = f32[10] pad(a, v), padding=2_0",
        V + "v = f32[] parameter(1)\n q = f32[10] pad(x, v), padding=3_1",
    ),
    "reverse of reverse": (
        X + "a = f32[2,3] reverse(x), dimensions={0,1}\n q = f32[2,3] reverse(a), dimensions={0}",
        X + "q = f32[2,3] reverse(x), dimensions={1}",
    ),
    "dynamic-slice from a constant place, clamped": (
        V + "i = s32[] constant(5)\n q = f32[2] dynamic-slice(x, i), dynamic_slice_sizes={2}",
        V + "q = f32[2] slice(x), slice={[4:6]}",
    ),
    "dynamic-update-slice of all": (
        V + "y = f32[6] parameter(1)\n i = s32[] constant(5)\n"
        "q = f32[6] dynamic-update-slice(x, y, i)",
        V + "y = f32[6] parameter(1)\n q = y",
    ),
    "gather of one window": (
        "x = f32[4,3] parameter(0)\n i = s32[1] parameter(1)\n"
        "q = f32[3] gather(x, i), offset_dims={0}, collapsed_slice_dims={0}, start_index_map={0},"
        " index_vector_dim=0, slice_sizes={1,3}",
        "x = f32[4,3] parameter(0)\n i = s32[1] parameter(1)\n"
        "s = s32[] reshape(i)\n z = s32[] constant(0)\n"
        "d = f32[1,3] dynamic-slice(x, s, z), dynamic_slice_sizes={1,3}\n q = f32[3] reshape(d)",
    ),
    "array without elements": (
        "x = f32[0,3] parameter(0)\n q = f32[0,3] exponential(x)",
        "x = f32[0,3] parameter(0)\n q = f32[0,3] constant({})",
    ),
    "dot over no elements": (
        "x = f32[2,0] parameter(0)\n y = f32[0,3] parameter(1)\n"
        "q = f32[2,3] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "x = f32[2,0] parameter(0)\n y = f32[0,3] parameter(1)\n z = f32[] constant(0)\n"
        "q = f32[2,3] broadcast(z), dimensions={}",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_rewrites(name: str) -> None:
    before, after = CASES[name]
    rewrites(_entry(before), _entry(after), simplify_movement)


def _entry(text: str) -> str:
    """The lines with a tuple of q as the root; `q = x` says that q is x itself."""
    head, root = text.rsplit("q = ", 1)
    name, lines = ("q", text) if " " in root else (root, head)
    shape = re.findall(rf"\b{name} = (\S+)", lines)[0]
    return f"{lines}\n ROOT r = ({shape}) tuple({name})"


KEPT = {
    "reshape that mixes dimensions": X + "ROOT r = f32[3,2] reshape(x)",
    "slice across two pieces": (
        V + "y = f32[6] parameter(1)\n a = f32[12] concatenate(x, y), dimensions={0}\n"
        "ROOT r = f32[4] slice(a), slice={[4:8]}"
    ),
    "slice of iota from 1": "a = s32[9] iota(), iota_dimension=0\n"
    "ROOT r = s32[4] slice(a), slice={[1:5]}",
    "broadcast to another order": X + "ROOT r = f32[3,2] broadcast(x), dimensions={1,0}",
    "map, which names its dimensions": "f { a = f32[] parameter(0)\n ROOT b = f32[] negate(a) }\n"
    "ENTRY e { x = f32[] parameter(0)\n a = f32[4] broadcast(x), dimensions={}\n"
    "ROOT r = f32[4] map(a), dimensions={0}, to_apply=f }",
    "dynamic sizes": "x = f32[<=6] parameter(0)\n ROOT r = f32[<=6] reshape(x)",
}


@pytest.mark.parametrize("name", KEPT)
def test_leaves_alone(name: str) -> None:
    leaves_alone(KEPT[name], simplify_movement)


def test_reduce_of_a_size_one_dimension_adds_the_init_value_if_strict() -> None:
    before = ADD + (
        "ENTRY e { x = f32[4,1] parameter(0)\n z = f32[] constant(0)\n"
        "ROOT r = f32[4] reduce(x, z), dimensions={1}, to_apply=add }"
    )
    after = (
        "x = f32[4,1] parameter(0)\n z = f32[] constant(0)\n"
        "b = f32[4] broadcast(z), dimensions={}\n v = f32[4] reshape(x)\n"
        "ROOT r = f32[4] add(b, v)"
    )
    rewrites(before, after, simplify_movement, STRICT)
    after = "x = f32[4,1] parameter(0)\n ROOT v = f32[4] reshape(x)"
    rewrites(before, after, simplify_movement, DEFAULT, exact=False)


WINDOW = "x = f32[4,5] parameter(0)\n u = f32[2,3] parameter(1)\n"
COMBINERS = {
    "set": "set { a = f32[] parameter(0)\n ROOT b = f32[] parameter(1) }\n",
    "add": ADD,
}
STARTS = "i = s32[] constant(1)\n j = s32[] constant(2)\n"


def scattered(indices: str, combiner: str) -> str:
    return (
        f"{COMBINERS[combiner]}ENTRY e {{ {WINDOW} i = s32[2] constant({indices})\n"
        f"ROOT q = f32[4,5] scatter(x, i, u), to_apply={combiner}, update_window_dims={{0,1}},\n"
        "inserted_window_dims={}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=0 }"
    )


def test_scatter_that_sets_one_window_is_an_update() -> None:
    after = f"{WINDOW}{STARTS} ROOT q = f32[4,5] dynamic-update-slice(x, u, i, j)"
    rewrites(scattered("{1,2}", "set"), after, simplify_movement)


def test_scatter_that_adds_to_one_window_is_an_update() -> None:
    after = (
        f"{WINDOW}{STARTS} s = f32[2,3] dynamic-slice(x, i, j), dynamic_slice_sizes={{2,3}}\n"
        "w = f32[2,3] add(s, u)\n ROOT q = f32[4,5] dynamic-update-slice(x, w, i, j)"
    )
    rewrites(scattered("{1,2}", "add"), after, simplify_movement)


def test_scatter_out_of_bounds_drops_its_window() -> None:
    leaves_alone(scattered("{3,2}", "set"), simplify_movement)


IMAGE = "x = f32[1,5,1] parameter(0)\n"
LINE = "k = f32[4,1,1] constant({{{1}}, {{2}}, {{3}}, {{4}}})\n"


@pytest.mark.parametrize(
    ("result", "window", "part", "rest"),
    [
        # At 0, 9, 18 and 27 behind the place less 9: the second alone comes to elements.
        (5, "size=4 pad=9_18 rhs_dilate=9", "1:2", "size=1"),
        (5, "size=4 pad=9_18 rhs_dilate=9 rhs_reversal=1", "2:3", "size=1 rhs_reversal=1"),
        (5, "size=4 pad=7_-4", "3:4", "size=1 pad=4_-4"),
        (3, "size=4 pad=0_6 stride=3", "0:4", ""),
        (10, "size=4 pad=0_4 lhs_dilate=2", "0:4", ""),
        (15, "size=4 pad=2_7 lhs_dilate=2 rhs_dilate=1", "0:4", ""),
        (2, "size=4 pad=-3_6 rhs_dilate=2", "0:1", "size=1 pad=-3_0"),
    ],
)
@pytest.mark.parametrize("context", [STRICT, DEFAULT], ids=["strict", "default"])
def test_parts_of_a_window_that_only_read_padding(
    result: int, window: str, part: str, rest: str, context: PassContext
) -> None:
    labels = "dim_labels=b0f_0io->b0f"
    convolution = "ROOT c = f32[1,{0},1] convolution(x, {1}), window={{{2}}}, " + labels
    before = IMAGE + LINE + convolution.format(result, "k", window)
    if not rest:
        leaves_alone(before, simplify_movement, context)
        return
    begin, end = map(int, part.split(":"))
    kernel = f"s = f32[{end - begin},1,1] slice(k), slice={{[{part}], [0:1], [0:1]}}\n"
    after = IMAGE + LINE + kernel + convolution.format(result, "s", rest)
    rewrites(before, after, simplify_movement, context)


@pytest.mark.parametrize("kernel", ["k = f32[4,1,1] parameter(1)\n", LINE.replace("4", "inf")])
def test_windows_whose_zeros_may_make_nan_are_left_alone(kernel: str) -> None:
    kernel = kernel.replace("f32[inf", "f32[4")
    convolution = (
        "ROOT c = f32[1,5,1] convolution(x, k), window={size=4 pad=9_18 rhs_dilate=9},"
        " dim_labels=b0f_0io->b0f"
    )
    leaves_alone(IMAGE + kernel + convolution, simplify_movement)
