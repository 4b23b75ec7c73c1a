"""A compiled program as one file: its library, its constants, and what a call of it takes.

    library | constants, from a page on | facts, as JSON | footer

The library stands first and the constants at their alignment, so that both are mapped from the very
file, and read from the disk when they are first touched. Large constants begin at a large page,
wherever the library ends.

The footer has a checksum of all but the constants, which are whole in the run of the machine that
it names: what the system has not brought to the disk yet is lost only with it. In another run they
are read and added up once.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import mmap
import os
import struct
from collections.abc import Callable, Generator, Iterator, Sequence
from io import BufferedReader
from pathlib import Path

import numpy as np

from ccodegen.backend.signature import Signature, from_json
from ccodegen.backend.transfer import sign_extended
from ccodegen.support.cache import LARGE_PAGE, Content, write_atomically
from ccodegen.support.errors import InputError
from ccodegen.support.immutable import frozen
from ccodegen.support.pieces import Array, Pieces
from ccodegen.support.version import VERSION
from ccodegen.target import native

_MAGIC = b"ccg-program-4\n\0\0"
# Magic; bytes of the library, before the constants, of the facts, of all; sum of the constants;
# checksum; run of the machine.
_FOOTER = struct.Struct("<16sQQQQQ32s16s")
_ALL_RUNS = bytes(16)
_PAGE = 4096
_LARGE = 1 << 22  # bytes of constants for which a large page is left free, for the library
_WORD = 1 << 64
_CHUNK = 1 << 18


@frozen
class Image:
    """`library`: the file that it is loaded from, the first `library_size` bytes of which it is;
    `owner`: what that file lives as long as. `constants`: those of `signature.external`. `machine`:
    where the code runs, empty for any (see compilers.machine)."""

    library: Path
    library_size: int
    signature: Signature
    constants: Sequence[Array]
    machine: str = ""
    owner: object = None


@functools.cache
def this_run() -> bytes:
    """16 bytes that change when the machine starts again; zeros where the system has none."""
    try:
        text = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
        return bytes.fromhex(text.strip().replace("-", ""))
    except (OSError, ValueError):
        return _ALL_RUNS


def parts(
    signature: Signature,
    machine: str,
    library: Callable[[], tuple[Path, int]],
    constants: Sequence[Pieces],
    run: bytes,
) -> Iterator[Content]:
    """What its file consists of. `library()`: the file that begins with the library, and the
    library's size in bytes; asked for after large constants, which can be written while it is made.
    `run`: of the machine, in which all that was written is there; zeros: in all of them."""
    start = end = total = 0
    if sum(slot.bytes for slot in signature.external) >= _LARGE:
        start = LARGE_PAGE
        end, total = yield from _constants(constants, start, signature.alignment)
    path, library_size = library()
    if library_size > start:  # also where large constants have been written in its way
        start = library_size + -library_size % _PAGE
        end, total = yield from _constants(constants, start, signature.alignment)
    checksum = hashlib.sha256()
    yield 0
    with path.open("rb") as file:
        for piece in _pieces(file, library_size):
            checksum.update(piece)
            yield piece
    facts = {"version": VERSION, "machine": machine, "signature": signature.to_json()}
    text = json.dumps(facts).encode()
    sizes = (library_size, start, len(text), end + len(text) + _FOOTER.size, total)
    checksum.update(text + repr(sizes).encode())
    yield end
    yield text
    yield _FOOTER.pack(_MAGIC, *sizes, checksum.digest(), run)


def _constants(
    constants: Sequence[Pieces], start: int, alignment: int
) -> Generator[Content, None, tuple[int, int]]:
    """The constants from that place on; gives their end, and their sum."""
    end, total = start, 0
    for constant in constants:
        end += -end % alignment
        yield end
        for piece in constant():
            data = sign_extended(piece).reshape(-1).view(np.uint8)
            yield data.data
            total += _sum(data)
            end += data.nbytes
    return end, total % _WORD


def read_image(path: Path) -> Image | None:
    """The program in a file; None where there is no such file, or not all of it, or where another
    version of ccodegen wrote it."""
    try:
        with path.open("rb") as file:
            return _read(path, file)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def save_image(image: Image, path: Path) -> None:
    """Writes the file, whole or not at all. Raises InputError where that cannot be done."""
    library = image.library, image.library_size
    constants = [functools.partial(iter, [constant]) for constant in image.constants]
    contents = parts(image.signature, image.machine, lambda: library, constants, _ALL_RUNS)
    try:
        write_atomically(path, contents, lasting=bool(constants))
    except OSError as error:
        raise InputError(f"cannot write '{path}': {error.strerror or error}") from None


def load_image(path: Path) -> Image:
    """The program in a file. Raises InputError where it is none, or none for here."""
    image = read_image(path)
    if image is None:
        what = "no whole program of this version of ccodegen" if path.exists() else "not there"
        hint = "write it by ccodegen.compile(source).save(path)"
        raise InputError(f"'{path}' is {what}", hint=hint)
    if image.machine not in ("", native.identity()):
        hint = "compile it here, or for a target whose code runs on both"
        raise InputError(f"'{path}' is compiled for another machine", hint=hint)
    return image


def _read(path: Path, file: BufferedReader) -> Image | None:
    size = file.seek(0, os.SEEK_END)
    if size < _FOOTER.size:
        return None
    file.seek(size - _FOOTER.size)
    magic, *sizes, digest, run = _FOOTER.unpack(file.read(_FOOTER.size))
    library_size, start, text_size, whole, total = sizes
    if magic != _MAGIC or whole != size or library_size + text_size > size:
        return None
    file.seek(size - _FOOTER.size - text_size)
    text = file.read(text_size)
    file.seek(0)
    checksum = hashlib.sha256()
    for piece in _pieces(file, library_size):
        checksum.update(piece)
    checksum.update(text + repr(tuple(sizes)).encode())
    if checksum.digest() != digest:
        return None
    facts = json.loads(text)
    if facts["version"] != VERSION:
        return None
    signature = from_json(facts["signature"])
    constants = _mapped(file, start, signature)
    if run not in (_ALL_RUNS, this_run()):
        if sum(map(_sum, constants)) % _WORD != total:
            return None
        _mark(path)
    return Image(path, library_size, signature, constants, facts["machine"])


def _sum(array: Array) -> int:
    """Of the words of a contiguous array: another one where any page is lost."""
    data = array.reshape(-1).view(np.uint8)
    whole = data.size - data.size % 8
    words = data[:whole].view(np.uint64).sum(dtype=np.uint64)
    return int(words) + int.from_bytes(data[whole:].tobytes(), "little")


def _mark(path: Path) -> None:
    """The constants have been found whole in this run of the machine."""
    with contextlib.suppress(OSError), path.open("r+b") as file:
        file.seek(-len(this_run()), os.SEEK_END)
        file.write(this_run())


def _pieces(file: BufferedReader, size: int) -> Iterator[bytes]:
    """The next so many bytes. Raises ValueError where there are fewer."""
    while size > 0:
        piece = file.read(min(_CHUNK, size))
        if not piece:
            raise ValueError("the file ends early")
        size -= len(piece)
        yield piece


def _mapped(file: BufferedReader, start: int, signature: Signature) -> list[Array]:
    if not signature.external:
        return []
    mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):  # where the system has none
            mapping.madvise(mmap.MADV_HUGEPAGE)
    data = np.frombuffer(mapping, np.uint8)
    arrays = []
    for slot in signature.external:
        start += -start % signature.alignment
        arrays.append(data[start : start + slot.bytes].view(slot.dtype).reshape(slot.shape))
        start += slot.bytes
    return arrays
