"""Compiled programs in the cache, by what they were made from: had again without the pipeline."""

from __future__ import annotations

from collections.abc import Iterable

from ccodegen.backend.cache import Cache, default_directory, digest, package_stamp
from ccodegen.backend.compilers import find_compiler, machine
from ccodegen.backend.executable import HostExecutable, executable
from ccodegen.backend.image import Image, parts, read_image, this_run
from ccodegen.backend.interfaces import Options
from ccodegen.support.pieces import Array
from ccodegen.target import Target


def restore(target: Target, options: Options) -> HostExecutable | None:
    """The executable that `host.load` made for the same key, target and options; None if there is
    none that is whole."""
    if not options.key or not options.cache:
        return None
    image = read_image(Cache(default_directory()).path(_key(target, options)))
    return None if image is None else executable(image, options.io)


def remember(
    image: Image, constants: Iterable[Iterable[Array]], target: Target, options: Options
) -> Image | None:
    """Puts the program into the cache. Returns the one there, if it can be read. `constants`: see
    `image.parts`."""
    store, key = Cache(default_directory()), _key(target, options)
    lasting = bool(image.signature.external) and not any(this_run())
    path = store.replace(key, parts(image, constants, this_run()), lasting)
    return read_image(path)


def _key(target: Target, options: Options) -> str:
    """What the program is made from, and how."""
    made_by = [package_stamp(), machine(target), find_compiler(target).stamp, repr(target)]
    return digest("program", *made_by, str(options.strict), options.key)
