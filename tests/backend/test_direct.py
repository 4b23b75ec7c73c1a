"""Calls that go straight from the interpreter into the program."""

from __future__ import annotations

import gc
import sys
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from types import BuiltinFunctionType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ccodegen
from ccodegen.backend import direct
from ccodegen.support.errors import InputError

Array = np.ndarray[Any, Any]
X = np.arange(6, dtype=np.float32).reshape(2, 3)

ADD = """ENTRY e { x = f32[2,3] parameter(0)  y = f32[2,3] parameter(1)
  ROOT s = f32[2,3] add(x, y) }"""
BOTH = """ENTRY e { x = f32[2,3] parameter(0)  y = f32[2,3] parameter(1)
  s = f32[2,3] add(x, y)  d = f32[2,3] subtract(x, y)
  ROOT t = (f32[2,3], f32[2,3]) tuple(s, d) }"""
NESTED = """ENTRY e { x = f32[2] parameter(0)  a = f32[2] negate(x)  b = (f32[2]) tuple(a)
  ROOT t = ((f32[2]), f32[2]) tuple(b, x) }"""
# Runs for some milliseconds, without the interpreter's lock.
LONG = """add { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT r = f32[] add(p, q) }
ENTRY e { x = f32[3000,3000] parameter(0)  z = f32[] constant(0)
  s = f32[3000,3000] tanh(x)  ROOT r = f32[3000] reduce(s, z), dimensions={1}, to_apply=add }"""
# The same, with the sums in the arena, and then a large result.
SPREAD = """add { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT r = f32[] add(p, q) }
ENTRY e { x = f32[3000,3000] parameter(0)  z = f32[] constant(0)
  s = f32[3000,3000] tanh(x)  r = f32[3000] reduce(s, z), dimensions={1}, to_apply=add
  ROOT b = f32[3000,3000] broadcast(r), dimensions={1} }"""


def compiled(text: str, **options: Any) -> ccodegen.Executable:
    made = ccodegen.compile(text, **options)
    assert isinstance(made.run, BuiltinFunctionType)
    return made


def test_results_are_new_arrays() -> None:
    add = compiled(ADD)
    first, second = add(X, X), add.run(X, X + 1)
    np.testing.assert_array_equal(first, X + X)
    np.testing.assert_array_equal(second, X + X + 1)
    assert first.flags.owndata and first.dtype == np.float32
    sums, differences = compiled(BOTH)(X, X)
    np.testing.assert_array_equal(sums, X + X)
    np.testing.assert_array_equal(differences, X - X)


@pytest.mark.parametrize("kind", [np.float32, ml_dtypes.bfloat16, np.bool_])
def test_large_results_begin_with_a_cache_line(kind: Any) -> None:
    name = {np.float32: "f32", ml_dtypes.bfloat16: "bf16", np.bool_: "pred"}[kind]
    copy = compiled(
        f"""ENTRY e {{ x = {name}[3,99991] parameter(0)
          ROOT t = {name}[99991,3] transpose(x), dimensions={{1,0}} }}"""
    )
    x = (np.arange(3 * 99991) % 3).reshape(3, 99991).astype(kind)
    results = [copy(x) for _ in range(5)]
    assert all(r.ctypes.data % 64 == 0 and r.dtype == kind for r in results)
    assert all(np.array_equal(r, x.T) for r in results)
    assert np.array_equal(copy(x, out=results[0]), x.T)


def test_out() -> None:
    y, z = np.empty_like(X), np.empty_like(X)
    assert compiled(ADD)(X, X, out=y) is y
    assert compiled(ADD).run(X, X, out=None) is not y
    results = compiled(BOTH)(X, X, out=(y, z))
    assert results[0] is y and results[1] is z
    np.testing.assert_array_equal(y, X + X)
    np.testing.assert_array_equal(z, X - X)
    lists = compiled(BOTH)(X, X, out=[y, z])
    assert lists[0] is y and lists[1] is z


def test_donated_arguments_are_returned() -> None:
    x, y = X.copy(), X.copy()
    result = compiled(ADD, donate=[0])(x, y)
    assert result is x
    np.testing.assert_array_equal(x, X + X)
    np.testing.assert_array_equal(y, X)


@pytest.mark.parametrize(
    "x",
    [
        X.tolist(),
        np.asfortranarray(X),
        X.astype(">f4"),
        np.arange(12, dtype=np.float32).reshape(2, 6)[:, ::2] / 2,
        np.frombuffer(b"x" + X.tobytes(), np.uint8)[1:].view(np.float32).reshape(2, 3),
        X.view(type("Own", (np.ndarray,), {})),
    ],
    ids=["list", "order", "bytes", "strides", "alignment", "subclass"],
)
def test_arrays_of_other_forms_are_converted(x: Any) -> None:
    given = np.asarray(x, np.float32) if isinstance(x, list) else x
    np.testing.assert_array_equal(compiled(ADD)(given, X), X + X)


SCALED = """ENTRY e { x = f32[2,3] parameter(0)  s = f32[] parameter(1)
  b = f32[2,3] broadcast(s), dimensions={}  ROOT m = f32[2,3] multiply(x, b) }"""


@pytest.mark.parametrize("s", [2, 2.0, True, np.float32(2), np.float64(2)])
def test_arrays_are_made_of_numbers(s: Any) -> None:
    y = np.empty_like(X)
    assert compiled(SCALED)(X, s, out=y) is y
    np.testing.assert_array_equal(y, X * np.float32(s))
    donating = compiled(SCALED, donate=[0])
    own = X.copy().view(type("Own", (np.ndarray,), {}))
    assert donating(own, s) is own
    np.testing.assert_array_equal(own, X * np.float32(s))
    with pytest.raises(InputError, match="written in place"):
        donating(X.tolist(), s)


def test_arrays_that_overlap() -> None:
    memory = np.arange(9, dtype=np.float32)
    x, shifted, apart = memory[:6].reshape(2, 3), memory[3:].reshape(2, 3), memory.copy()
    result = compiled(ADD)(x, x, out=shifted)
    assert result is shifted
    np.testing.assert_array_equal(memory, [0, 1, 2, 0, 2, 4, 6, 8, 10])
    # The same memory under two owners.
    data = bytearray(apart.tobytes())
    one, other = (np.frombuffer(data, np.float32) for _ in range(2))
    compiled(ADD)(one[:6].reshape(2, 3), one[:6].reshape(2, 3), out=other[3:].reshape(2, 3))
    np.testing.assert_array_equal(one, [0, 1, 2, 0, 2, 4, 6, 8, 10])
    with pytest.raises(InputError, match="share memory"):
        compiled(BOTH)(X, X, out=(shifted, x))


def test_results_side_by_side_in_one_array() -> None:
    both = np.empty((2, 2, 3), np.float32)
    compiled(BOTH)(X, X, out=(both[0], both[1]))
    np.testing.assert_array_equal(both, [X + X, X - X])


def test_arrays_by_the_hundred() -> None:
    """In any order in memory, some in one another, some of no elements."""
    count = 150
    lines = [f"x{n} = f32[{n % 5}] parameter({n})" for n in range(count)]
    lines += [f"r{n} = f32[{n % 5}] negate(x{n})" for n in range(count)]
    shapes = ", ".join(f"f32[{n % 5}]" for n in range(count))
    names = ", ".join(f"r{n}" for n in range(count))
    text = "\n".join(["ENTRY e {", *lines, f"ROOT t = ({shapes}) tuple({names}) }}"])
    program, rng = compiled(text), np.random.default_rng(7)
    for turn in range(20):
        memory = np.arange(9 * count if turn % 2 else count, dtype=np.float32)
        starts = rng.permutation(2 * count) if turn % 2 else rng.integers(0, count - 4, count)
        step = 4 if turn % 2 else 1
        x = [memory[step * start :][: n % 5] for n, start in enumerate(starts[:count])]
        expected = [-array for array in x]
        rest = [memory[step * start :][: n % 5] for n, start in enumerate(starts[count:])]
        out = tuple(rest or [np.empty_like(array) for array in x])
        results = program.run(*x, out=out)
        assert all(result is array for result, array in zip(results, out, strict=True))
        for result, wanted in zip(results, expected, strict=True):
            np.testing.assert_array_equal(result, wanted)
    with pytest.raises(InputError, match="share memory"):
        program.run(*x, out=(*out[:77], out[99][:2], *out[78:]))


CALLS: list[tuple[Callable[[Any], Any], str]] = [
    (lambda add: add(X), "expected 2 arguments"),
    (lambda add: add(X, X, X), "got 3"),
    (lambda add: add(X, X.astype(np.int32)), r"y: expected f32\[2,3\], got s32\[2,3\]"),
    (lambda add: add(X.T, X), r"got f32\[3,2\]"),
    (lambda add: add(X, X, out=(X,)), "expected a NumPy array"),
    (lambda add: add(X, X, out=np.empty((3, 2), np.float32)), "out"),
    (lambda add: add(X, X, out=np.broadcast_to(X, (2, 3))), "must be writable"),
]


@pytest.mark.parametrize(("call", "message"), CALLS)
def test_wrong_calls_are_errors(call: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call(compiled(ADD).run)


def test_other_keywords_are_errors() -> None:
    with pytest.raises(TypeError, match="where"):
        compiled(ADD).run(X, X, where=X)


@pytest.mark.parametrize("kind", [ml_dtypes.bfloat16, np.float16, np.bool_, np.complex64, np.int64])
def test_types(kind: Any) -> None:
    names = {ml_dtypes.bfloat16: "bf16", np.float16: "f16", np.bool_: "pred", np.complex64: "c64"}
    name = names.get(kind, "s64")
    text = f"""ENTRY e {{ x = {name}[2] parameter(0)
      ROOT r = {name}[2,2] broadcast(x), dimensions={{1}} }}"""
    given = np.array([0, 1], kind)
    result = compiled(text)(given)
    assert result.dtype == given.dtype
    np.testing.assert_array_equal(result, np.stack([given, given]))


@pytest.mark.parametrize("dims", ["", "0,3", "1,1,1,1,1,1"])
def test_ranks_and_no_elements(dims: str) -> None:
    shape = tuple(int(d) for d in dims.split(",") if d)
    text = f"ENTRY e {{ x = f32[{dims}] parameter(0)  ROOT r = f32[{dims}] negate(x) }}"
    x, y = np.full(shape, 2, np.float32), np.empty(shape, np.float32)
    np.testing.assert_array_equal(compiled(text)(x), -x)
    assert compiled(text)(x, out=y) is y
    np.testing.assert_array_equal(y, -x)


@pytest.mark.parametrize(
    "text",
    [
        NESTED,
        "ENTRY e { x = s4[2] parameter(0)  ROOT r = s4[2] negate(x) }",
        "ENTRY e { x = f32[<=2] parameter(0)  ROOT r = f32[<=2] negate(x) }",
        "ENTRY e { x = f32[2,2]{0,1} parameter(0)  ROOT r = f32[2,2]{0,1} negate(x) }",
    ],
)
def test_what_python_has_to_call(text: str) -> None:
    made = ccodegen.compile(text)
    assert not isinstance(made.run, BuiltinFunctionType)
    x = np.ones((2, 2) if "{0,1}" in text else (2,), ml_dtypes.int4 if "s4" in text else np.float32)
    result = made(x)
    np.testing.assert_array_equal(result[0][0] if text is NESTED else result, -x)


def test_threads_at_once() -> None:
    program = compiled(LONG)
    x = np.random.default_rng(0).standard_normal((3000, 3000), np.float32)
    expected, results = program(x), []
    threads = [threading.Thread(target=lambda: results.append(program(x))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(np.array_equal(result, expected) for result in results)


def test_a_thread_that_comes_while_results_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """To make a large one runs Python's code, which may have to wait for other threads."""
    x = np.random.default_rng(0).standard_normal((3000, 3000), np.float32)
    other = np.empty_like(x)
    second = threading.Thread(target=lambda: program(x, out=other))

    def make(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        if threading.current_thread() is not second:
            second.start()
            time.sleep(0.003)
        return np.empty(shape, dtype)

    monkeypatch.setattr(direct, "new_array", make)
    program = compiled(SPREAD)
    first = program(-x)
    second.join()
    expected = np.broadcast_to(np.tanh(x).sum(1), x.shape)
    np.testing.assert_allclose(other, expected, rtol=1e-3, atol=1e-2)
    np.testing.assert_allclose(first, -expected, rtol=1e-3, atol=1e-2)


def test_nothing_is_kept() -> None:
    add = compiled(ADD)
    x, y = X.copy(), np.empty_like(X)
    before = [sys.getrefcount(o) for o in (x, y, X, np.empty)]
    for _ in range(10):
        add(x, x, out=y)
        add(x, x)
        add.run(x, np.asfortranarray(x))
    assert [sys.getrefcount(o) for o in (x, y, X, np.empty)] == before
    results = compiled(BOTH)(x, x)
    count = sys.getrefcount(results[0])
    assert count == 2


def test_a_program_that_nobody_has_is_unloaded(tmp_path: Path) -> None:
    path = tmp_path / "add.ccg"
    compiled(ADD).save(path)
    program = ccodegen.load(path)
    np.testing.assert_array_equal(program(X, X), X + X)
    program(np.asfortranarray(X), X)  # the way through Python
    gone = weakref.ref(program)
    assert str(path) in Path("/proc/self/maps").read_text()
    del program
    gc.collect()
    assert gone() is None
    assert str(path) not in Path("/proc/self/maps").read_text()
