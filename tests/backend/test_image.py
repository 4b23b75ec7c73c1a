"""Compiled programs as files: whole ones load, nothing else does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ccodegen
from ccodegen.backend import image
from ccodegen.support.errors import InputError
from ccodegen.target import native

TEXT = """ENTRY e { x = f32[8] parameter(0)  w = f32[8,2000] parameter(1)
  d = f32[2000] dot(x, w), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT t = (f32[2000], f32[8]) tuple(d, x) }"""
X = np.arange(8, dtype=np.float32)
W = np.random.default_rng(0).standard_normal((8, 2000)).astype(np.float32)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    ccodegen.compile(TEXT, constants={"w": W}).save(tmp_path / "program")
    return tmp_path / "program"


def check(program: ccodegen.Executable) -> None:
    product, same = program(X)
    np.testing.assert_allclose(product, X @ W, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(same, X)


def test_a_saved_program_loads_without_its_source(saved: Path) -> None:
    program = ccodegen.load(saved)
    check(program)
    assert program.memory == ccodegen.compile(TEXT, constants={"w": W}).memory
    with pytest.raises(InputError, match="has no stages"):
        program.as_text("c")


def test_weights_are_written_piece_by_piece(tmp_path: Path) -> None:
    text = """ENTRY e { x = f32[300] parameter(0)  w = f32[300,1700] parameter(1)
      ROOT d = f32[1700] dot(x, w), lhs_contracting_dims={0}, rhs_contracting_dims={0} }"""
    random = np.random.default_rng(0)
    x, w = random.integers(-9, 9, 300), random.integers(-9, 9, (300, 1700))
    constants = {"w": w.astype(np.float32)}
    first, again = (ccodegen.compile(text, constants=constants) for _ in range(2))
    first.save(tmp_path / "program")
    for program in first, again, ccodegen.load(tmp_path / "program"):
        np.testing.assert_array_equal(program(x.astype(np.float32)), x @ w)


def test_what_was_loaded_can_be_saved(saved: Path, tmp_path: Path) -> None:
    ccodegen.load(saved).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == saved.read_bytes()
    ccodegen.load(str(saved)).save(saved)  # over the file that it is mapped from
    check(ccodegen.load(saved))


@pytest.mark.usefixtures("own_targets")
def test_programs_that_are_not_cached_can_be_saved(tmp_path: Path) -> None:
    ccodegen.register_custom_call("twice", lower=lambda b, x: b.add(x, x))
    text = """ENTRY e { x = f32[8] parameter(0)  w = f32[8] parameter(1)  s = f32[8] add(x, w)
      ROOT r = f32[8] custom-call(s), custom_call_target="twice" }"""
    program = ccodegen.compile(text, constants={"w": X})
    program.save(tmp_path / "program")
    np.testing.assert_array_equal(ccodegen.load(tmp_path / "program")(X), 4 * X)


def test_a_saved_program_that_asks_its_caller(tmp_path: Path) -> None:
    text = """ENTRY e { x = f32[8] parameter(0)  t = token[] after-all()
      o = token[] outfeed(x, t), outfeed_shape=f32[8], outfeed_config="log"
      ROOT r = f32[8] negate(x) }"""
    ccodegen.compile(text, io=ccodegen.IO(outfeed=print)).save(tmp_path / "program")
    seen: list[np.ndarray[Any, Any]] = []
    io = ccodegen.IO(outfeed=lambda config, x: seen.append(x))
    np.testing.assert_array_equal(ccodegen.load(tmp_path / "program", io)(X), -X)
    np.testing.assert_array_equal(seen, [X])
    with pytest.raises(InputError, match="outfeed 'log'"):
        ccodegen.load(tmp_path / "program")


def test_a_process_that_loads_needs_little(saved: Path) -> None:
    script = f"""
import sys, ccodegen, numpy
program = ccodegen.load({str(saved)!r})
program(numpy.zeros(8, numpy.float32))
brought = {{m.partition(".")[0] for m in sys.modules}}
assert not brought & {{"jax", "jinja2", "pycparser", "cffi", "subprocess", "rich"}}, brought
"""
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("kept", [0, 1, 100, 5000, -1])
def test_a_file_that_is_not_all_there(saved: Path, kept: int) -> None:
    saved.write_bytes(saved.read_bytes()[:kept])
    with pytest.raises(InputError, match="no whole program"):
        ccodegen.load(saved)


@pytest.mark.parametrize("place", [0, 200, -17, -40, -60, -200])
def test_a_flipped_bit_is_damage(saved: Path, place: int) -> None:
    data = bytearray(saved.read_bytes())
    data[place] ^= 1
    saved.write_bytes(data)
    with pytest.raises(InputError, match="no whole program"):
        ccodegen.load(saved)


def test_other_files_are_errors(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not there"):
        ccodegen.load(tmp_path / "nothing")
    with pytest.raises(InputError, match="no whole program"):
        ccodegen.load(tmp_path)
    with pytest.raises(InputError, match="cannot write"):
        ccodegen.load(saved).save(tmp_path / "no" / "folder")


def test_another_version_is_an_error(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image, "VERSION", "0.0.0")
    with pytest.raises(InputError, match="this version"):
        ccodegen.load(saved)


def test_another_machine_is_an_error(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "identity", lambda: "another")
    with pytest.raises(InputError, match="another machine"):
        ccodegen.load(saved)


def test_constants_are_not_read_before_they_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = np.ones((1000, 20000), np.float32)
    text = """ENTRY e { i = s32[] parameter(0)  w = f32[1000,20000] parameter(1)
      z = s32[] constant(0)
      ROOT r = f32[1,5] dynamic-slice(w, i, z), dynamic_slice_sizes={1,5} }"""
    ccodegen.compile(text, constants={"w": large}).save(tmp_path / "program")
    script = f"""
import re, ccodegen, numpy
program = ccodegen.load({str(tmp_path / "program")!r})
assert program(numpy.int32(7)).tolist() == [[1.0] * 5]
status = open("/proc/self/status").read()
assert int(re.search(r"VmHWM:\\s*(\\d+)", status)[1]) < 70_000, status
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_damage_in_the_cache_is_made_again(cache_directory: Path) -> None:
    def all_files() -> dict[Path, Any]:
        return {path: path.stat() for path in cache_directory.rglob("*") if path.is_file()}

    text = TEXT.replace("tuple(d, x)", "tuple(d, x), metadata={op_name=\"damage\"}")
    check(ccodegen.compile(text, constants={"w": W}))
    for path in all_files():
        path.write_bytes(path.read_bytes()[:-1])
    check(ccodegen.compile(text, constants={"w": W}))
    check(ccodegen.compile(text, constants={"w": W}))


def test_after_a_crash_constants_are_added_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CCODEGEN_CACHE_DIR", str(tmp_path))
    large = np.random.default_rng(0).standard_normal((8, 2001)).astype(np.float32)
    text = TEXT.replace("2000", "2001")

    def compiled() -> list[int]:
        """Compiles or restores the program; the sizes of the arrays that were added up."""
        seen: list[int] = []
        monkeypatch.setattr(image, "_sum", lambda a: [seen.append(a.nbytes), real(a)][1])
        program = ccodegen.compile(text, constants={"w": large})
        np.testing.assert_allclose(program(X)[0], X @ large, rtol=1e-5, atol=1e-5)
        return seen

    real = image._sum
    assert sum(compiled()) >= large.nbytes  # it is written
    assert compiled() == []
    monkeypatch.setattr(image, "this_run", lambda: b"another run here")
    assert sum(compiled()) >= large.nbytes
    assert compiled() == []  # known to be whole in this run
    (program,) = (f for f in tmp_path.rglob("*") if f.is_file() and f.stat().st_size > 64_000)
    data = bytearray(program.read_bytes())
    start = data.index(large[3, :16].tobytes())
    data[start : start + 64] = bytes(64)  # never reached the disk
    program.write_bytes(data)
    monkeypatch.setattr(image, "this_run", lambda: b"the third of all")
    compiled()
    assert program.read_bytes()[start : start + 64] != bytes(64)


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 4099])
def test_sums_tell_lost_bytes(size: int) -> None:
    data = np.random.default_rng(0).integers(1, 255, size, np.uint8)
    assert image._sum(data) == image._sum(data.copy())
    for place in {0, size // 2, size - 1} & set(range(size)):
        lost = data.copy()
        lost[place] = 0
        assert image._sum(lost) != image._sum(data)


@pytest.mark.parametrize("room", [image.LARGE_PAGE, 4096])
def test_large_constants_are_written_before_the_library(
    room: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(image, "_LARGE", 1)
    monkeypatch.setattr(image, "LARGE_PAGE", room)  # the lesser one is too little for the library
    text = TEXT.replace("ENTRY e", f"ENTRY e{room}")  # another one each time
    program = ccodegen.compile(text, constants={"w": W})
    check(program)
    program.save(tmp_path / "program")
    check(ccodegen.load(tmp_path / "program"))
    check(ccodegen.compile(text, constants={"w": W}))


def test_a_program_that_does_not_compile_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Path:
        raise InputError("no compiler")

    monkeypatch.setenv("CCODEGEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(image, "_LARGE", 1)
    monkeypatch.setattr("ccodegen.backend.library.Library.link", fail)
    with pytest.raises(InputError, match="no compiler"):
        ccodegen.compile(TEXT, constants={"w": W})
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
