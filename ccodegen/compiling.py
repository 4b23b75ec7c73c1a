"""A program from its source to this process: what `compile` does where the cache has nothing.

Apart from the front doors, because all passes come with it, and what the cache has needs none.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ccodegen.backend.build import Build, build
from ccodegen.backend.executable import HostExecutable
from ccodegen.backend.host import Loader
from ccodegen.backend.interfaces import Options
from ccodegen.backend.options import BuildOptions
from ccodegen.backend.signature import Structure
from ccodegen.frontends.read import read
from ccodegen.hlo.shape import ArrayShape, Shape, TokenShape, TupleShape
from ccodegen.ops.custom_call import with_hosts
from ccodegen.ops.host import check_io


def stages(source: Any, options: BuildOptions) -> Build:
    """The program at its stages. Raises as `compile` does."""
    return build(read(source), options)


def compiled(
    source: Any, options: BuildOptions, settings: Options, loader: Loader
) -> tuple[HostExecutable, Build]:
    """The program, loaded, and what it was made from."""
    made = build(read(source), options, loader.add)
    io = with_hosts(settings.io)
    check_io(made.optimized, io)
    structure = _structure(made.module.entry.root.shape)
    return loader.load(made.program, replace(settings, structure=structure, io=io)), made


def _structure(shape: Shape) -> Structure | None:
    """How the results are nested, leaves numbered left to right; tokens are left out."""
    counter = iter(range(1 << 30))

    def number(part: Shape) -> Structure:
        if isinstance(part, TokenShape):
            return ()
        if isinstance(part, TupleShape):
            kept = [e for e in part.elements if isinstance(e, TupleShape | ArrayShape)]
            return tuple(number(e) for e in kept)
        return next(counter)

    return number(shape)
