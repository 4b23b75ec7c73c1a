"""Compiles and runs programs in this process.

`load(program, target, options)` gives a callable; `restore(target, options)` gives the one that an
earlier process made for the same `options.key`, without the program.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from ccodegen.backend import cache, toolchain
from ccodegen.backend.cache import Cache, digest, package_stamp
from ccodegen.backend.dynamic_form import dynamic_form
from ccodegen.backend.interfaces import Memory, Options
from ccodegen.backend.signature import Signature, Slot, from_json, nest, signature_of
from ccodegen.backend.stream import AskingStreamExecutor, HostStreamExecutor
from ccodegen.backend.transfer import HostTransferManager, sign_extended
from ccodegen.emit.table import TableSources, emit_table
from ccodegen.hlo.layout import from_memory, to_memory
from ccodegen.loop.ir import Program
from ccodegen.support.errors import InputError
from ccodegen.support.hooks import IO, missing
from ccodegen.support.naming import counted
from ccodegen.target import Target

Array = np.ndarray[Any, Any]


class HostExecutable:
    """A compiled program: NumPy arrays in, NumPy arrays out. May be called from several threads."""

    def __init__(
        self, signature: Signature, stream: HostStreamExecutor, transfer: HostTransferManager
    ) -> None:
        self.signature = signature
        self._stream = stream
        self._transfer = transfer
        self._results = _results(signature)
        # Runs share the state that a program keeps; it is read and written in one of them.
        has_state = any(slot.initial for slot in signature.arguments)
        self._one_at_a_time: AbstractContextManager[Any] = (
            threading.Lock() if has_state else nullcontext()
        )
        self._laid_out = any(slot.layout for slot in signature.arguments)

    @property
    def memory(self) -> Memory:
        slots = self.signature.arguments
        arguments = sum(slot.bytes for slot in slots if slot.parameter is not None)
        outputs = sum(slot.bytes for slot in slots if slot.parameter is None)
        return Memory(self.signature.arena_size, self.signature.constants, arguments, outputs)

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """The results of one run, as a (nested) tuple where the program returns one.

        Donated arguments are overwritten and returned. `out`: arrays, nested like the results, to
        write them into. Raises InputError for an argument of the wrong shape or type.
        """
        pool = None if self._laid_out else self._transfer.fitting(arrays, out)
        if pool is not None:
            self._stream.launch(pool)
            return self._results(pool)
        pool = self._transfer.converted(arrays, out)
        with self._one_at_a_time:
            if self._laid_out:
                self._launch_laid_out(pool)
            else:
                self._stream.launch(pool)
        self._transfer.finish(pool)
        return self._results(pool)

    def _launch_laid_out(self, pool: Sequence[Array]) -> None:
        """A run over copies of those arrays that do not lie in memory as NumPy has them."""
        slots = self.signature.arguments
        memory = [
            array if slot.layout is None else to_memory(array, slot.layout)
            for array, slot in zip(pool, slots, strict=True)
        ]
        self._stream.launch(memory)
        for array, written, slot in zip(pool, memory, slots, strict=True):
            if slot.layout is not None and slot.output is not None:
                array[...] = from_memory(written, slot.layout)


class DynamicExecutable(HostExecutable):
    """One that takes and gives arrays of actual sizes, which it copies to and from its bounds."""

    def __init__(
        self, signature: Signature, stream: HostStreamExecutor, transfer: HostTransferManager
    ) -> None:
        super().__init__(signature, stream, transfer)
        self._form = dynamic_form(signature.arguments)
        own = signature.as_logical()
        self._taken = own.inputs[: len(own.inputs) - len(self._form.inputs)]
        self._structure = signature.structure
        self._results = _results(_flat(signature))

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """As HostExecutable's, but a donated array of dynamic shape is not overwritten. Raises
        InputError for `out`, as the sizes of results are known only after the run."""
        if out is not None:
            raise InputError("out: not possible where a result has a dynamic dimension")
        names = [slot.name for slot in self._taken]
        if len(arrays) != len(names):
            listed = f" ({', '.join(names)})" if names else ""
            expected = f"expected {counted(len(names), 'argument')}{listed}"
            raise InputError(f"{expected}, got {len(arrays)}")
        bounds = [slot.shape for slot in self._taken]
        results = self._form.taken(super().__call__(*self._form.given(arrays, names, bounds)))
        return nest(self._structure, lambda leaf: results[leaf])


def _flat(signature: Signature) -> Signature:
    """The signature whose results are all outputs, sizes too, in one tuple."""
    return replace(signature, structure=tuple(range(len(signature.outputs))))


def _results(signature: Signature) -> Callable[[Sequence[Array]], Any]:
    """Takes the results, nested, out of the arrays for all pointers."""
    structure, arguments = signature.structure, signature.arguments
    places = {s.output: n for n, s in enumerate(arguments) if s.output is not None}
    if isinstance(structure, int):
        return itemgetter(places[structure])
    return lambda arrays: nest(structure, lambda leaf: arrays[places[leaf]])


class HostCompiler:
    """The Compiler of this process."""

    def compile(self, program: Program, target: Target, options: Options) -> HostExecutable:
        return load(program, target, options)


def load(program: Program, target: Target, options: Options | None = None) -> HostExecutable:
    """Compiles the program, or takes it from the cache, and loads it."""
    options = options or Options()
    sources = emit_table(program, target, options.strict)
    signature = signature_of(program, sources.external, options.structure)
    constants = [sign_extended(constant.array) for constant in sources.external]
    if not options.cache:
        with tempfile.TemporaryDirectory(prefix="ccodegen-") as folder:
            path = Path(folder) / "library.so"
            path.write_bytes(toolchain.build_library(sources.units, target, options.strict))
            return _executable(path, signature, constants, options.io)
    store = Cache(cache.default_directory())
    library = _library_key(sources, target, options)
    path = store.make(
        library, lambda: toolchain.build_library(sources.units, target, options.strict)
    )
    if options.key:
        _remember(store, front_key(target, options), library, signature, constants)
    return _executable(path, signature, constants, options.io)


def restore(target: Target, options: Options) -> HostExecutable | None:
    """The executable that `load` made for the same key, target and options; None if there is none
    that is whole."""
    store = Cache(cache.default_directory())
    front = front_key(target, options)
    facts = store.read(front) if options.key and options.cache else None
    if facts is None:
        return None
    library, _, text = str(facts, "utf-8").partition("\n")
    path = store.find(library)
    signature = from_json(text)
    data = store.find(_constants_key(front)) if signature.external else None
    if path is None or (signature.external and data is None):
        return None
    constants = _mapped(data, signature.external, signature.alignment) if data else []
    return _executable(path, signature, constants, options.io)


def front_key(target: Target, options: Options) -> str:
    """The key in front of the pipeline: what the program is made from, and how."""
    compiler = " ".join(toolchain.find_compiler(target).words)
    made_by = [package_stamp(), toolchain.machine(target), compiler, repr(target)]
    return digest("front", *made_by, str(options.strict), options.key)


def _library_key(sources: TableSources, target: Target, options: Options) -> str:
    """The key behind it: the C, the runtime's files it includes, and what compiles it."""
    compiler = toolchain.find_compiler(target)
    built_by = toolchain.build_key(compiler, target, options.strict)
    texts = (part for unit in sources.units for part in (unit.text, str(unit.hot)))
    runtime = toolchain.runtime_files(sources.units)
    return digest("library", built_by, *texts, *runtime, *runtime.values())


def _constants_key(front: str) -> str:
    return digest("constants", front)


def _remember(
    store: Cache, front: str, library: str, signature: Signature, constants: Sequence[Array]
) -> None:
    """The entry that `restore` reads goes last: it is there only if the rest is."""
    if constants:
        store.write(_constants_key(front), *_packed(constants, signature.alignment))
    store.write(front, f"{library}\n{signature.to_json()}".encode())


def _packed(constants: Sequence[Array], alignment: int) -> list[bytes]:
    """Their bytes, each padded to the alignment."""
    parts = []
    for array in constants:
        parts += [array.tobytes(), bytes(-array.nbytes % alignment)]
    return parts


def _mapped(path: Path, slots: Sequence[Slot], alignment: int) -> list[Array]:
    """The arrays that `_packed` wrote, read from the disk when they are first touched."""
    data = np.memmap(path, np.uint8, "r")
    arrays, start = [], 0
    for slot in slots:
        arrays.append(data[start : start + slot.bytes].view(slot.dtype).reshape(slot.shape))
        start += slot.bytes + -slot.bytes % alignment
    return arrays


def _executable(
    library: Path, signature: Signature, constants: Sequence[Array], io: IO
) -> HostExecutable:
    stream = _stream(library, signature, constants, io)
    if dynamic_form(signature.arguments):
        transfer = HostTransferManager(_flat(signature).as_logical())
        return DynamicExecutable(signature, stream, transfer)
    return HostExecutable(signature, stream, HostTransferManager(signature.as_logical()))


def _stream(
    library: Path, signature: Signature, constants: Sequence[Array], io: IO
) -> HostStreamExecutor:
    """Raises InputError where `io` lacks what the program asks for."""
    if not signature.asks:
        return HostStreamExecutor(library, signature, constants)
    for ask in signature.asks:
        if io.function(ask.request) is None:
            raise missing(ask.request, ask.origin)
    return AskingStreamExecutor(library, signature, constants, io)
