"""Convolutions that read the image where it lies, row by row."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ccodegen.backend.build import Build
from ccodegen.backend.options import with_threads
from ccodegen.hlo.ir import Module
from tests.lower.test_contract_tiles import functions, nest
from tests.lower.test_weights import MODES, with_weights
from tests.three_ways import check, module_of, plain_target


def convolution(size: str, window: str, kernel: str, shape: str, kind: str = "f32") -> str:
    *spatial, _ = size.split(",")
    places = "012"[: len(spatial)]
    return f"""ENTRY e {{ x = {kind}[2,{size}] parameter(0)  w = {kind}[{kernel}] parameter(1)
  ROOT c = {kind}[2,{shape}] convolution(x, w), window={{{window}}},
    dim_labels=b{places}f_{places}io->b{places}f }}"""


def in_runs(built: Build) -> bool:
    return any(function.endswith(("_runs", "_planes")) for function in functions(built))


@MODES
@pytest.mark.parametrize(
    ("size", "window", "kernel", "shape"),
    [
        ("9,11,5", "size=3x3", "3,3,5,13", "7,9,13"),
        ("9,27,3", "size=5x5 stride=2x2", "5,5,3,8", "3,12,8"),
        ("13,17,1", "size=4x4", "4,4,1,5", "10,14,5"),
        ("9,21,7", "size=1x1 stride=2x2", "1,1,7,16", "5,11,16"),
        ("9,11,6", "size=3x3 rhs_dilate=2x1", "3,3,6,9", "5,9,9"),
        ("29,3", "size=4", "4,3,32", "26,32"),
        ("9,11,6", "size=3x3 pad=1_1x1_1", "3,3,6,9", "9,11,9"),
    ],
)
@pytest.mark.parametrize("program", [with_weights, module_of])
def test_rows_of_images(
    size: str,
    window: str,
    kernel: str,
    shape: str,
    strict: bool,
    program: Callable[[str], Module],
) -> None:
    built = check(program(convolution(size, window, kernel, shape)), strict=strict)
    assert in_runs(built)


@pytest.mark.parametrize("threads", [1, 3])
def test_groups_of_packed_filters(threads: int) -> None:
    text = convolution("9,11,10", "size=3x3", "3,3,5,32", "7,9,32")
    text = text.replace("->b01f", "->b01f, feature_group_count=2")
    built = check(module_of(text), target=with_threads(plain_target(), threads))
    assert in_runs(built)


@pytest.mark.parametrize(
    ("size", "window", "kernel", "shape"),
    [
        ("9,11,5", "size=3x3", "3,3,5,40", "7,9,40"),
        ("60,3", "size=4", "4,3,48", "57,48"),
    ],
)
def test_threads_share_places(size: str, window: str, kernel: str, shape: str) -> None:
    text = with_weights(convolution(size, window, kernel, shape))
    built = check(text, target=with_threads(plain_target(), 2))
    assert in_runs(built)
    assert nest(built)[-1] == "jt"


@MODES
@pytest.mark.parametrize(
    ("size", "window", "kernel", "shape"),
    [
        ("9,11,6", "size=3x3 rhs_dilate=2x2", "3,3,6,9", "5,7,9"),
        ("4,5,9,2", "size=2x2x2", "2,2,2,2,8", "3,4,8,8"),
        ("5,6,13,3", "size=3x3x3 pad=1_1x1_1x1_1", "3,3,3,3,9", "5,6,13,9"),
        ("7,6,13,3", "size=3x2x3 stride=2x1x1", "3,2,3,3,8", "3,5,11,8"),
    ],
)
def test_runs_in_planes(size: str, window: str, kernel: str, shape: str, strict: bool) -> None:
    """Of volumes, or of windows with gaps both ways."""
    built = check(with_weights(convolution(size, window, kernel, shape)), strict=strict)
    assert any(function.endswith("_planes") for function in functions(built))


@pytest.mark.parametrize(
    ("size", "window", "kernel", "shape"),
    [
        ("9,3,6", "size=3x3", "3,3,6,16", "7,1,16"),  # rows are short
        ("5,11,1024", "size=2x2", "2,2,1024,9", "4,10,9"),  # places share a cache's places
        ("7,9,64", "size=5x5", "5,5,64,128", "3,5,128"),  # each row would read much anew
        ("4,5,9,2", "size=2x2x2 rhs_dilate=2x2x2", "2,2,2,2,8", "2,3,7,8"),  # planes of two kinds
        ("9,11,6", "size=1x1", "1,1,6,16", "9,11,16"),  # all places are a constant step apart
    ],
)
def test_where_another_form_is_better(
    size: str, window: str, kernel: str, shape: str
) -> None:
    built = check(with_weights(convolution(size, window, kernel, shape)))
    assert not in_runs(built)


@pytest.mark.parametrize(("kind", "used"), [("f64", True), ("u32", True), ("s8", False)])
def test_types(kind: str, used: bool) -> None:
    text = convolution("9,11,5", "size=3x3", "3,3,5,13", "7,9,13", kind)
    assert in_runs(check(with_weights(text))) is used
