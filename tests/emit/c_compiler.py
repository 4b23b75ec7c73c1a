"""Compiles printed programs strictly."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from ccodegen.emit import runtime
from ccodegen.emit.source import Sources

WARNINGS: tuple[str, ...] = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion")
WARNINGS += ("-Wshadow", "-Wmissing-prototypes", "-Werror")


def write(files: Mapping[str, str], folder: Path) -> list[Path]:
    """Writes the files and the runtime's that they need flat into the folder; returns the .c."""
    texts = {Path(name).name: text for name, text in files.items()}
    included = (name for text in texts.values() for name in runtime.includes(text))
    texts |= runtime.closure(name for name in included if name not in texts)
    for name, text in texts.items():
        (folder / name).write_text(text)
    return [folder / Path(name).name for name in files if name.endswith(".c")]


def assert_clean(
    sources: Sources, folder: Path, compiler: str, flags: Sequence[str] = ("-O3",)
) -> None:
    """Asserts that the compiler takes the sources without a warning."""
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    for file in write(sources.files, folder):
        command = [compiler, *WARNINGS, *flags, "-c", str(file), "-o", str(folder / "out.o")]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[:3000]
