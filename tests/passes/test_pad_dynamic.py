"""pad_dynamic, before and after. tests/ops/test_dynamic_shape.py checks that values stay."""

from __future__ import annotations

import pytest

from ccodegen.passes.pad_dynamic import pad_dynamic
from ccodegen.support.errors import UnsupportedError
from tests.passes.checking import DEFAULT, leaves_alone, module, rewrites

ADD = "add { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT r = f32[] add(p, q) }\n"

# A size that the program computes, clamped to five.
CLAMPED = """
  n = s32[] parameter(1)
  none = s32[] constant(0)
  some = s32[] maximum(n, none)
  five = s32[] constant(5)
  size = s32[] minimum(some, five)
"""


def test_an_interface_of_dynamic_shape_has_sizes() -> None:
    before = """
      x = f32[<=5] parameter(0)
      ROOT y = f32[<=5] negate(x)
    """
    after = f"""
      x = f32[5] parameter(0)
      {CLAMPED}
      y = f32[5] negate(x)
      ROOT r = (f32[5], s32[]) tuple(y, size)
    """
    rewrites(before, after, pad_dynamic, exact=False)


def test_a_reduction_sees_what_does_not_matter() -> None:
    before = ADD + """
    ENTRY e {
      data = f32[5] parameter(0)
      n = s32[] parameter(1)
      x = f32[<=5] set-dimension-size(data, n), dimensions={0}
      zero = f32[] constant(0)
      ROOT s = f32[] reduce(x, zero), dimensions={0}, to_apply=add
    }"""
    after = ADD + f"""
    ENTRY e {{
      data = f32[5] parameter(0)
      {CLAMPED}
      places = s32[5] iota(), iota_dimension=0
      sizes = s32[5] broadcast(size), dimensions={{}}
      inside = pred[5] compare(places, sizes), direction=LT
      neutral = f32[] constant(-0)
      neutrals = f32[5] broadcast(neutral), dimensions={{}}
      x = f32[5] select(inside, data, neutrals)
      zero = f32[] constant(0)
      ROOT s = f32[] reduce(x, zero), dimensions={{0}}, to_apply=add
    }}"""
    rewrites(before, after, pad_dynamic)


def test_sizes_of_whole_arrays_are_numbers() -> None:
    before = """
      x = f32[5,4] parameter(0)
      ROOT n = s32[] get-dimension-size(x), dimensions={1}
    """
    after = """
      x = f32[5,4] parameter(0)
      ROOT n = s32[] constant(4)
    """
    rewrites(before, after, pad_dynamic)


def test_padding_moves_where_no_element_has_to() -> None:
    before = """
      data = f32[5,4] parameter(0)
      n = s32[] parameter(1)
      x = f32[<=5,4] set-dimension-size(data, n), dimensions={0}
      y = f32[<=20] reshape(x)
      ROOT k = s32[] get-dimension-size(y), dimensions={0}
    """
    after = f"""
      data = f32[5,4] parameter(0)
      {CLAMPED}
      four = s32[] constant(4)
      ROOT k = s32[] multiply(size, four)
    """
    rewrites(before, after, pad_dynamic)


def test_static_modules_stay() -> None:
    leaves_alone("x = f32[5] parameter(0)\n ROOT y = f32[5] negate(x)", pad_dynamic)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = f32[?] parameter(0)  ROOT y = f32[?] negate(x)", "f32.\\?., which has no bound"),
        (
            'x = f32[<=5] parameter(0)  ROOT y = f32[5] custom-call(x), custom_call_target="f"',
            "custom-call 'y' of \\(f32.<=5.\\) to f32.5.",
        ),
        (
            'x = f32[5] parameter(0)  ROOT y = f32[<=5] custom-call(x), custom_call_target="f"',
            "custom-call 'y' of \\(f32.5.\\) to f32.<=5.",
        ),
        (
            "x = c64[<=5] parameter(0)  ROOT y = c64[5] fft(x), fft_type=FFT, fft_length={5}",
            "fft 'y' .*: only the dimensions before the last may be dynamic",
        ),
        (
            "x = f32[<=5] parameter(0)  ROOT y = (f32[2], s32[2]) topk(x), k=2",
            "topk 'y' .*: only the dimensions before the last may be dynamic",
        ),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message) as found:
        pad_dynamic(module(text), DEFAULT)
    assert found.value.location is not None
