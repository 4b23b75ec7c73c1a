"""A cache on disk: files by key, safe to share between processes.

Files are written elsewhere and renamed: a reader sees a whole one or none. An entry is its contents
and a footer with their checksum, at the end so that a library can be loaded from the very file; a
damaged one is removed, and made again by whoever wanted it. Files of other forms check themselves.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from ccodegen.support.errors import InputError
from ccodegen.support.immutable import frozen
from ccodegen.support.runtime_c import header_dir
from ccodegen.support.version import VERSION

_MAGIC = b"ccg-cache-1\n"
_FOOTER = len(_MAGIC) + 32
LARGE_PAGE = 1 << 21  # bytes

Content: TypeAlias = bytes | memoryview | int  # what comes next, or the place where it does


def digest(*parts: str | bytes) -> str:
    """A key that no other list of parts has."""
    state = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


@functools.cache
def package_stamp() -> str:
    """Changes with the version of ccodegen, and with any of its files where it is developed."""
    folders = (Path(__file__).resolve().parents[1], header_dir())
    return digest(VERSION, repr([sorted(_facts(str(folder))) for folder in folders]))


def _facts(folder: str) -> Iterator[tuple[str, int, int]]:
    """Name, size and time of each source file in a folder and those in it."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from _facts(entry.path)
            else:
                facts = entry.stat()
                yield entry.path, facts.st_size, facts.st_mtime_ns


def default_directory() -> Path:
    """$CCODEGEN_CACHE_DIR, else `ccodegen` in the user's cache folder."""
    if chosen := os.environ.get("CCODEGEN_CACHE_DIR"):
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "ccodegen"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "ccodegen"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ccodegen"


@frozen
class Cache:
    """Entries in a folder, by key (letters and digits)."""

    directory: Path

    def find(self, key: str) -> Path | None:
        """The file of a sound entry. Its contents are followed by a footer."""
        return None if self.read(key) is None else self.path(key)

    def read(self, key: str) -> memoryview | None:
        """The contents of a sound entry; a damaged one is removed."""
        try:
            data = self.path(key).read_bytes()
        except OSError:
            return None
        if _is_sound(data):
            return memoryview(data)[:-_FOOTER]
        self.remove(key)
        return None

    def write(self, key: str, *contents: bytes | memoryview) -> Path:
        """Makes or replaces an entry. Raises InputError where the folder cannot be written."""
        return self.replace(key, _with_footer(contents))

    def replace(self, key: str, contents: Iterable[Content], lasting: bool = False) -> Path:
        """Makes or replaces a file of another form. `lasting`: it is on the disk, too, before it
        can be seen. Raises InputError where the folder cannot be written."""
        path = self.path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, contents, lasting)
        except OSError as error:
            hint = "set CCODEGEN_CACHE_DIR to a folder that can be written"
            message = f"cannot write the cache {path}: {error.strerror}"
            raise InputError(message, hint=hint) from None
        return path

    def remove(self, key: str) -> None:
        with contextlib.suppress(OSError):
            self.path(key).unlink()

    def path(self, key: str) -> Path:
        """Where the file of that key is, or would be."""
        return self.directory / key[:2] / key[2:]


def _is_sound(data: bytes) -> bool:
    body, footer = memoryview(data)[:-_FOOTER], data[-_FOOTER:]
    return footer == _MAGIC + hashlib.sha256(body).digest()


def _with_footer(contents: Iterable[bytes | memoryview]) -> Iterator[bytes | memoryview]:
    state = hashlib.sha256()
    for part in contents:
        state.update(part)
        yield part
    yield _MAGIC + state.digest()


def write_atomically(path: Path, contents: Iterable[Content], lasting: bool = False) -> None:
    """Makes or replaces a file, whole or not at all; `lasting`: even where the machine fails.

    Linux keeps and maps it in large pages, from which weights are read up to twice as fast, if each
    of those is written at once, from memory that is not still to be read from a disk.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb", buffering=LARGE_PAGE) as file:
            for part in contents:
                if isinstance(part, int):
                    file.seek(part)
                    continue
                rest = memoryview(part)
                while rest:
                    room = LARGE_PAGE - file.tell() % LARGE_PAGE
                    file.write(rest[:room])
                    rest = rest[room:]
            if lasting:
                file.flush()
                os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
