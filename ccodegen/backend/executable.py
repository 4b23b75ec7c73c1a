"""Compiled programs as callables of this process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from operator import itemgetter
from typing import Any

import numpy as np

from ccodegen.backend.dynamic_form import dynamic_form
from ccodegen.backend.image import Image
from ccodegen.backend.interfaces import Memory
from ccodegen.backend.signature import Signature, nest
from ccodegen.backend.stream import AskingStreamExecutor, HostStreamExecutor
from ccodegen.backend.transfer import HostTransferManager
from ccodegen.hlo.layout import from_memory, to_memory
from ccodegen.support.errors import InputError
from ccodegen.support.hooks import IO, NO_IO, missing
from ccodegen.support.naming import counted

Array = np.ndarray[Any, Any]


class HostExecutable:
    """A compiled program: NumPy arrays in, NumPy arrays out. May be called from several threads."""

    def __init__(self, image: Image, stream: HostStreamExecutor) -> None:
        self.image = image
        self.signature = signature = image.signature
        self.taken = signature.as_logical().inputs
        self._stream = stream
        self._transfer = HostTransferManager(self._shown(signature))
        self._results = _results(signature)
        # Runs share the state that a program keeps; it is read and written in one of them.
        has_state = any(slot.initial for slot in signature.arguments)
        self._one_at_a_time: AbstractContextManager[Any] = (
            threading.Lock() if has_state else nullcontext()
        )
        self._laid_out = any(slot.layout for slot in signature.arguments)

    @staticmethod
    def _shown(signature: Signature) -> Signature:
        """What arrays of the caller's must fit."""
        return signature.as_logical()

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
        pool = self._transfer.converted(arrays, out)
        with self._one_at_a_time:
            if self._laid_out:
                self._launch_laid_out(pool)
            else:
                self._stream.launch(pool)
        self._transfer.finish(pool)
        return self._results(pool)

    def arguments(self, values: Sequence[Any]) -> list[Array]:
        """The arrays that a call makes of its arguments, or finds in them. Raises InputError."""
        return self._transfer.arguments(values)

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

    def __init__(self, image: Image, stream: HostStreamExecutor) -> None:
        super().__init__(image, stream)
        signature = image.signature
        self._form = dynamic_form(signature.arguments)
        self.taken = self.taken[: len(self.taken) - len(self._form.inputs)]
        self._structure = signature.structure
        self._results = _results(_flat(signature))

    @staticmethod
    def _shown(signature: Signature) -> Signature:
        return _flat(signature).as_logical()

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """As HostExecutable's, but a donated array of dynamic shape is not overwritten. Raises
        InputError for `out`, as the sizes of results are known only after the run."""
        if out is not None:
            raise InputError("out: not possible where a result has a dynamic dimension")
        names = [slot.name for slot in self.taken]
        if len(arrays) != len(names):
            listed = f" ({', '.join(names)})" if names else ""
            expected = f"expected {counted(len(names), 'argument')}{listed}"
            raise InputError(f"{expected}, got {len(arrays)}")
        bounds = [slot.shape for slot in self.taken]
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


def executable(image: Image, io: IO = NO_IO) -> HostExecutable:
    """The program, loaded. Raises InputError where `io` lacks what it asks for."""
    kind = DynamicExecutable if dynamic_form(image.signature.arguments) else HostExecutable
    return kind(image, _stream(image, io))


def _stream(image: Image, io: IO) -> HostStreamExecutor:
    if not image.signature.asks:
        return HostStreamExecutor(image)
    for ask in image.signature.asks:
        if io.function(ask.request) is None:
            raise missing(ask.request, ask.origin)
    return AskingStreamExecutor(image, io)
