"""Convolutions by depth, places of a row together: any window, any rest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.lower.test_contract_tiles import functions
from tests.lower.test_weights import MODES
from tests.three_ways import check, module_of, plain_target


def depthwise(size: str, window: str, kernel: str, shape: str, kind: str = "f32") -> str:
    """A convolution of [2, size, channels] by kernels of [kernel, 1, channels]."""
    *spatial, channels = size.split(",")
    places = "01"[: len(spatial)]
    return f"""ENTRY e {{ x = {kind}[2,{size}] parameter(0)
  w = {kind}[{kernel},1,{channels}] parameter(1)
  ROOT c = {kind}[{shape}] convolution(x, w), window={{{window}}},
    dim_labels=b{places}f_{places}io->b{places}f, feature_group_count={channels} }}"""


@MODES
@pytest.mark.parametrize(
    ("size", "window", "kernel", "shape", "used"),
    [
        ("9,11,8", "size=3x3", "3,3", "2,7,9,8", "3s1"),
        ("9,11,7", "size=3x3 stride=2x2", "3,3", "2,4,5,7", "3s2"),
        ("9,19,5", "size=5x2 stride=1x3", "5,2", "2,5,6,5", "2s3"),
        ("9,11,4", "size=3x3 pad=1_1x1_1", "3,3", "2,9,11,4", "3s1"),
        ("9,11,6", "size=3x3 rhs_reversal=1x1", "3,3", "2,7,9,6", "3s1"),
        ("9,11,6", "size=3x3 rhs_dilate=2x1", "3,3", "2,5,9,6", "3s1"),
        ("9,11,9", "size=3x1", "3,1", "2,7,11,9", "1s1"),
        ("9,1,9", "size=4x1", "4,1", "2,6,1,9", "4s1"),
        ("7,3,9", "size=3x3", "3,3", "2,5,1,9", "3s1"),
        ("23,13", "size=4", "4", "2,20,13", "4s1"),
        ("33,8", "size=3 rhs_dilate=4", "3", "2,25,8", "1s1"),
        ("33,8", "size=11", "11", "2,23,8", "1s1"),
        ("9,11,6", "size=3x3 rhs_dilate=2x2", "3,3", "2,5,7,6", ""),
        ("9,11,3", "size=3x3", "3,3", "2,7,9,3", ""),
        ("9,2,8", "size=3x3", "3,3", "2,7,0,8", ""),
    ],
)
def test_windows(
    size: str, window: str, kernel: str, shape: str, used: str, strict: bool
) -> None:
    built = check(module_of(depthwise(size, window, kernel, shape)), strict=strict)
    assert {f.rpartition("_")[2] for f in functions(built)} == ({used} if used else set())


@MODES
def test_what_is_fused_after_may_lie_in_its_place(strict: bool) -> None:
    text = """ENTRY e { x = f32[2,7,11,6] parameter(0)  w = f32[3,3,1,6] parameter(1)
  y = f32[2,7,11,6] parameter(2)
  c = f32[2,7,11,6] convolution(x, w), window={size=3x3 pad=1_1x1_1},
    dim_labels=b01f_01io->b01f, feature_group_count=6
  z = f32[] constant(0)  zeros = f32[2,7,11,6] broadcast(z), dimensions={}
  relu = f32[2,7,11,6] maximum(c, zeros)
  ROOT r = f32[2,7,11,6] add(y, relu) }"""
    built = check(module_of(text), strict=strict, donate=(2,))
    assert functions(built)


@MODES
@pytest.mark.parametrize(
    ("kind", "converts", "used"),
    [
        ("bf16", False, "ccg_window_bf16"),
        ("f16", True, "ccg_window_f16"),
        ("f16", False, ""),
        ("f8e5m2", True, ""),
    ],
)
def test_halves_are_read_as_they_lie(kind: str, converts: bool, used: str, strict: bool) -> None:
    target = plain_target()
    target = replace(target, machine=replace(target.machine, converts_f16=converts))
    text = depthwise("9,11,13", "size=3x3 pad=1_1x1_1", "3,3", "2,9,11,13", kind)
    built = check(module_of(text), target=target, strict=strict)
    found = {f.rsplit("_", 2)[0] for f in functions(built) if f.startswith("ccg_window")}
    assert found == ({used} if used else set())


def test_mixed_halves_are_converted() -> None:
    text = depthwise("9,11,8", "size=3x3", "3,3", "2,7,9,8", "bf16").replace("w = bf16", "w = f16")
    text = text.replace("ROOT c = bf16", "ROOT c = f32")
    assert not [f for f in functions(check(module_of(text))) if f.startswith("ccg_window")]


@MODES
def test_halves_that_are_converted_before(strict: bool) -> None:
    text = """ENTRY e { x = bf16[2,9,11,8] parameter(0)  w = bf16[3,3,1,8] parameter(1)
  a = f32[2,9,11,8] convert(x)  b = f32[3,3,1,8] convert(w)
  ROOT c = f32[2,7,9,8] convolution(a, b), window={size=3x3},
    dim_labels=b01f_01io->b01f, feature_group_count=8 }"""
    (used,) = {f.rsplit("_", 2)[0] for f in functions(check(module_of(text), strict=strict))}
    assert used == "ccg_window_bf16"
