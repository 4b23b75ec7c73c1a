"""`compile`, `load` and `jit`: programs as callables in this process.

What only compiling needs is imported where that begins: a program out of the cache, or a file, is
there in milliseconds.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccodegen.backend.cached import restore
from ccodegen.backend.direct import direct
from ccodegen.backend.executable import HostExecutable, executable
from ccodegen.backend.image import load_image, save_image
from ccodegen.backend.interfaces import Memory, Options
from ccodegen.backend.options import BuildOptions, Parameter, checked_options
from ccodegen.program_digest import program_digest
from ccodegen.support.collection import no_collection
from ccodegen.support.errors import InputError
from ccodegen.support.hooks import IO, NO_IO, ArraySpec
from ccodegen.support.user_targets import has_user_targets
from ccodegen.target import Target

if TYPE_CHECKING:
    from ccodegen.backend.build import Build
    from ccodegen.backend.host import Loader
    from ccodegen.frontends.jax_arguments import Names, Numbers


class Executable:
    """A compiled program: `exe(x, …)` takes NumPy arrays and gives NumPy arrays.

    A program whose root is a tuple gives a (nested) tuple. `exe(x, out=y)` writes into arrays of
    the caller's. A donated argument is overwritten and returned. `exe.run` is the same function,
    without the time that a call of an object takes.

    Arrays of dynamic shape (`f32[<=8]`) are as large as they are, up to their bound. Where there
    are any, results cannot be written to `out`, and a donated one is copied, not overwritten.
    """

    def __init__(self, loaded: HostExecutable, stages: Callable[[], Build]) -> None:
        self._loaded = loaded
        self._stages = stages
        self.run = direct(loaded)

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        return self.run(*arrays) if out is None else self.run(*arrays, out=out)

    @property
    def arguments(self) -> tuple[ArraySpec, ...]:
        """The arrays that a call takes; those of dynamic shape with their bounds."""
        return tuple(ArraySpec(slot.shape, slot.dtype) for slot in self._loaded.taken)

    @property
    def memory(self) -> Memory:
        """Bytes of the arena, the constants, the arguments and the outputs."""
        return self._loaded.memory

    @functools.cached_property
    def build(self) -> Build:
        """The program at its stages; made anew where it came out of the cache. Raises InputError
        for one that `load` gave."""
        return self._stages()

    def as_text(self, stage: str = "hlo") -> str:
        """The program as "hlo" (as read), "optimized" (HLO after all passes), "loop" or "c"."""
        from ccodegen.stage_text import text_of

        return text_of(self.build, stage)

    def save(self, path: str | Path) -> None:
        """Writes the compiled program, constants included, to a file for `ccodegen.load`. Raises
        InputError where that cannot be done."""
        save_image(self._loaded.image, Path(path))


def load(path: str | Path, io: IO = NO_IO) -> Executable:
    """The program that `Executable.save` wrote, without compiling: its constants are mapped, and
    read when they are first used. `io`: as for `compile`.

    Raises InputError for a file that is damaged, or of another version of ccodegen, or compiled for
    another machine.
    """
    return Executable(executable(load_image(Path(path)), io), _no_stages)


def _no_stages() -> Build:
    hint = "compile it from its source: ccodegen.compile(source)"
    raise InputError("a loaded program has no stages but the machine's code", hint=hint)


def compile(
    source: Any,
    target: str | Path | Target = "host",
    constants: Mapping[Parameter, Any] | None = None,
    donate: Sequence[Parameter] = (),
    threads: int = 1,
    strict: bool = False,
    io: IO = NO_IO,
    tune: bool = False,
) -> Executable:
    """Compiles a program for this process.

    `source`: anything that `ccodegen.read` takes. `target`: a name, or the path of a .toml file.
    `constants`: arrays for parameters, bound at compile time. `donate`: parameters whose memory an
    output of equal shape and type takes over. Both name parameters by their flat number in the HLO
    entry before any binding, by HLO name or by JAX argument path. `threads`: at most so many, up to
    64, share a call's work; the bits stay the same. `strict`: the evaluator's bits. `io`: functions
    for what the program asks of its caller (infeed, outfeed, send, recv, custom calls on the host);
    what they raise reaches the caller of the program. `tune`: measure first in which register tiles
    its contractions are fastest here; what was measured is remembered, and the bits stay the same.

    Raises InputError for a wrong program or option, UnsupportedError for what we cannot compile.
    """
    options = checked_options(target, constants, donate, threads, strict)
    _check_in_process(options.target)
    if not isinstance(io, IO):
        raise InputError(f"io: expected a ccodegen.IO, got a {type(io).__name__}")
    options = _tuned(source, options) if tune else options
    settings = Options(strict, key=_key(source, options), io=_with_callbacks(io, source))
    found = restore(options.target, settings)
    if found is not None:
        return Executable(found, functools.partial(_stages, source, options))
    with no_collection(), _loader(options.target, settings) as loader:
        from ccodegen.compiling import compiled  # makes many objects, while compilers begin

        made, build = compiled(source, options, settings, loader)
    return Executable(made, lambda: build)


def _loader(target: Target, settings: Options) -> Loader:
    from ccodegen.backend.host import Loader

    return Loader(target, settings)


def _check_in_process(target: Target) -> None:
    if not target.runner.in_process:
        hint = f"write a package for it: ccodegen.export(source, target='{target.name}')"
        raise InputError(f"target {target.name} does not run in this process", hint=hint)


def _tuned(source: Any, options: BuildOptions) -> BuildOptions:
    from ccodegen.tuning import tune, with_tiles

    return replace(options, target=with_tiles(options.target, tune(source, options)))


def _stages(source: Any, options: BuildOptions) -> Build:
    from ccodegen.compiling import stages

    return stages(source, options)


def _with_callbacks(io: IO, source: Any) -> IO:
    """With the callbacks of a `Lowered`."""
    if not hasattr(source, "compiler_ir"):
        return io
    from ccodegen.frontends.jax_lowered import callbacks

    return replace(io, calls={**callbacks(source), **io.calls})


def jit(
    function: Callable[..., Any] | None = None,
    *,
    static_argnums: Numbers = None,
    static_argnames: Names = None,
    donate_argnums: Numbers = None,
    donate_argnames: Names = None,
    target: str | Path | Target = "host",
    threads: int = 1,
    strict: bool = False,
) -> Callable[..., Any]:
    """A JAX-traceable function, compiled once for each set of shapes, types and JAX settings.

    Takes and returns pytrees of arrays, as `jax.jit` does; use it as `@jit` or
    `@jit(donate_argnums=0)`. Results are NumPy arrays, save for random keys.
    """
    if function is not None and not callable(function):
        raise InputError(f"jit takes a function, not a {type(function).__name__}")
    compile_module = functools.partial(compile, target=target, threads=threads, strict=strict)

    def compiled(traceable: Callable[..., Any]) -> Callable[..., Any]:
        from ccodegen.jitted import Jitted

        static = (static_argnums, static_argnames)
        donated = (donate_argnums, donate_argnames)
        return Jitted(traceable, donated, static, compile_module)

    return compiled if function is None else compiled(function)


def _key(source: Any, options: BuildOptions) -> str:
    """A digest of the program and of all that changes what is made of it; empty where that cannot
    be had."""
    if has_user_targets():
        return ""
    return program_digest(source, options, str(options.strict))
