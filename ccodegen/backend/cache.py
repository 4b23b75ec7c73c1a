"""A cache on disk: files by key, safe to share between processes.

An entry is its contents and a footer with their checksum, at the end so that a library can be
loaded and an array mapped from the very file. Entries are written elsewhere and renamed: a reader
sees a whole one or none. A damaged entry is removed, and made again by whoever wanted it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from ccodegen.support.errors import InputError
from ccodegen.support.version import VERSION

_MAGIC = b"ccg-cache-1\n"
_FOOTER = len(_MAGIC) + 32


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
    package = Path(__file__).resolve().parents[1]
    files = sorted(package.rglob("*.*"))
    stats = [(str(file.relative_to(package)), file.stat()) for file in files]
    facts = [(name, s.st_size, s.st_mtime_ns) for name, s in stats if not name.endswith(".pyc")]
    return digest(VERSION, repr(facts))


def default_directory() -> Path:
    """$CCODEGEN_CACHE_DIR, else `ccodegen` in the user's cache folder."""
    if chosen := os.environ.get("CCODEGEN_CACHE_DIR"):
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "ccodegen"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "ccodegen"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ccodegen"


@dataclass(frozen=True)
class Cache:
    """Entries in a folder, by key (letters and digits)."""

    directory: Path

    def find(self, key: str) -> Path | None:
        """The file of a sound entry. Its contents are followed by a footer."""
        return None if self.read(key) is None else self._path(key)

    def read(self, key: str) -> memoryview | None:
        """The contents of a sound entry; a damaged one is removed."""
        try:
            data = self._path(key).read_bytes()
        except OSError:
            return None
        if _is_sound(data):
            return memoryview(data)[:-_FOOTER]
        self.remove(key)
        return None

    def write(self, key: str, *contents: bytes | memoryview) -> Path:
        """Makes or replaces an entry. Raises InputError where the folder cannot be written."""
        path = self._path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write_atomically(path, contents)
        except OSError as error:
            hint = "set CCODEGEN_CACHE_DIR to a folder that can be written"
            message = f"cannot write the cache {path}: {error.strerror}"
            raise InputError(message, hint=hint) from None
        return path

    def make(self, key: str, build: Callable[[], bytes]) -> Path:
        """The entry's file; built first if there is none."""
        return self.find(key) or self.write(key, build())

    def remove(self, key: str) -> None:
        with contextlib.suppress(OSError):
            self._path(key).unlink()

    def _path(self, key: str) -> Path:
        return self.directory / key[:2] / key[2:]


def _is_sound(data: bytes) -> bool:
    body, footer = memoryview(data)[:-_FOOTER], data[-_FOOTER:]
    return footer == _MAGIC + hashlib.sha256(body).digest()


def _write_atomically(path: Path, contents: Iterable[bytes | memoryview]) -> None:
    state = hashlib.sha256()
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            for part in contents:
                state.update(part)
                file.write(part)
            file.write(_MAGIC + state.digest())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
