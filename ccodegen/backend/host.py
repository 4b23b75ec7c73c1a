"""Compiles programs for this process."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import numpy as np

from ccodegen.backend.cache import Cache, default_directory
from ccodegen.backend.cached import remember
from ccodegen.backend.compilers import machine
from ccodegen.backend.executable import HostExecutable, executable
from ccodegen.backend.image import Image
from ccodegen.backend.interfaces import Options
from ccodegen.backend.library import Library
from ccodegen.backend.signature import signature_of
from ccodegen.backend.transfer import sign_extended
from ccodegen.emit.table import TablePrinter
from ccodegen.loop.ir import Kernel, Program
from ccodegen.loop.steps import called_kernels
from ccodegen.target import Target


class HostCompiler:
    """The Compiler of this process."""

    def compile(self, program: Program, target: Target, options: Options) -> HostExecutable:
        return load(program, target, options)


def load(program: Program, target: Target, options: Options | None = None) -> HostExecutable:
    """Compiles the program, or takes its objects from the cache, and loads it."""
    options = options or Options()
    with Loader(target, options) as loader:
        for kernel in called_kernels(program.steps):
            loader.add(kernel)
        return loader.load(program, options)


class Loader(contextlib.ExitStack):
    """Compiles a program while its kernels are made, and loads it.

    `add` is to be called for each kernel, before `load` of the program that calls them.
    """

    def __init__(self, target: Target, options: Options) -> None:
        super().__init__()
        cache = Cache(default_directory()) if options.cache else None
        self._target = target
        self._library = self.enter_context(Library(target, options.strict, cache))
        self._printer = TablePrinter(target, options.strict, self._library.add)

    def add(self, kernel: Kernel) -> None:
        self._printer.add(kernel)

    def load(self, program: Program, options: Options) -> HostExecutable:
        """`options`: those given before, but for what is to be known of the program only now."""
        sources = self._printer.finish(program)
        library = self._library.link(sources.units)
        image = Image(
            library,
            library.stat().st_size,
            signature_of(program, sources.external, options.structure),
            [sign_extended(constant.array) for constant in sources.external],
            machine(self._target),
            self._library.folder,
        )
        keep = options.cache and options.key
        cached = remember(image, self._target, options) if keep else None
        return executable(cached or _with_own_constants(image), options.io)


def _with_own_constants(image: Image) -> Image:
    """The caller may write to the arrays that constants came from."""
    return replace(image, constants=[np.array(constant) for constant in image.constants])
