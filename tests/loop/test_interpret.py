"""The interpreter runs kernels and programs, and finds what is out of bounds or not defined."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ccodegen.loop.builder import Builder, apply, const, index
from ccodegen.loop.independence import independent
from ccodegen.loop.interpret import run, run_kernel
from ccodegen.loop.ir import (
    Argument,
    Buffer,
    CallC,
    CallKernel,
    ConstantData,
    Expr,
    For,
    Kernel,
    LoopKind,
    Program,
    Space,
    Step,
    Store,
    Switch,
    Var,
    While,
)
from ccodegen.support.element_type import ElementType
from ccodegen.support.errors import InternalError

F32, S32, PRED = ElementType.F32, ElementType.S32, ElementType.PRED


def buffer(name: str, *dimensions: int, of: ElementType = F32) -> Buffer:
    return Buffer(name, of, dimensions, Space.ARGUMENT)


def less(a: Expr, b: Expr) -> Expr:
    return apply("compare-lt", a, b, type=PRED)


def kernel(b: Builder, *buffers: Buffer) -> Kernel:
    return Kernel("test", buffers, b.statements)


def numbers(*dimensions: int) -> np.ndarray[Any, Any]:
    return np.arange(np.prod(dimensions), dtype=np.float32).reshape(dimensions)


def test_reduction_of_rows() -> None:
    x, out, b = buffer("x", 5, 7), buffer("out", 5), Builder()
    with b.loop(5) as i:
        total = b.variable(const(F32, 0.5), "total")
        with b.loop(7) as j:
            b.store(total, (), apply("add", b.load(total), b.load(x, (i, j))))
        b.store(out, (i,), b.load(total))
    result = np.zeros(5, np.float32)
    run_kernel(kernel(b, x, out), [numbers(5, 7), result])
    np.testing.assert_array_equal(result, numbers(5, 7).sum(axis=1) + 0.5)


def test_turns_that_depend_run_in_order() -> None:
    x, b = buffer("x", 8), Builder()
    with b.loop(7) as i:
        following = (apply("add", i, index(1)),)
        b.store(x, following, apply("add", b.load(x, (i,)), b.load(x, following)))
    array = numbers(8)
    run_kernel(kernel(b, x), [array])
    np.testing.assert_array_equal(array, np.cumsum(numbers(8)))


def test_wrongly_parallel_loop_gives_another_result() -> None:
    x, b = buffer("x", 4), Builder()
    with b.loop(3, kind=LoopKind.PARALLEL) as i:
        b.store(x, (apply("add", i, index(1)),), b.load(x, (i,)))
    array = numbers(4)
    run_kernel(kernel(b, x), [array])
    np.testing.assert_array_equal(array, [0, 0, 1, 2])


def test_select_evaluates_only_what_it_needs() -> None:
    x, y, out, b = buffer("x", 3), buffer("y", 4), buffer("out", 7), Builder()
    with b.loop(7) as i:
        second = b.load(y, (apply("subtract", i, index(3)),))
        b.store(out, (i,), apply("select", less(i, index(3)), b.load(x, (i,)), second))
    result = np.zeros(7, np.float32)
    run_kernel(kernel(b, x, y, out), [numbers(3), numbers(4) + 10, result])
    np.testing.assert_array_equal(result, [0, 1, 2, 10, 11, 12, 13])


def test_and_guards_its_second_argument() -> None:
    x, out, b = buffer("x", 3), buffer("out", 5), Builder()
    with b.loop(5) as i:
        both = apply("and", less(i, index(3)), less(const(F32, 0.5), b.load(x, (i,))))
        with b.when(both):
            b.store(out, (i,), const(F32, 1.0))
        with b.otherwise():
            b.store(out, (i,), const(F32, -1.0))
    result = np.zeros(5, np.float32)
    run_kernel(kernel(b, x, out), [numbers(3), result])
    np.testing.assert_array_equal(result, [-1, 1, 1, -1, -1])


def test_extent_that_differs_between_lanes() -> None:
    n, out, b = buffer("n", 4, of=S32), buffer("out", 4), Builder()
    with b.loop(4) as i:
        total = b.variable(const(F32, 0.0))
        with b.loop(apply("convert", b.load(n, (i,)), type=ElementType.INDEX)):
            b.store(total, (), apply("add", b.load(total), const(F32, 1.0)))
        b.store(out, (i,), b.load(total))
    result = np.zeros(4, np.float32)
    run_kernel(kernel(b, n, out), [np.array([3, 0, 1, 2], np.int32), result])
    np.testing.assert_array_equal(result, [3, 0, 1, 2])


def test_local_arrays_are_fresh_in_each_turn() -> None:
    out, b = buffer("out", 3, 2), Builder()
    with b.loop(3) as i:
        local = b.local(F32, (2,))
        with b.when(less(i, index(2))):
            b.store(local, (index(0),), const(F32, 4.0))
        with b.loop(2) as j:
            b.store(out, (i, j), b.load(local, (j,)))
    result = np.zeros((3, 2), np.float32)
    run_kernel(kernel(b, out), [result])
    np.testing.assert_array_equal(result[:, 0], [4, 4, np.nan])
    assert np.isnan(result[:, 1]).all()


@pytest.mark.parametrize("place", [-1, 4])
def test_access_out_of_bounds(place: int) -> None:
    x, b = buffer("x", 4), Builder()
    with b.loop(2) as i:
        b.store(x, (apply("add", i, index(place)),), const(F32, 0.0))
    with pytest.raises(InternalError, match=r"kernel test: index .* of x is not below 4"):
        run_kernel(kernel(b, x), [numbers(4)])


def test_call_of_a_tile() -> None:
    x, y, out, b = buffer("x", 2, 5), buffer("y", 5, 4), buffer("out", 2, 4), Builder()
    steps = [index(n) for n in (0, 5, 1, 0, 5)]
    b.emit(CallC("ccg_tile_f32_2x4", "ccg_tile_f32_2x4.h", (out, x, y), tuple(steps)))
    result = np.zeros((2, 4), np.float32)
    run_kernel(kernel(b, x, y, out), [numbers(2, 5), numbers(5, 4), result])
    np.testing.assert_array_equal(result, numbers(2, 5) @ numbers(5, 4))


def test_call_of_an_unknown_function() -> None:
    x, b = buffer("x", 2), Builder()
    b.emit(CallC("mystery", "mystery.h", (x,)))
    with pytest.raises(InternalError, match="does not know the function mystery"):
        run_kernel(kernel(b, x), [numbers(2)])


def loop_of(store: Store, extent: int = 4, inner: int = 3) -> For:
    return For(Var("i"), extent, (For(Var("j"), inner, (store,)),))


@pytest.mark.parametrize(
    ("stride", "offset", "expected"), [(3, 0, True), (2, 0, False), (0, 0, False), (-3, 9, True)]
)
def test_independence_of_flat_stores(stride: int, offset: int, expected: bool) -> None:
    i, j = Var("i"), Var("j")
    place = apply("add", apply("multiply", i, index(stride)), apply("add", j, index(offset)))
    store = Store(buffer("out", 12), (place,), const(F32, 0.0))
    assert independent(loop_of(store)) is expected


def test_neighbour_reads_make_turns_dependent() -> None:
    out, i, b = buffer("out", 12, 3), Var("i"), Builder()
    before = b.load(out, (apply("add", i, index(1)), Var("j")))
    assert not independent(loop_of(Store(out, (i, Var("j")), before)))
    same = b.load(out, (i, Var("j")))
    assert independent(loop_of(Store(out, (i, Var("j")), same)))


def copier() -> Kernel:
    x, y, b = buffer("x", 4), buffer("y", 4), Builder()
    with b.loop(4) as i:
        b.store(y, (i,), b.load(x, (i,)))
    return Kernel("copy", (x, y), b.statements)


def test_buffers_that_overlap_in_the_arena_show() -> None:
    copy = copier()
    given, out = buffer("given", 4), buffer("out", 4)
    first = Buffer("first", F32, (4,), Space.ARENA, 0)
    second = Buffer("second", F32, (4,), Space.ARENA, 8)
    other = ConstantData(Buffer("c", F32, (4,), Space.CONSTANT), np.full(4, 9, np.float32))
    calls = ((given, first), (other.buffer, second), (first, out))
    program = Program(
        "overlap",
        (Argument("x", given, parameter=0), Argument("y", out, output=0)),
        (other,),
        24,
        8,
        (copy,),
        tuple(CallKernel(copy, pair) for pair in calls),
    )
    (result,) = run(program, [numbers(4)])
    np.testing.assert_array_equal(result, [0, 1, 9, 9])


def counting(limit: int) -> Program:
    """Doubles its in-out argument until it reaches the limit; then a switch on the counter."""
    state = buffer("state", of=S32)
    going = Buffer("going", PRED, (), Space.ARENA, 0)
    test, twice, negative = Builder(), Builder(), Builder()
    flag = Buffer("flag", PRED, (), Space.ARGUMENT)
    test.store(flag, (), less(test.load(state), const(S32, limit)))
    twice.store(state, (), apply("add", twice.load(state), twice.load(state)))
    negative.store(state, (), apply("negate", negative.load(state)))
    kernels = (
        Kernel("test", (state, flag), test.statements),
        Kernel("twice", (state,), twice.statements),
        Kernel("negative", (state,), negative.statements),
    )
    condition = (CallKernel(kernels[0], (state, going)),)
    steps: tuple[Step, ...] = (
        While(condition, going, (CallKernel(kernels[1], (state,)),)),
        Switch(going, ((), (CallKernel(kernels[2], (state,)),))),
    )
    arguments = (Argument("state", state, parameter=0, output=0),)
    return Program("count", arguments, (), 1, 1, kernels, steps)


def test_while_and_switch() -> None:
    given = np.array(3, np.int32)
    (result,) = run(counting(20), [given])
    assert result == -24
    assert given == 3


def test_store_to_an_input_is_an_error() -> None:
    copy = copier()
    given = buffer("given", 4)
    program = Program(
        "wrong",
        (Argument("x", given, parameter=0), Argument("z", buffer("z", 4), output=0)),
        (),
        16,
        16,
        (copy,),
        (CallKernel(copy, (Buffer("t", F32, (4,), Space.ARENA), given)),),
    )
    with pytest.raises(InternalError, match="store to read-only y"):
        run(program, [numbers(4)])
