"""Compiles programs for this process."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from ccodegen.backend import toolchain
from ccodegen.backend.cache import Cache, default_directory, digest
from ccodegen.backend.cached import remember
from ccodegen.backend.compilers import find_compiler, machine
from ccodegen.backend.executable import HostExecutable, executable
from ccodegen.backend.image import Image
from ccodegen.backend.interfaces import Options
from ccodegen.backend.signature import signature_of
from ccodegen.backend.transfer import sign_extended
from ccodegen.emit.table import TableSources, emit_table
from ccodegen.loop.ir import Program
from ccodegen.target import Target


class HostCompiler:
    """The Compiler of this process."""

    def compile(self, program: Program, target: Target, options: Options) -> HostExecutable:
        return load(program, target, options)


def load(program: Program, target: Target, options: Options | None = None) -> HostExecutable:
    """Compiles the program, or takes its library from the cache, and loads it."""
    options = options or Options()
    sources = emit_table(program, target, options.strict)
    library, owner = _library(sources, target, options)
    image = Image(
        library,
        library.stat().st_size,
        signature_of(program, sources.external, options.structure),
        [sign_extended(constant.array) for constant in sources.external],
        machine(target),
        owner,
    )
    cached = remember(image, target, options) if options.cache and options.key else None
    return executable(cached or _with_own_constants(image), options.io)


def _with_own_constants(image: Image) -> Image:
    """The caller may write to the arrays that constants came from."""
    return replace(image, constants=[np.array(constant) for constant in image.constants])


def _library(sources: TableSources, target: Target, options: Options) -> tuple[Path, object]:
    """The library's file, and what that lives as long as."""

    def build() -> bytes:
        return toolchain.build_library(sources.units, target, options.strict)

    if options.cache:
        return Cache(default_directory()).make(_key(sources, target, options), build), None
    folder = tempfile.TemporaryDirectory(prefix="ccodegen-")
    path = Path(folder.name) / "library.so"
    path.write_bytes(build())
    return path, folder


def _key(sources: TableSources, target: Target, options: Options) -> str:
    """The C, the runtime's files it includes, and what compiles it."""
    built_by = toolchain.build_key(find_compiler(target), target, options.strict)
    texts = (part for unit in sources.units for part in (unit.text, str(unit.hot)))
    runtime = toolchain.runtime_files(sources.units)
    return digest("library", built_by, *texts, *runtime, *runtime.values())
