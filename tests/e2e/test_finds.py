"""What random modules have found, each reduced to a few lines."""

from __future__ import annotations

from tests.three_ways import check


def test_convolution_without_elements() -> None:
    """The evaluator could not tell how many features nothing has."""
    check("""
ENTRY e {
  x = f32[1,1,0] parameter(0)
  k = f32[1,2,1] parameter(1)
  ROOT c = f32[1,2,0] convolution(x, k), window={size=1}, dim_labels=bf0_io0->bf0
}""")


def test_a_nest_that_takes_one_array_in_two_shapes() -> None:
    """Both operands were one flat buffer."""
    check("""
le {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LE
}
or {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = s32[] or(a, b)
}
ENTRY e {
  x = s32[] parameter(0)
  one = s32[1] reshape(x)
  none = s32[0] constant({})
  ROOT s = s32[1] select-and-scatter(one, none, x), select=le, scatter=or, window={size=3}
}""")
