"""Loops that threads share: which ones, the C they become, and the same bits from any threads."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ccodegen.emit.parallel import parallel_loops
from ccodegen.emit.source import emit
from ccodegen.emit.table import emit_table
from ccodegen.loop.builder import Builder, apply, const, index
from ccodegen.loop.ir import Apply, CallC, For, LoopKind, Program, Store
from ccodegen.support.element_type import ElementType
from ccodegen.target import load
from tests.emit import programs
from tests.emit.c_compiler import assert_clean, write

F32 = ElementType.F32
MANY = 300_007
ROWS, COLUMNS = 301, 400

# Does the turns of each loop in steps of seven, the last ones first, and counts its calls.
BACKWARDS = """
#include "p.h"
static void backwards(void *pool, ptrdiff_t count, ccg_part *part, void *context)
{
    ptrdiff_t end;
    for (end = count; end > 0; end -= 7) {
        part(context, end > 7 ? end - 7 : 0, end);
    }
    ++*(int *)pool;
}

int run(const float *x, float *y, int threaded);

int run(const float *x, float *y, int threaded)
{
    int calls = 0;
    const ccg_threads threads = {backwards, &calls};
    const int error = p_run(x, y, NULL, threaded ? &threads : NULL);
    return error ? error : calls;
}
"""


def elementwise(extent: int = MANY, kind: LoopKind = LoopKind.VECTOR) -> Program:
    x, y = (programs.argument(name, F32, extent) for name in "xy")
    b = Builder()
    scale = b.let(b.load(x, (index(1),)), "last")
    with b.loop(extent, "begin", kind) as i:
        product = apply("multiply", b.load(x, (i,)), scale)
        b.store(y, (i,), apply("add", product, b.load(x, (i,))))
    return programs.one_kernel("elementwise", (x,), y, b)


def rows() -> Program:
    """Sums of rows, in a loop of turns that are independent, and then each row over its sum."""
    x, y = (programs.argument(name, F32, ROWS, COLUMNS) for name in "xy")
    b = Builder()
    with b.loop(ROWS, "row", LoopKind.PARALLEL) as row:
        total = b.variable(const(F32, 0.0), "sum")
        with b.loop(COLUMNS, "k") as k:
            b.store(total, (), apply("add", b.load(total), b.load(x, (row, k))))
        with b.loop(COLUMNS, "j", LoopKind.VECTOR) as j:
            b.store(y, (row, j), apply("divide", b.load(x, (row, j)), b.load(total)))
    return programs.one_kernel("rows", (x,), y, b)


def few_planes() -> Program:
    """A nest whose outermost loop has too few turns."""
    x, y = (programs.argument(name, F32, 3, ROWS, COLUMNS) for name in "xy")
    b = Builder()
    with (
        b.loops((3, ROWS), "at", LoopKind.PARALLEL) as at,
        b.loop(COLUMNS, "j", LoopKind.VECTOR) as j,
    ):
        b.store(y, (*at, j), apply("add", b.load(x, (*at, j)), const(F32, 1.0)))
    return programs.one_kernel("planes", (x,), y, b)


def steps_of_rows() -> Program:
    """Each row is made of the one before it: only the loop along a row can be shared."""
    x, y = (programs.argument(name, F32, 3, MANY) for name in "xy")
    b = Builder()
    with b.loop(MANY, "j", LoopKind.VECTOR) as j:
        b.store(y, (index(0), j), b.load(x, (index(0), j)))
    with b.loop(2, "row") as row:
        after = apply("add", row, index(1))
        with b.loop(MANY, "j", LoopKind.VECTOR) as j:
            b.store(y, (after, j), apply("add", b.load(y, (row, j)), b.load(x, (after, j))))
    return programs.one_kernel("steps", (x,), y, b)


def framed() -> Program:
    """A matrix with zeros around it, edge by edge: small loops before the large one."""
    x, y = programs.argument("x", F32, ROWS, COLUMNS), programs.argument("y", F32, ROWS, COLUMNS)
    b = Builder()
    zero, last = const(F32, 0.0), (index(ROWS - 1), index(COLUMNS - 1))
    for row in (index(0), last[0]):
        with b.loop(COLUMNS, "j", LoopKind.VECTOR) as j:
            b.store(y, (row, j), zero)
    with b.loop(ROWS - 2, "i") as i:
        for column in (index(0), last[1]):
            b.store(y, (apply("add", i, index(1)), column), zero)
    with b.loops((ROWS - 2, COLUMNS - 2), "at", LoopKind.PARALLEL) as at:
        place = tuple(apply("add", i, index(1)) for i in at)
        b.store(y, place, apply("add", b.load(x, place), const(F32, 1.0)))
    return programs.one_kernel("framed", (x,), y, b)


def halves(extent: int = MANY) -> Program:
    """Two loops that write different elements; one has a third of the other's turns."""
    x, y = (programs.argument(name, F32, extent + extent // 3) for name in "xy")
    b = Builder()
    with b.loop(extent, "i", LoopKind.VECTOR) as i:
        b.store(y, (i,), apply("add", b.load(x, (i,)), const(F32, 1.0)))
    with b.loop(extent // 3, "j", LoopKind.VECTOR) as j:
        place = apply("add", j, index(extent))
        b.store(y, (place,), apply("add", b.load(x, (j,)), const(F32, 2.0)))
    return programs.one_kernel("halves", (x,), y, b)


def total() -> Program:
    x, y = programs.argument("x", F32, MANY), programs.argument("y", F32)
    b = Builder()
    b.store(y, (), const(F32, 0.0))
    with b.loop(MANY) as i:
        b.store(y, (), apply("add", b.load(y), b.load(x, (i,))))
    return programs.one_kernel("total", (x,), y, b)


def with_array_around() -> Program:
    x, y = (programs.argument(name, F32, MANY) for name in "xy")
    b = Builder()
    table = b.local(F32, (2,), "table")
    b.store(table, (index(0),), const(F32, 1.0))
    with b.loop(MANY, "i", LoopKind.VECTOR) as i:
        b.store(y, (i,), apply("add", b.load(x, (i,)), b.load(table, (index(0),))))
    return programs.one_kernel("around", (x,), y, b)


def calling(writes: tuple[int, ...]) -> Program:
    """A call in each turn over a buffer that all turns share."""
    program = elementwise(kind=LoopKind.PARALLEL)
    (kernel,) = program.kernels
    *before, loop = kernel.body
    assert isinstance(loop, For)
    call = CallC("f", "f.h", (kernel.buffers[0],), (), writes)
    shared = replace(kernel, body=(*before, replace(loop, body=(call, *loop.body))))
    return replace(program, kernels=(shared,))


def whole_pieces() -> Program:
    return elementwise(1 << 18)


SHARED = (elementwise, whole_pieces, rows, few_planes, steps_of_rows, framed, halves)
ALONE = (lambda: elementwise(1000), total, with_array_around, lambda: calling((0,)))


@pytest.mark.parametrize("make", SHARED)
def test_independent_loops_with_much_work_are_shared(make: Callable[[], Program]) -> None:
    source = emit(make(), load("x86-64"), "p", threads=True).files["src/p.c"]
    assert "ccg_in_parts(threads, " in source
    assert "p_run(const float *x, float *y, void *arena, const ccg_threads *threads)" in source
    assert "_turns(const float *CCG_RESTRICT x" in source


@pytest.mark.parametrize("make", ALONE)
def test_all_others_are_not(make: Callable[[], Program]) -> None:
    assert not list(parallel_loops(make().kernels[0].body))


def test_calls_that_only_read_what_turns_share_do_no_harm() -> None:
    assert list(parallel_loops(calling(()).kernels[0].body))


def test_loops_of_few_turns_are_shared_with_those_in_them() -> None:
    source = emit(few_planes(), load("x86-64"), "p", threads=True).files["src/p.c"]
    assert f"ccg_in_parts(threads, {3 * ROWS}, " in source


def test_edges_are_filled_by_those_who_do_what_is_inside() -> None:
    (together,) = parallel_loops(framed().kernels[0].body)
    assert len(together) == 4
    source = emit(framed(), load("x86-64"), "p", threads=True).files["src/p.c"]
    assert f"ccg_in_parts(threads, {ROWS - 2}, " in source
    assert source.count("if (begin == 0) {") == 2


def test_loops_that_read_the_same_are_shared_together() -> None:
    (together,) = parallel_loops(halves(MANY).kernels[0].body)
    assert len(together) == 2
    source = emit(halves(MANY), load("x86-64"), "p", threads=True).files["src/p.c"]
    assert "= end * 98 / 293 < 98 ? end * 98 / 293 * 1024 : 100002;" in source


def test_the_largest_has_whole_pieces() -> None:
    """Of loops that compute nothing the one that moves most bytes."""
    program = halves(1 << 19)
    (kernel,) = program.kernels
    copies = tuple(
        replace(loop, body=(replace(store, value=store.value.arguments[0]),))
        for loop in reversed(kernel.body)
        if isinstance(loop, For)
        for store in loop.body
        if isinstance(store, Store) and isinstance(store.value, Apply)
    )
    program = replace(program, kernels=(replace(kernel, body=copies),))
    source = emit(program, load("x86-64"), "p", threads=True).files["src/p.c"]
    assert "ccg_in_parts(threads, 512, " in source


def test_indices_do_not_overflow() -> None:
    many = 1 << 27
    source = emit(halves(many), load("x86-64"), "p", threads=True).files["src/p.c"]
    assert "(ptrdiff_t)((int64_t)begin * " in source


def test_small_loops_that_write_the_same_stay_before() -> None:
    program = framed()
    (kernel,) = program.kernels
    *edges, inside = kernel.body
    assert isinstance(inside, For)
    again = replace(inside, extent=2, var=replace(inside.var, name="twice"))
    (together,) = parallel_loops((*edges, again, inside))
    assert together == (inside,)


def test_whole_pieces_have_a_known_number_of_turns() -> None:
    source = emit(whole_pieces(), load("x86-64"), "p", threads=True).files["src/p.c"]
    assert "ccg_in_parts(threads, 256, " in source
    assert "< piece * 1024 + 1024; ++" in source


@pytest.mark.parametrize("make", SHARED)
def test_without_threads_the_c_is_as_ever(make: Callable[[], Program]) -> None:
    sources = emit(make(), load("x86-64"), "p")
    assert not any("threads" in text for text in sources.files.values())
    units = emit_table(make(), load("host")).units
    assert not any("threads" in unit.text for unit in units)


@pytest.mark.parametrize("make", [*SHARED, total])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_no_warnings(make: Callable[[], Program], compiler: str, tmp_path: Path) -> None:
    sources = emit(make(), load("x86-64"), "p", threads=True)
    assert_clean(replace(sources, files={**sources.files, "main.c": BACKWARDS}), tmp_path, compiler)


@pytest.mark.parametrize("make", SHARED)
def test_any_threads_give_the_same_bits(make: Callable[[], Program], tmp_path: Path) -> None:
    program = make()
    run = _library(program, tmp_path)
    x = np.random.default_rng(0).standard_normal(program.arguments[0].buffer.dimensions)
    results = [np.zeros(x.shape, np.float32) for _ in range(2)]
    calls = [_called(run, x.astype(np.float32), y, n) for n, y in enumerate(results)]
    assert calls == [0, 3 if make is steps_of_rows else 1]
    assert results[0].any()
    np.testing.assert_array_equal(results[0], results[1])


def _library(program: Program, folder: Path) -> Any:
    files = emit(program, load("x86-64"), "p", threads=True).files
    sources = write({**files, "main.c": BACKWARDS}, folder)
    command = ["gcc", "-std=c99", "-O3", "-march=native", "-ffp-contract=fast", "-shared", "-fPIC"]
    subprocess.run([*command, *sources, "-lm", "-o", folder / "run.so"], check=True)
    return ctypes.CDLL(str(folder / "run.so")).run


def _called(run: Any, x: Any, y: Any, threaded: int) -> int:
    return int(run(ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data), threaded))


def test_arrays_of_the_kernel_keep_a_loop_in_it() -> None:
    (kernel,) = with_array_around().kernels
    assert not list(parallel_loops(kernel.body))
