"""Contractions of great depth, a part of it at a time."""

from __future__ import annotations

import pytest

from ccodegen.backend.build import Build
from ccodegen.backend.options import with_threads
from ccodegen.loop.ir import For
from ccodegen.loop.rebuild import statements
from tests.lower.test_contract_tiles import functions
from tests.lower.test_weights import dense, with_weights
from tests.three_ways import check, module_of, plain_target, with_vectors

TARGET = with_vectors(plain_target(), 32)


@pytest.fixture(autouse=True)
def parts_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """60 floats of a panel of 8 columns are near, and 16 of them a part."""
    monkeypatch.setattr("ccodegen.lower.contract_parts._MOST_PANEL", 60 * 32)
    monkeypatch.setattr("ccodegen.lower.contract_parts._PANEL", 16 * 32)
    monkeypatch.setattr("ccodegen.lower.contract_parts._MULTIPLE", 1)


def parts(built: Build) -> list[int]:
    """How many parts of the depth each loop over such has."""
    loops = [s for k in built.program.kernels for s in statements(k.body) if isinstance(s, For)]
    return [int(str(loop.extent)) for loop in loops if loop.var.name.startswith("part")]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("order", ["kn", "nk"])
@pytest.mark.parametrize(
    ("sizes", "count"),
    [((30, 96, 40), 6), ((70, 100, 33), 6), ((40, 131, 70), 8), ((40, 61, 21), 3)],
)
def test_sizes(sizes: tuple[int, int, int], count: int, order: str, threads: int) -> None:
    built = check(module_of(dense(*sizes, order)), target=with_threads(TARGET, threads))
    assert parts(built) == [count]


@pytest.mark.parametrize("types", ["f64 f64 f64", "bf16 bf16 bf16", "f16 f32 f32", "s32 s32 s32"])
def test_types(types: str) -> None:
    assert parts(check(module_of(dense(30, 333, 45, "kn", types)), target=TARGET))


def test_strict_sums_are_in_order() -> None:
    assert not parts(check(module_of(dense(30, 96, 40, "kn")), target=TARGET, strict=True))


@pytest.mark.parametrize(("rows", "is_in_parts"), [(5, False), (40, True)])
def test_weights_are_read_once_or_in_parts(rows: int, is_in_parts: bool) -> None:
    built = check(with_weights(dense(rows, 99, 40, "kn")), target=TARGET)
    assert bool(parts(built)) is is_in_parts


def test_batches_and_an_epilogue() -> None:
    built = check(
        module_of("""ENTRY e {
  x = f32[2,80,30] parameter(0)
  y = f32[2,80,24] parameter(1)
  z = f32[2,30,24] parameter(2)
  d = f32[2,30,24] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0},
    lhs_contracting_dims={1}, rhs_contracting_dims={1}
  a = f32[2,30,24] add(d, z)
  ROOT t = (f32[2,30,24], f32[2,30,24]) tuple(a, d) }"""),
        target=TARGET,
    )
    assert parts(built) == [5]


@pytest.mark.parametrize("labels", ["f01b_i01o->01bf", "fb01_i01o->bf01"])
@pytest.mark.parametrize(("features", "rows"), [(8, 4), (10, 5), (7, 0)])
@pytest.mark.parametrize("images", [1, 3])
@pytest.mark.parametrize("near", [0, 4000])
def test_gradients_of_filters(
    near: int, images: int, features: int, rows: int, labels: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The depth is that of all places of all images. Left matrices are read where they lie, if the
    right one is near; else rows that lie side by side are not cut, if a tile's height divides
    them."""
    monkeypatch.setattr("ccodegen.lower.contract_runs._NEAR", near)
    lhs, out = {
        "f01b_i01o->01bf": (f"{images},9,9,{features}", f"3,3,{features},24"),
        "fb01_i01o->bf01": (f"{images},{features},9,9", f"{features},24,3,3"),
    }[labels]
    built = check(
        module_of(f"""ENTRY e {{
  x = f32[{lhs}] parameter(0)
  g = f32[{images},7,7,24] parameter(1)
  ROOT w = f32[{out}] convolution(x, g), dim_labels={labels}, window={{size=7x7}} }}"""),
        target=TARGET,
    )
    assert (images > 1) is bool(parts(built))
    tiles = {name for name in functions(built) if name.startswith("ccg_tile")}
    if labels.endswith("01bf") and rows and not near:
        assert tiles == {f"ccg_tile_f32_{rows}x8"}
    if labels.endswith("01bf") and images > 1:
        assert near == 0 or any(name.endswith("_runs") for name in tiles)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", ["f32", "bf16"])
@pytest.mark.parametrize(("images", "features"), [(1, 24), (3, 37)])
def test_gradients_of_depthwise_filters(
    images: int, features: int, kind: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ccodegen.lower.contract_parts._MOST_LINES", 20 * features * 8)
    monkeypatch.setattr("ccodegen.lower.contract_parts._LINES", 15 * features * 8)
    text = f"""ENTRY e {{
  x = {kind}[{images},14,12,{features}] parameter(0)
  g = {kind}[{images},12,10,{features}] parameter(1)
  ROOT w = {kind}[3,3,1,{features}] convolution(x, g), dim_labels=f01b_i01o->01bf,
    window={{size=12x10}}, batch_group_count={features} }}"""
    target = with_threads(TARGET, threads)
    assert parts(check(module_of(text), target=target))
    assert not parts(check(module_of(text), target=target, strict=True))
