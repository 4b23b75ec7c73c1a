"""A program that was compiled before starts without the pipeline."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ccodegen
from ccodegen import compiling
from ccodegen.backend.library import Library

TEXT = """HloModule m
ENTRY e {
  x = f32[4,8] parameter(0)
  w = f32[8,3] parameter(1)
  d = f32[4,3] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT y = f32[4,3] tanh(d)
}
"""
X = np.random.default_rng(0).standard_normal((4, 8)).astype(np.float32)
W = np.random.default_rng(1).standard_normal((8, 3)).astype(np.float32)


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CCODEGEN_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Notes each run of the pipeline and of the C compiler."""
    noted: list[str] = []

    def watch(place: Any, name: str) -> None:
        real = getattr(place, name)

        def noting(*args: Any, **kwargs: Any) -> Any:
            noted.append(name)
            return real(*args, **kwargs)

        monkeypatch.setattr(place, name, noting)

    watch(compiling, "build")
    watch(Library, "link")
    return noted


def test_the_second_start_runs_neither_pipeline_nor_compiler(calls: list[str]) -> None:
    first = ccodegen.compile(TEXT, constants={"w": W})
    assert calls == ["build", "link"]
    second = ccodegen.compile(TEXT, constants={"w": W.copy()})
    assert calls == ["build", "link"]
    np.testing.assert_array_equal(first(X), second(X))
    assert first.memory == second.memory


def test_a_lowered_jax_function_starts_from_the_cache(calls: list[str]) -> None:
    jax = pytest.importorskip("jax")
    lowered = jax.jit(lambda x, w: jax.numpy.tanh(x @ w)).lower(X, W)
    first = ccodegen.compile(lowered, constants={1: W})
    second = ccodegen.compile(lowered, constants={1: W})
    assert calls == ["build", "link"]
    np.testing.assert_array_equal(first(X), second(X))


def test_stages_of_a_restored_program_are_made_when_asked_for(calls: list[str]) -> None:
    text = ccodegen.compile(TEXT).as_text("c")
    restored = ccodegen.compile(TEXT)
    assert calls.count("build") == 1
    assert restored.as_text("c") == text
    assert calls.count("build") == 2


@pytest.mark.parametrize(
    "options", [{"constants": {"w": W + 1}}, {"constants": {0: X}}, {"strict": True}, {}]
)
def test_other_constants_and_options_are_another_program(
    options: dict[str, Any], calls: list[str]
) -> None:
    ccodegen.compile(TEXT, constants={"w": W})
    arguments = [] if 0 in options.get("constants", {}) else [X]
    arguments += [] if "w" in options.get("constants", {}) else [W]
    got = ccodegen.compile(TEXT, **options)(*arguments)
    assert calls.count("build") == 2
    wanted = ccodegen.evaluate(TEXT, *_bound(options))
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)


def _bound(options: dict[str, Any]) -> tuple[Any, Any]:
    constants = options.get("constants", {})
    return constants.get(0, X), constants.get("w", W)


def test_another_compiler_makes_its_own(
    calls: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ccodegen.compile(TEXT)
    wrapper = tmp_path / "cc"
    wrapper.write_text('#!/bin/sh\nexec gcc "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("CC", str(wrapper))
    ccodegen.compile(TEXT)
    assert calls == ["build", "link"] * 2


def test_a_compiler_that_was_replaced_makes_its_own(
    calls: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wrapper = tmp_path / "cc"
    monkeypatch.setenv("CC", str(wrapper))
    for line in ("exec gcc", "exec  gcc"):
        wrapper.write_text(f'#!/bin/sh\n{line} "$@"\n')
        wrapper.chmod(0o755)
        ccodegen.compile(TEXT)
    assert calls.count("build") == 2


def test_weights_of_a_mapped_file_that_changes(calls: list[str], tmp_path: Path) -> None:
    path = tmp_path / "w.npy"
    np.save(path, W)
    first = ccodegen.compile(TEXT, constants={"w": np.load(path, mmap_mode="r")})
    writer = np.load(path, mmap_mode="r+")
    writer[...] = W + 1
    second = ccodegen.compile(TEXT, constants={"w": np.load(path, mmap_mode="r")})
    assert calls.count("build") == 2
    np.testing.assert_allclose(first(X), np.tanh(X @ W), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(second(X), np.tanh(X @ (W + 1)), rtol=1e-5, atol=1e-6)


def test_constants_may_be_written_afterwards() -> None:
    large = np.random.default_rng(2).standard_normal((8, 300)).astype(np.float32)
    text = TEXT.replace("[8,3]", "[8,300]").replace("[4,3]", "[4,300]")
    kept = large.copy()
    program = ccodegen.compile(text, constants={"w": large})
    large[...] = 0
    np.testing.assert_allclose(program(X), np.tanh(X @ kept), rtol=1e-5, atol=1e-6)


def test_starting_from_the_cache_imports_no_passes(tmp_path: Path) -> None:
    ccodegen.compile(TEXT)
    script = f"""
import sys, ccodegen
ccodegen.compile({TEXT!r})
brought = [m for m in sys.modules if m.partition(".")[0] in ("jax", "jinja2", "pycparser", "cffi")]
assert not brought, brought
assert "ccodegen.passes.pipelines" not in sys.modules
assert "ccodegen.ops" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_jax_program_from_the_cache_imports_no_passes() -> None:
    pytest.importorskip("jax")
    script = """
import sys, jax, numpy as np, ccodegen
x = np.ones(3, np.float32)
np.testing.assert_allclose(ccodegen.compile(jax.jit(lambda x, y: x + y).lower(x, x))(x, x), x + x)
print("ccodegen.ops" in sys.modules)
"""
    for brought in ("True\n", "False\n"):
        command = [sys.executable, "-c", script]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        assert done.stdout == brought
