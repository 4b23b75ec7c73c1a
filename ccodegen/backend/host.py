"""Compiles programs for this process."""

from __future__ import annotations

import contextlib
import functools
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ccodegen.backend.cached import remember
from ccodegen.backend.compilers import machine
from ccodegen.backend.executable import HostExecutable, executable
from ccodegen.backend.image import Image
from ccodegen.backend.interfaces import Options
from ccodegen.backend.library import Library
from ccodegen.backend.signature import Signature, signature_of
from ccodegen.backend.transfer import sign_extended
from ccodegen.emit.unit import python_unit
from ccodegen.loop.ir import Kernel, Program
from ccodegen.loop.steps import called_kernels
from ccodegen.support.cache import Cache, default_directory
from ccodegen.target import Target

if TYPE_CHECKING:
    from ccodegen.emit.table import TablePrinter, TableSources


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
        self._strict = options.strict
        self._library = self.enter_context(Library(target, options.strict, cache))
        self._library.add(python_unit(target.machine.threads))

    @functools.cached_property
    def _printer(self) -> TablePrinter:
        from ccodegen.emit.table import TablePrinter  # while compilers are at work

        return TablePrinter(self._target, self._strict, self._library.add)

    def add(self, kernel: Kernel) -> None:
        self._printer.add(kernel)

    def load(self, program: Program, options: Options) -> HostExecutable:
        """`options`: those given before, but for what is to be known of the program only now."""
        sources = self._printer.finish(program)
        signature = signature_of(program, sources.external, options.structure)
        library, cached = self._linked(sources, signature, options)
        return executable(cached or self._image(library, sources, signature), options.io)

    def _linked(
        self, sources: TableSources, signature: Signature, options: Options
    ) -> tuple[Path, Image | None]:
        """The library, and the program in the cache, where it is to be there: constants go into
        its file while compilers run."""
        if not (options.cache and options.key):
            return self._library.link(sources.units), None
        linked: Future[tuple[Path, int]] = Future()
        constants = [constant.pieces for constant in sources.external]
        with ThreadPoolExecutor(1) as beside:
            kept = beside.submit(
                remember, signature, linked.result, constants, self._target, options
            )
            try:
                library = self._library.link(sources.units)
                linked.set_result((library, library.stat().st_size))
            except BaseException as error:
                linked.set_exception(error)
                raise
            return library, kept.result()

    def _image(self, library: Path, sources: TableSources, signature: Signature) -> Image:
        """With arrays of its own: the caller may write to those that constants came from."""
        return Image(
            library,
            library.stat().st_size,
            signature,
            [sign_extended(np.array(constant.array)) for constant in sources.external],
            machine(self._target),
            self._library.folder,
        )
