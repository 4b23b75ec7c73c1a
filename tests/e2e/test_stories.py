"""A language model generates the tokens that XLA gave: here, and as a package for arm64."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ccodegen
from ccodegen.backend.runner import run_program
from ccodegen.backend.toolchain import build_program
from ccodegen.target import load
from tests.shared import shared_dir

CACHE = (5, 512, 4, 8)
MAIN = r"""
#include <stdint.h>
#include <stdio.h>
#include "stories.h"

static float logits[512], keys[5 * 512 * 4 * 8], values[5 * 512 * 4 * 8];
static unsigned char memory[STORIES_ARENA_SIZE + STORIES_ARENA_ALIGN];

int main(void)
{
    void *const arena = memory + (0u - (uintptr_t)memory) % STORIES_ARENA_ALIGN;
    int32_t token = 1;
    for (int32_t position = 0; position < 64; ++position) {
        if (stories_run(&token, &position, keys, values, logits, arena) != 0) {
            return 1;
        }
        token = 0;
        for (int32_t i = 1; i < 512; ++i) {
            token = logits[i] > logits[token] ? i : token;
        }
        printf("%d\n", (int)token);
    }
    return 0;
}
"""


def model() -> Path:
    return shared_dir() / "models" / "stories260k_stablehlo"


def expected() -> Any:
    return np.load(model() / "tokens.npy")


@pytest.mark.parametrize("form", ["mlir", "mlirbc", "jaxexport"])
def test_tokens_in_this_process(form: str) -> None:
    pytest.importorskip("jax")
    step = ccodegen.compile(model() / f"model.{form}", donate=(2, 3))
    keys, values = (np.zeros(CACHE, np.float32) for _ in range(2))
    token, tokens = np.int32(1), []
    for position in range(64):
        logits = step(token, np.int32(position), keys, values)[0]
        token = np.int32(np.argmax(logits))
        tokens.append(int(token))
    np.testing.assert_array_equal(tokens, expected())


def test_first_steps_agree_with_the_reference() -> None:
    """Logits and caches. Nothing is donated: the results are new arrays."""
    pytest.importorskip("jaxlib")
    step = ccodegen.compile(model() / "model.mlirbc")
    with np.load(model() / "ref.npz") as reference:
        for number in range(4):
            got = step(*(reference[f"s{number}_in{n}"] for n in range(4)))
            for n, result in enumerate(got):
                expected = reference[f"s{number}_out{n}"]
                assert np.abs(result - expected).max() <= 1e-5 * np.abs(expected).max()


def test_tokens_of_the_arm64_package(tmp_path: Path) -> None:
    pytest.importorskip("jaxlib")
    for tool in ("aarch64-linux-gnu-gcc", "qemu-aarch64"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    target, package = load("arm64"), tmp_path / "stories"
    source = model() / "model.mlir"
    ccodegen.export(source, target, "stories", package, donate=(2, 3), test=False)
    (package / "main.c").write_text(MAIN)
    sources = [*sorted((package / "src").glob("*.c")), package / "main.c"]
    include = [package / "include", package / "runtime"]
    build_program(sources, tmp_path / "program", target, include=include)
    done = run_program(tmp_path / "program", target)
    assert done.code == 0, done.output
    np.testing.assert_array_equal([int(line) for line in done.output.split()], expected())
