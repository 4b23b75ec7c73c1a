"""Programs loaded into this process: results, arguments of every kind, threads, the cache."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ccodegen
from ccodegen.backend import cached, host, library, toolchain
from ccodegen.backend.executable import HostExecutable
from ccodegen.backend.interfaces import Memory, Options
from ccodegen.backend.library import Library
from ccodegen.emit import effort, table
from ccodegen.emit.effort import Effort
from ccodegen.emit.unit import python_unit
from ccodegen.loop.builder import Builder, apply
from ccodegen.loop.ir import Program
from ccodegen.support.element_type import ElementType
from ccodegen.support.errors import InputError, InternalError
from ccodegen.target import load
from tests.emit import programs

HOST = load("host")
X = np.random.default_rng(0).standard_normal((4, 8)).astype(np.float32)


def mlp_result(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.exp(np.maximum(x @ programs.WEIGHTS, 0) + 0.5)


def test_result_and_memory() -> None:
    exe = host.load(programs.mlp(), HOST)
    np.testing.assert_allclose(exe(X), mlp_result(X), rtol=1e-5)
    assert exe.memory == Memory(arena=112, constants=96, arguments=128, outputs=48)


def test_arguments_are_those_of_a_call() -> None:
    text = """HloModule m, entry_computation_layout={(f32[2,3]{0,1}, s8[<=4])->s8[<=4]}
ENTRY e {
  x = f32[2,3]{0,1} parameter(0)
  n = s8[<=4] parameter(1)
  ROOT y = s8[<=4] negate(n)
}
"""
    exe = ccodegen.compile(text)
    assert [str(a) for a in exe.arguments] == ["float32[2,3]", "int8[4]"]
    np.testing.assert_array_equal(exe(np.zeros((2, 3), np.float32), np.int8([5, 6])), [-5, -6])


def test_strict_mode_and_no_cache(cache_directory: Path) -> None:
    before = set(cache_directory.rglob("*"))
    exe = host.load(programs.mlp(), HOST, Options(strict=True, cache=False))
    np.testing.assert_allclose(exe(X), mlp_result(X), rtol=1e-5)
    assert set(cache_directory.rglob("*")) == before


def test_large_constants_are_passed_as_pointers(monkeypatch: pytest.MonkeyPatch) -> None:
    sources = table.emit_table(programs.mlp(), HOST, large_constant=8)
    assert [constant.buffer.name for constant in sources.external] == ["w"]
    assert "0.125f" not in sources.units[0].text


def test_kernels_with_work_get_units_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "_LITTLE_WORK", 50)
    monkeypatch.setattr(table, "_FEW_LINES", 0)
    units = table.emit_table(programs.mlp(), HOST).units
    assert [unit.effort for unit in units] == [Effort.MOST, Effort.LITTLE, Effort.LITTLE]
    assert "ccg_python.h" in units[-1].text
    exe = host.load(programs.mlp(), HOST)
    np.testing.assert_allclose(exe(X), mlp_result(X), rtol=1e-5)


@pytest.mark.parametrize(("pick", "added"), [(0, 100), (1, 200), (2, 300), (7, 300), (-1, 300)])
def test_control_flow_and_donation(pick: int, added: int) -> None:
    exe = host.load(programs.counting(), HOST)
    n = np.array(3.5, np.float32)
    result = exe(n, np.int32(pick))
    assert result is n
    assert n == 10.5 + added


def test_complex() -> None:
    x = np.array([1 + 2j, -3j, 4, 0, 1j], np.complex64)
    np.testing.assert_array_equal(host.load(programs.conjugate(), HOST)(x), np.conj(x) * 1j)


def copy_of(element: ElementType) -> Program:
    x, y = programs.argument("x", element, 2, 3), programs.argument("y", element, 2, 3)
    b = Builder()
    with b.loops((2, 3), "i") as index:
        b.store(y, index, b.load(x, index))
    return programs.one_kernel("copy", (x,), y, b)


@pytest.mark.parametrize("element", [t for t in ElementType if t is not ElementType.INDEX])
def test_every_type_goes_in_and_out(element: ElementType) -> None:
    values = np.arange(6).reshape(2, 3).astype(np.int8) % 2
    x = values.astype(element.dtype)
    result = host.load(copy_of(element), HOST, Options(cache=False))(x)
    assert result.dtype == x.dtype
    assert result.tobytes() == x.tobytes()


def test_signed_numbers_below_a_byte_have_their_sign_in_c() -> None:
    x, y = programs.argument("x", ElementType.S4, 3), programs.argument("y", ElementType.S8, 3)
    b = Builder()
    with b.loop(3) as i:
        b.store(y, (i,), apply("convert", b.load(x, (i,)), type=ElementType.S8))
    exe = host.load(programs.one_kernel("widen", (x,), y, b), HOST)
    given = np.array([-8, 7, -1], ml_dtypes.int4)
    np.testing.assert_array_equal(exe(given), np.array([-8, 7, -1], np.int8))
    assert given.view(np.uint8).tolist() == [8, 7, 15]


def test_what_is_not_dense_is_copied() -> None:
    exe = host.load(programs.mlp(), HOST)
    expected = mlp_result(X)
    unaligned = np.frombuffer(b"x" + X.tobytes(), np.uint8)[1:].view(np.float32).reshape(4, 8)
    for x in (np.asfortranarray(X), X[::-1][::-1], X.astype(">f4"), X.tolist(), unaligned):
        given = np.asarray(x, np.float32) if isinstance(x, list) else x
        np.testing.assert_allclose(exe(given), expected, rtol=1e-5)
    x = X.copy()
    x.flags.writeable = False
    np.testing.assert_allclose(exe(x), expected, rtol=1e-5)


def test_python_numbers_are_taken_for_scalars() -> None:
    assert host.load(programs.adding(2), HOST)(1, 2.5) == 3.5


def test_out() -> None:
    exe = host.load(programs.mlp(), HOST)
    y = np.empty((4, 3), np.float32)
    assert exe(X, out=y) is y
    np.testing.assert_allclose(y, mlp_result(X), rtol=1e-5)


@pytest.mark.parametrize("kind", [tuple, list])
def test_out_is_nested_like_the_results(kind: Callable[[Any], Any]) -> None:
    exe = host.load(programs.mlp(), HOST, Options(structure=(0,)))
    y = np.empty((4, 3), np.float32)
    assert exe(X, out=kind([y]))[0] is y
    np.testing.assert_allclose(y, mlp_result(X), rtol=1e-5)
    for wrong in (y, kind([]), kind([y, y])):
        with pytest.raises(InputError, match="out: expected a tuple of 1"):
            exe(X, out=wrong)


def test_out_is_left_alone_where_it_does_not_fit() -> None:
    exe = host.load(programs.mlp(), HOST)
    y = np.zeros((4, 3), np.float32)
    y.flags.writeable = False
    with pytest.raises(InputError, match="must be writable"):
        exe(X, out=y)
    assert not y.any()


def test_out_may_share_memory_with_an_argument() -> None:
    exe = host.load(copy_of(ElementType.F32), HOST, Options(cache=False))
    memory = np.arange(9, dtype=np.float32)
    exe(memory[:6].reshape(2, 3), out=memory[3:].reshape(2, 3))
    np.testing.assert_array_equal(memory, [0, 1, 2, 0, 1, 2, 3, 4, 5])


def test_results_are_nested_as_asked() -> None:
    exe = host.load(programs.mlp(), HOST, Options(structure=((0,), 0)))
    (first,), second = exe(X)
    assert first is second


CALLS: list[tuple[Callable[[HostExecutable], Any], str]] = [
    (lambda exe: exe(), r"expected 1 argument \(x\), got 0"),
    (lambda exe: exe(X, X), "got 2"),
    (lambda exe: exe(X.T), r"x: expected f32\[4,8\], got f32\[8,4\]"),
    (lambda exe: exe(X.astype(np.float64)), r"got f64\[4,8\]"),
    (lambda exe: exe(X.astype(object)), r"got object\[4,8\]"),
    (lambda exe: exe("text"), "x: expected"),
    (lambda exe: exe(X, out=(X,)), "out y is written in place: expected a NumPy array"),
    (lambda exe: exe(X, out=np.empty((4, 6), np.float32)[:, ::2]), "must be writable and dense"),
    (lambda exe: exe(X, out=np.empty((4, 3), np.int32)), r"out y: expected f32\[4,3\]"),
]


@pytest.mark.parametrize(("call", "message"), CALLS)
def test_wrong_calls_are_errors(call: Callable[[HostExecutable], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call(host.load(programs.mlp(), HOST))


@pytest.mark.parametrize("n", [1.5, [1.5], np.array(1.5), np.float32(1.5)])
def test_donated_arguments_must_be_arrays(n: Any) -> None:
    exe = host.load(programs.counting(), HOST)
    with pytest.raises(InputError, match="n"):
        exe(n, 1)


def test_threads_have_arenas_of_their_own() -> None:
    exe = host.load(programs.mlp(), HOST)
    inputs = [X * factor for factor in (0.25, 0.5, 1, 2)]
    wrong: list[float] = []

    def run(x: np.ndarray[Any, Any]) -> None:
        expected = mlp_result(x)
        for _ in range(300):
            if not np.allclose(exe(x), expected, rtol=1e-4):
                wrong.append(float(x[0, 0]))

    threads = [threading.Thread(target=run, args=(x,)) for x in inputs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_restore_needs_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "LARGE_CONSTANT", 8)
    options = Options(key="restore", structure=(0,))
    assert cached.restore(HOST, options) is None
    expected = host.load(programs.mlp(), HOST, options)(X)
    monkeypatch.setattr(Library, "link", lambda *_: pytest.fail("compiled again"))
    restored = cached.restore(HOST, Options(key="restore"))
    assert restored is not None
    np.testing.assert_array_equal(restored(X)[0], expected[0])
    assert cached.restore(HOST, Options(key="restore", strict=True)) is None
    assert cached.restore(HOST, Options(key="other")) is None


def test_damaged_entries_are_made_again(cache_directory: Path) -> None:
    options = Options(key="damage")
    expected = host.load(programs.mlp(), HOST, options)(X)
    for path in cache_directory.rglob("*"):
        if path.is_file():
            path.unlink()
            path.write_bytes(b"garbage")
    assert cached.restore(HOST, options) is None
    np.testing.assert_array_equal(host.load(programs.mlp(), HOST, options)(X), expected)
    assert cached.restore(HOST, options) is not None


def test_a_missing_compiler_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler -O9")
    with pytest.raises(InputError, match="no-such-compiler"):
        host.load(programs.mlp(), HOST)
    monkeypatch.delenv("CC")
    missing = replace(HOST, compiler=replace(HOST.compiler, commands=("no-such-cc",)))
    with pytest.raises(InputError, match="apt install gcc"):
        host.load(programs.mlp(), missing)


def test_a_failing_compiler_is_shown() -> None:
    broken = replace(HOST, compiler=replace(HOST.compiler, flags=("-fno-such-flag", "-fPIC")))
    with pytest.raises(InputError, match="no-such-flag"):
        host.load(programs.mlp(), broken)


def test_c_that_does_not_compile_is_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "runtime_files", lambda units: {})
    with pytest.raises(InternalError, match="the C compiler failed"):
        host.load(programs.mlp(), HOST, Options(cache=False))


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_cc_chooses_the_compiler(compiler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", compiler)
    exe = host.load(programs.mlp(), HOST, Options(cache=False))
    np.testing.assert_allclose(exe(X), mlp_result(X), rtol=1e-5)


def test_equal_units_are_compiled_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CCODEGEN_CACHE_DIR", str(tmp_path))
    started: list[list[str]] = []
    real = toolchain.CompilerRun.finish

    def finish(run: toolchain.CompilerRun) -> None:
        started.append(list(run._command))
        real(run)

    monkeypatch.setattr(toolchain.CompilerRun, "finish", finish)
    host.load(programs.mlp(), HOST)
    assert sum("-c" in command for command in started) == 2
    host.load(programs.conjugate(), HOST)
    assert sum("-c" in command for command in started) == 3  # what Python calls is there
    host.load(programs.mlp(), HOST)
    assert sum("-c" in command for command in started) == 3
    assert sum("-shared" in command for command in started) == 3


def test_compilers_are_stopped_where_no_program_comes_of_it() -> None:
    with library.Library(HOST, False, None) as under_way:
        for number in range(8):
            under_way.add(replace(python_unit(1), name=f"python{number}.c"))
    assert all(result.done() for result in under_way._results.values())
    begun = [run._process for run in under_way._runs.values() if run.has_begun]
    assert begun
    assert all(process is not None and process.returncode is not None for process in begun)
