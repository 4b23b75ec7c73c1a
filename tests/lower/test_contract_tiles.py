"""Integers in register tiles: all types, in every order in memory, with every rest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ccodegen.backend.build import Build
from ccodegen.backend.options import with_threads
from ccodegen.loop.ir import CallC, For
from ccodegen.ops.register_tile import evenly
from ccodegen.target.model import Target
from tests.lower.test_weights import dense, with_weights
from tests.three_ways import check, module_of, plain_target, with_vectors


def functions(built: Build) -> list[str]:
    """The C functions that are called, by name."""

    def called(body: object) -> list[str]:
        if isinstance(body, CallC):
            return [body.function]
        return [f for part in getattr(body, "body", ()) for f in called(part)]

    return [f for kernel in built.program.kernels for f in called(kernel)]


@pytest.mark.parametrize(
    ("types", "kind"),
    [
        ("s8 s8 s32", "s8_s8"),
        ("s8 s8 s8", "s8_s8"),
        ("s8 u8 u32", "s8_u8"),
        ("u8 s8 s32", "u8_s8"),
        ("u8 u8 s16", "u8_u8"),
        ("s4 s8 s32", "s8_s8"),
        ("pred u4 s32", "u8_u8"),
        ("s16 s16 s32", "s16_s16"),
        ("u8 s16 s32", "s16_s16"),
        ("u16 s8 s32", "u32"),
        ("s32 u32 s32", "u32"),
        ("s64 s8 s32", "u32"),
    ],
)
def test_types_of_panels(types: str, kind: str) -> None:
    built = check(module_of(dense(11, 45, 37, "kn", types)))
    (function,) = functions(built)
    assert function.startswith(f"ccg_tile_{kind}_")


@pytest.mark.parametrize("types", ["s8 s8 s32", "u8 s8 s32", "s16 s16 s32"])
@pytest.mark.parametrize("order", ["kn", "nk"])
@pytest.mark.parametrize(
    "sizes",
    [(3, 128, 24), (4, 255, 8), (5, 64, 33), (13, 30, 29), (37, 4, 61), (70, 18, 29), (64, 12, 99)],
)
def test_sizes(sizes: tuple[int, int, int], order: str, types: str) -> None:
    check(module_of(dense(*sizes, order, types)))


@pytest.mark.parametrize("types", ["s8 s8 s32", "u8 u8 u32"])
@pytest.mark.parametrize("sizes", [(130, 30, 90), (90, 32, 130)])
def test_threads_and_weights(sizes: tuple[int, int, int], types: str) -> None:
    target = plain_target()
    target = replace(target, machine=replace(target.machine, threads=3))
    text = dense(*sizes, "kn", types)
    for built in check(text, target=target), check(with_weights(text), target=target):
        assert any(function.endswith("_noted") for function in functions(built))


def nest(built: Build) -> list[str]:
    """The loops of the last kernel that are alone in each other, by the names of variables."""
    (loop,) = built.program.kernels[-1].body[-1:]
    names = []
    while isinstance(loop, For):
        names.append(loop.var.name.split("_")[0])
        loop, *_ = loop.body
    return names


@pytest.mark.parametrize("are_weights", [False, True])
@pytest.mark.parametrize("sizes", [(130, 24, 40), (20, 400, 270)])
def test_threads_share_the_longer_side(sizes: tuple[int, int, int], are_weights: bool) -> None:
    text = dense(*sizes, "kn", "f32 f32 f32")
    module = with_weights(text) if are_weights else module_of(text)
    built = check(module, target=with_threads(plain_target(), 2))
    assert (nest(built)[:2] == ["group", "jt"]) == (sizes[0] > sizes[2])


@pytest.mark.parametrize("types", ["f32 f32", "f64 f64", "bf16 f32", "s8 s32"])
@pytest.mark.parametrize("n", [24, 45])
def test_threads_share_the_rows_of_all_batches_of_weights(n: int, types: str) -> None:
    given, made = types.split()
    text = f"""ENTRY e {{ x = {given}[3,75,40] parameter(0)  y = {given}[3,40,{n}] parameter(1)
  ROOT d = {made}[3,75,{n}] dot(x, y), lhs_batch_dims={{0}}, rhs_batch_dims={{0}},
    lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}} }}"""
    built = check(with_weights(text), target=with_threads(plain_target(), 2))
    if given in ("f32", "f64"):
        assert nest(built)[:2] == ["group", "b"]


@pytest.mark.parametrize("left", ["7,5,30", "30,7,5", "7,30,5", "5,30,7"])
def test_orders_of_the_left_matrix(left: str) -> None:
    depth = left.split(",").index("30")
    first, second = (n for n in left.split(",") if n != "30")
    check(
        module_of(f"""ENTRY e {{ x = s8[{left}] parameter(0)  y = s8[30,24] parameter(1)
  ROOT d = s32[{first},{second},24] dot(x, y), lhs_contracting_dims={{{depth}}},
    rhs_contracting_dims={{0}} }}""")
    )


def test_batch_and_two_depths() -> None:
    check(
        module_of("""ENTRY e { x = s8[3,5,9,7] parameter(0)  y = u8[7,3,16,9] parameter(1)
  ROOT d = s32[3,5,16] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={1},
    lhs_contracting_dims={2,3}, rhs_contracting_dims={3,0} }""")
    )


@pytest.mark.parametrize("labels", ["b01f_01io->b01f", "bf01_oi01->bf01"])
@pytest.mark.parametrize("features", [3, 8])
def test_convolutions(features: int, labels: str) -> None:
    last = labels.startswith("b01f")
    image = f"2,9,8,{features}" if last else f"2,{features},9,8"
    kernel = f"3,2,{features},10" if last else f"10,{features},3,2"
    result = "2,9,4,10" if last else "2,10,9,4"
    check(
        module_of(f"""ENTRY e {{ x = u8[{image}] parameter(0)  k = s8[{kernel}] parameter(1)
  ROOT c = s32[{result}] convolution(x, k), window={{size=3x2 stride=1x2 pad=1_1x0_0}},
    dim_labels={labels} }}""")
    )


@pytest.mark.parametrize("types", ["f32 f32", "s8 s32", "bf16 f32"])
@pytest.mark.parametrize("batch", ["13", "2,9", "9,2"])
@pytest.mark.parametrize("left", ["depth last", "rows last"])
def test_threads_share_small_batches(left: str, batch: str, types: str) -> None:
    """Each chunk of batches packs into memory of its own."""
    target = plain_target()
    machine = replace(target.machine, threads=2, bf16_pairs=True)
    given, made = types.split()
    numbers = range(batch.count(",") + 1)
    batches, depth = ",".join(map(str, numbers)), len(numbers) + (left == "depth last")
    rows = "40,34" if left == "depth last" else "34,40"
    built = check(
        module_of(f"""ENTRY e {{ x = {given}[{batch},{rows}] parameter(0)
  y = {given}[{batch},34,24] parameter(1)
  ROOT d = {made}[{batch},40,24] dot(x, y), lhs_batch_dims={{{batches}}},
    rhs_batch_dims={{{batches}}}, lhs_contracting_dims={{{depth}}},
    rhs_contracting_dims={{{len(numbers)}}} }}"""),
        target=replace(target, machine=machine),
    )
    (outer,) = built.program.kernels[-1].body[-1:]
    assert isinstance(outer, For) and outer.var.name == "chunk"


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("types", ["f32 f32", "s8 s32", "bf16 f32"])
@pytest.mark.parametrize("left", ["m,k", "k,m"])
@pytest.mark.parametrize("n", [50, 90])
def test_panels_that_are_read_several_at_a_time(
    n: int, left: str, types: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the other matrix is more than a near cache keeps."""
    monkeypatch.setattr("ccodegen.lower.contract_tiles._NEAR", 4000)
    target = plain_target()
    machine = replace(target.machine, threads=threads, bf16_pairs=True)
    given, made = types.split()
    depth = left.index("k") // 2
    text = f"""ENTRY e {{ x = {given}[{left.replace("m", "131").replace("k", "40")}] parameter(0)
  y = {given}[40,{n}] parameter(1)
  ROOT d = {made}[131,{n}] dot(x, y), lhs_contracting_dims={{{depth}}},
    rhs_contracting_dims={{0}} }}"""
    for module in module_of(text), with_weights(text):
        built = check(module, target=replace(target, machine=machine))
        assert functions(built)[-1].startswith("ccg_tile_")


@pytest.mark.parametrize(
    ("depth", "cache", "rows"), [(1024, 1 << 15, 10), (1024, 3 << 14, 14), (1000, 1 << 15, 14)]
)
def test_rows_that_lie_on_the_same_places_of_a_cache(depth: int, cache: int, rows: int) -> None:
    """Of 4 KB each, where they are read in place."""
    target = plain_target()
    machine = replace(target.machine, vector_registers=32, cache_bytes=cache)
    built = check(module_of(dense(70, depth, 8, "kn")), target=replace(target, machine=machine))
    assert functions(built) == [f"ccg_tile_f32_{rows}x8"]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    "text",
    [
        """x = f32[40,131] parameter(0)
  y = f32[40,50] parameter(1)
  ROOT d = f32[131,50] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}""",
        """x = f32[40,11,13] parameter(0)
  y = f32[40,50] parameter(1)
  ROOT d = f32[11,13,50] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}""",
    ],
)
def test_lines_that_lie_far_apart_are_packed_one_by_one(
    text: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ccodegen.lower.contract_tiles._FAR", 512)
    monkeypatch.setattr("ccodegen.lower.contract_tiles._OFTEN", 1)
    target = with_threads(with_vectors(plain_target(), 32), threads)
    packed = check(module_of(f"ENTRY e {{ {text} }}"), target=target)
    assert any(call.startswith("ccg_tile_f32") for call in functions(packed))
    monkeypatch.setattr("ccodegen.lower.contract_tiles._FAR", 1 << 20)
    in_place = check(module_of(f"ENTRY e {{ {text} }}"), target=target)
    assert packed.program.arena_size > in_place.program.arena_size


@pytest.mark.parametrize("place", ["l, z, z", "z, l, z", "p"])
@pytest.mark.parametrize("rows", [1, 5, 64])
def test_a_matrix_at_a_place_known_at_run_time_is_read_where_it_lies(
    rows: int, place: str
) -> None:
    """Such as a layer's weights in a loop over layers."""
    built = check(
        module_of(f"""ENTRY e {{
  x = f32[{rows},40] parameter(0)
  y = f32[6,50,8] parameter(1)
  l = s32[] parameter(2)
  p = s32[3] parameter(3)
  z = s32[] constant(0)
  s = f32[1,40,8] dynamic-slice(y, {place}), dynamic_slice_sizes={{1,40,8}}
  w = f32[40,8] reshape(s)
  ROOT d = f32[{rows},8] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}"""),
        target=with_vectors(plain_target(), 32),
    )
    assert len(built.program.kernels) == 1
    assert built.program.arena_size == 0


@pytest.mark.parametrize(
    ("sizes", "order", "tiles"),
    [
        ((12, 9, 12), "mkb,nkb", True),
        ((5, 5, 9), "mkb,nkb", False),  # too little to pack for
        ((12, 9, 12), "bkm,bnk", False),  # vectors along the rows
        ((12, 9, 12), "bmk,bkn", False),  # along the columns
    ],
)
def test_small_matrices_where_no_loop_is_one_of_vectors(
    sizes: tuple[int, int, int], order: str, tiles: bool
) -> None:
    extents = dict(zip("mkn", sizes, strict=True)) | {"b": 7}
    left, right = order.split(",")
    (m, _, n), shapes = sizes, [",".join(str(extents[c]) for c in o) for o in (left, right)]
    built = check(
        module_of(f"""ENTRY e {{
  x = f32[{shapes[0]}] parameter(0)  y = f32[{shapes[1]}] parameter(1)
  ROOT d = f32[7,{m},{n}] dot(x, y),
    lhs_batch_dims={{{left.index("b")}}}, lhs_contracting_dims={{{left.index("k")}}},
    rhs_batch_dims={{{right.index("b")}}}, rhs_contracting_dims={{{right.index("k")}}}
}}"""),
        target=with_vectors(plain_target(), 32),
    )
    assert bool(functions(built)) is tiles


@pytest.mark.parametrize("sizes", [(131, 40, 90), (64, 8, 257)])
def test_wide_results_are_written_in_rows_of_tiles(
    sizes: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ccodegen.lower.contract_tiles._LONG_ROW", 256)
    monkeypatch.setattr("ccodegen.lower.contract_tiles._MANY_PAGES", 50)
    target = with_vectors(plain_target(), 32)
    text = str(check(module_of(dense(*sizes, "kn")), target=target).program.kernels[-1].body)
    assert text.index("name='it'") < text.index("name='jt")


def _with_a_small_cache(threads: int) -> Target:
    target = with_vectors(plain_target(), 32)
    return replace(target, machine=replace(target.machine, cache_bytes=1 << 11, threads=threads))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("sizes", [(16, 20, 200), (7, 100, 147), (150, 101, 130), (40, 99, 150)])
def test_strips_of_narrow_panels(sizes: tuple[int, int, int], threads: int) -> None:
    text = dense(*sizes, "kn", "f32 f32 f32")
    check(module_of(text), target=_with_a_small_cache(threads))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", ["f32", "f64", "u32"])
@pytest.mark.parametrize("columns", [64, 80, 93])
def test_one_row_reads_two_panels_at_a_time(columns: int, kind: str, threads: int) -> None:
    module = with_weights(dense(1, 480, columns, "kn", f"{kind} {kind} {kind}"))
    built = check(module, target=with_threads(plain_target(), threads))
    first, *_ = functions(built)
    assert first.endswith("_apart")


def test_one_row_by_wide_vectors_reads_one() -> None:
    built = check(with_weights(dense(1, 480, 128, "kn")), target=with_vectors(plain_target(), 64))
    assert not functions(built)[0].endswith("_apart")


def test_few_sums_are_no_faster() -> None:
    assert evenly(32, 6) == 4
    assert evenly(32, 6, registers=2) == 5
    assert evenly(8, 6, registers=1) == 6
