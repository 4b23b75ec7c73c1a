"""Contractions whose right matrix is constant: packed into panels when it is compiled."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ccodegen.backend.build import Build
from ccodegen.hlo.ir import Module
from ccodegen.passes.bind_constants import bind_constants
from tests.three_ways import check, module_of, plain_target

RANDOM = np.random.default_rng(0)
MODES = pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])


def with_weights(text: str, number: int = 1) -> Module:
    """The module with random values for that parameter."""
    module = module_of(text)
    shape = module.entry.parameters[number].array_shape
    weights = (RANDOM.standard_normal(shape.dimensions) * 50).astype(shape.element_type.dtype)
    return bind_constants(module, {number: weights}).module


def constants(built: Build) -> list[tuple[int, ...]]:
    return [c.buffer.dimensions for c in built.program.constants]


def dense(rows: int, depth: int, columns: int, order: str, types: str = "f32 f32 f32") -> str:
    w = f"{depth},{columns}" if order == "kn" else f"{columns},{depth}"
    left, right, result = types.split()
    return f"""ENTRY e {{ x = {left}[{rows},{depth}] parameter(0)
  w = {right}[{w}] parameter(1)
  ROOT d = {result}[{rows},{columns}] dot(x, w), lhs_contracting_dims={{1}},
    rhs_contracting_dims={{{order.index("k")}}} }}"""


@MODES
@pytest.mark.parametrize("order", ["kn", "nk"])
@pytest.mark.parametrize(
    ("rows", "depth", "columns", "panels"),
    [(17, 32, 40, (5, 32, 8)), (40, 37, 8, (1, 37, 8)), (7, 300, 10, (3, 300, 4))],
)
def test_a_matrix(
    rows: int, depth: int, columns: int, panels: tuple[int, ...], order: str, strict: bool
) -> None:
    built = check(with_weights(dense(rows, depth, columns, order)), strict=strict)
    assert constants(built) == [panels] and not built.program.arena_size


@MODES
@pytest.mark.parametrize("order", ["kn", "nk"])
@pytest.mark.parametrize(
    ("rows", "columns", "panels"),
    [(1, 48, (3, 480, 16)), (2, 40, (5, 480, 8)), (1, 30, (2, 480, 16)), (2, 9, ()), (1, 20, ())],
)
def test_a_matrix_for_few_rows(
    rows: int, columns: int, panels: tuple[int, ...], order: str, strict: bool
) -> None:
    built = check(with_weights(dense(rows, 480, columns, order)), strict=strict)
    as_given = (480, columns) if order == "kn" else (columns, 480)
    assert constants(built) == [panels or as_given] and not built.program.arena_size


@pytest.mark.parametrize("order", ["kn", "nk"])
@pytest.mark.parametrize(
    ("types", "depth", "panels"),
    [
        ("s8 s8 s32", 32, (5, 8, 32)),
        ("u8 s8 s32", 37, (5, 10, 32)),
        ("s16 s16 s32", 37, (5, 19, 16)),
        ("s16 s16 s32", 36, (5, 18, 16)),
        ("s16 s16 s64", 37, ()),
    ],
)
def test_a_matrix_of_integers(
    types: str, depth: int, panels: tuple[int, ...], order: str
) -> None:
    built = check(with_weights(dense(17, depth, 40, order, types)))
    as_given = (depth, 40) if order == "kn" else (40, depth)
    assert constants(built) == [panels or as_given]
    if panels and depth % 4 == 0:  # else the left matrix is packed
        assert not built.program.arena_size


@MODES
@pytest.mark.parametrize(
    ("image", "kernel", "labels"),
    [
        ("1,9,7,8", "3,3,8,16", "b01f_01io->b01f"),
        ("1,8,9,7", "16,8,3,3", "bf01_oi01->bf01"),
    ],
)
def test_a_convolution(image: str, kernel: str, labels: str, strict: bool) -> None:
    result = "1,9,7,16" if labels.startswith("b01f") else "1,16,9,7"
    built = check(
        with_weights(f"""ENTRY e {{ x = f32[{image}] parameter(0)
  k = f32[{kernel}] parameter(1)
  ROOT c = f32[{result}] convolution(x, k), window={{size=3x3 pad=1_1x1_1}},
    dim_labels={labels} }}"""),
        strict=strict,
    )
    assert constants(built) == [(2, 72, 8)]


@pytest.mark.parametrize("features", [3, 8])
def test_a_convolution_of_bytes(features: int) -> None:
    built = check(
        with_weights(f"""ENTRY e {{ x = s8[1,9,7,{features}] parameter(0)
  k = s8[3,3,{features},16] parameter(1)
  ROOT c = s32[1,9,7,16] convolution(x, k), window={{size=3x3 pad=1_1x1_1}},
    dim_labels=b01f_01io->b01f }}""")
    )
    assert constants(built) == [(2, -(-features * 9 // 4), 32)]


def test_a_kernel_that_is_read_backwards_stays() -> None:
    built = check(
        with_weights("""ENTRY e { x = f32[1,9,7,8] parameter(0)
  k = f32[3,3,8,16] parameter(1)
  ROOT c = f32[1,9,7,16] convolution(x, k), dim_labels=b01f_01io->b01f,
    window={size=3x3 pad=1_1x1_1 rhs_reversal=1x0} }""")
    )
    assert constants(built) == [(3, 3, 8, 16)]


def test_weights_that_others_read_stay() -> None:
    built = check(
        with_weights("""ENTRY e { x = f32[17,32] parameter(0)
  w = f32[32,40] parameter(1)
  d = f32[17,40] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  i = s32[] parameter(2)
  r = f32[1,40] dynamic-slice(w, i, i), dynamic_slice_sizes={1,40}
  ROOT t = (f32[17,40], f32[1,40]) tuple(d, r) }""")
    )
    assert constants(built) == [(32, 40)]


@pytest.mark.parametrize("bound", [False, True])
@pytest.mark.parametrize(("rows", "columns"), [(150, 130), (130, 250), (9, 300)])
def test_shares_for_threads(rows: int, columns: int, bound: bool) -> None:
    text = dense(rows, 70, columns, "kn")
    target = plain_target()
    target = replace(target, machine=replace(target.machine, threads=3))
    check(with_weights(text) if bound else text, target=target)


@MODES
@pytest.mark.parametrize("order", ["bkn", "nbk", "kbn"])
def test_a_batch_of_matrices(order: str, strict: bool) -> None:
    """Both matrices are read where they lie, in each of the batches."""
    sizes = {"b": 3, "k": 37, "n": 40}
    built = check(
        with_weights(f"""ENTRY e {{ x = f32[3,7,9,37] parameter(0)
  w = f32[{",".join(str(sizes[c]) for c in order)}] parameter(1)
  ROOT d = f32[3,7,9,40] dot(x, w), lhs_batch_dims={{0}}, lhs_contracting_dims={{3}},
    rhs_batch_dims={{{order.index("b")}}}, rhs_contracting_dims={{{order.index("k")}}} }}"""),
        strict=strict,
    )
    assert constants(built) == [(15, 37, 8)] and not built.program.arena_size
