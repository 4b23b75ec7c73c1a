"""Compiled programs in the cache, by what they were made from: had again without the pipeline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ccodegen.backend.compilers import find_compiler, machine
from ccodegen.backend.executable import HostExecutable, executable
from ccodegen.backend.image import Image, parts, read_image, this_run
from ccodegen.backend.interfaces import Options
from ccodegen.backend.signature import Signature
from ccodegen.support.cache import Cache, default_directory, digest, package_stamp
from ccodegen.support.pieces import Pieces
from ccodegen.target import Target


def restore(target: Target, options: Options) -> HostExecutable | None:
    """The executable that `host.load` made for the same key, target and options; None if there is
    none that is whole."""
    if not options.key or not options.cache:
        return None
    image = read_image(Cache(default_directory()).path(_key(target, options)))
    return None if image is None else executable(image, options.io)


def remember(
    signature: Signature,
    library: Callable[[], tuple[Path, int]],
    constants: Sequence[Pieces],
    target: Target,
    options: Options,
) -> Image | None:
    """Puts a program into the cache; see `image.parts`. Returns the one there, if it is whole."""
    store, key = Cache(default_directory()), _key(target, options)
    contents = parts(signature, machine(target), library, constants, this_run())
    lasting = bool(constants) and not any(this_run())
    return read_image(store.replace(key, contents, lasting))


def _key(target: Target, options: Options) -> str:
    """What the program is made from, and how."""
    made_by = [package_stamp(), machine(target), find_compiler(target).stamp, repr(target)]
    return digest("program", *made_by, str(options.strict), options.key)
