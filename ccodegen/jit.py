"""`compile` and `jit`: programs as callables in this process."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MethodType
from typing import Any

import numpy as np

from ccodegen.backend import host
from ccodegen.backend.build import Build, BuildOptions, Parameter, build, checked_options
from ccodegen.backend.interfaces import Memory, Options
from ccodegen.backend.signature import Structure
from ccodegen.emit.source import emit
from ccodegen.frontends import jax_source
from ccodegen.frontends.jax_arguments import Chosen, Names, Numbers, choose
from ccodegen.frontends.read import read
from ccodegen.hlo.shape import ArrayShape, Shape, TokenShape, TupleShape
from ccodegen.loop import text as loop_text
from ccodegen.ops.custom_call import has_user_targets, with_hosts
from ccodegen.ops.host import check_io
from ccodegen.program_digest import program_digest
from ccodegen.support.errors import InputError
from ccodegen.support.hooks import IO, NO_IO
from ccodegen.target import Target, load

_STAGES = ("hlo", "optimized", "loop", "c")


class Executable:
    """A compiled program: `exe(x, …)` takes NumPy arrays and gives NumPy arrays.

    A program whose root is a tuple gives a (nested) tuple. `exe(x, out=y)` writes into arrays of
    the caller's. A donated argument is overwritten and returned.

    Arrays of dynamic shape (`f32[<=8]`) are as large as they are, up to their bound. Where there
    are any, results cannot be written to `out`, and a donated one is copied, not overwritten.
    """

    def __init__(self, run: host.HostExecutable, stages: Callable[[], Build]) -> None:
        self._run = run
        self._stages = stages
        # The call of a class is looked up on the class; the one below costs a frame less.
        self.run = run.__call__

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        return self._run(*arrays, out=out)

    @property
    def memory(self) -> Memory:
        """Bytes of the arena, the constants, the arguments and the outputs."""
        return self._run.memory

    @functools.cached_property
    def build(self) -> Build:
        """The program at its stages; made anew where it came out of the cache."""
        return self._stages()

    def as_text(self, stage: str = "hlo") -> str:
        """The program as "hlo" (as read), "optimized" (HLO after all passes), "loop" or "c"."""
        if stage == "hlo":
            return self.build.module.to_text()
        if stage == "optimized":
            return self.build.optimized.to_text()
        if stage == "loop":
            return loop_text.to_text(self.build.program)
        if stage == "c":
            sources = emit(self.build.program, load("host"), "program")
            return "\n".join(sources.files.values())
        raise InputError(f"unknown stage '{stage}'", hint=f"the stages are {', '.join(_STAGES)}")


def compile(
    source: Any,
    target: str | Path | Target = "host",
    constants: Mapping[Parameter, Any] | None = None,
    donate: Sequence[Parameter] = (),
    threads: int = 1,
    strict: bool = False,
    io: IO = NO_IO,
) -> Executable:
    """Compiles a program for this process.

    `source`: anything that `ccodegen.read` takes. `target`: a name, or the path of a .toml file.
    `constants`: arrays for parameters, bound at compile time. `donate`: parameters whose memory an
    output of equal shape and type takes over. Both name parameters by their flat number in the HLO
    entry before any binding, by HLO name or by JAX argument path. `threads`: at most so many, up to
    64, share a call's work; the bits stay the same. `strict`: the evaluator's bits. `io`: functions
    for what the program asks of its caller (infeed, outfeed, send, recv, custom calls on the host);
    what they raise reaches the caller of the program.

    Raises InputError for a wrong program or option, UnsupportedError for what we cannot compile.
    """
    options = checked_options(target, constants, donate, threads, strict)
    chosen = options.target
    if not chosen.runner.in_process:
        hint = f"write a package for it: ccodegen.export(source, target='{chosen.name}')"
        raise InputError(f"target {chosen.name} does not run in this process", hint=hint)
    if not isinstance(io, IO):
        raise InputError(f"io: expected a ccodegen.IO, got a {type(io).__name__}")

    def stages() -> Build:
        return build(read(source), options)

    key = _key(source, options)
    io = with_hosts(replace(io, calls={**jax_source.callbacks(source), **io.calls}))
    found = host.restore(chosen, Options(strict=strict, key=key, io=io))
    if found is not None:
        return Executable(found, stages)
    made = stages()
    check_io(made.optimized, io)
    structure = _structure(made.module.entry.root.shape)
    settings = Options(strict, structure, key=key, io=io)
    run = host.load(made.program, chosen, settings)
    return Executable(run, lambda: made)


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
    settings = {"target": target, "threads": threads, "strict": strict}

    def compiled(traceable: Callable[..., Any]) -> Callable[..., Any]:
        static = choose(traceable, static_argnums, static_argnames)
        donated = choose(traceable, donate_argnums, donate_argnames)
        return _Jitted(traceable, donated, static, settings)

    return compiled if function is None else compiled(function)


class _Jitted:
    """The callable that `jit` gives."""

    def __init__(
        self,
        function: Callable[..., Any],
        donated: Chosen,
        static: Chosen,
        settings: dict[str, Any],
    ) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._donated, self._static = donated, static
        self._settings = settings
        self._made: dict[Any, _Compiled] = {}

    def __get__(self, instance: Any, owner: type | None = None) -> Callable[..., Any]:
        """As a method, whose first argument is the instance."""
        return self if instance is None else MethodType(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        dynamic = self._static.others(args, kwargs)
        key = self._signature(args, kwargs, dynamic)
        try:
            made = self._made.get(key)
        except TypeError as error:
            hint = "an array cannot be static; a tuple can"
            raise InputError(f"a static argument has no hash: {error}", hint=hint) from None
        if made is None:
            made = self._made[key] = self._compile(args, kwargs)
        return made(*dynamic)

    def _signature(self, args: tuple[Any, ...], kwargs: dict[str, Any], dynamic: Any) -> Any:
        from jax import tree_util

        leaves, tree = tree_util.tree_flatten(dynamic)
        kinds = tuple(_kind(a) for a in leaves)
        static = self._static.of(args, kwargs)
        return tree, kinds, static, jax_source.settings()

    def _compile(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Compiled:
        numbers, names = sorted(self._static.numbers), sorted(self._static.names)
        program = jax_source.trace(
            self._function, args, kwargs, static_argnums=numbers, static_argnames=names
        )
        donate = self._donated_parameters(args, kwargs, program.kept)
        io = IO(calls=program.calls)
        executable = compile(program.module, donate=donate, io=io, **self._settings)
        shapes = [p.shape for p in program.module.entry.parameters]
        types = [s.element_type.dtype for s in shapes if isinstance(s, ArrayShape)]
        return _Compiled(program, executable, types, frozenset(donate))

    def _donated_parameters(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], kept: Sequence[int]
    ) -> list[int]:
        """The entry's parameters that are leaves of donated arguments."""
        from jax import tree_util

        positions = (
            [n in self._donated.numbers] * len(tree_util.tree_leaves(argument))
            for n, argument in enumerate(args)
            if n not in self._static.numbers
        )
        names = (
            [name in self._donated.names] * len(tree_util.tree_leaves(kwargs[name]))
            for name in sorted(kwargs)  # as JAX flattens them
            if name not in self._static.names
        )
        donated = [given for leaves in (*positions, *names) for given in leaves]
        return [place for place, number in enumerate(kept) if donated[number]]


def _kind(leaf: Any) -> Any:
    """What JAX traces of an argument: shape, type, and whether the type is weak."""
    return np.shape(leaf), getattr(leaf, "dtype", type(leaf)), getattr(leaf, "weak_type", False)


@dataclass(frozen=True)
class _Compiled:
    """A function for one set of shapes and types. `types` and `donated`: of the entry's
    parameters."""

    program: jax_source.JaxProgram
    executable: Executable
    types: Sequence[np.dtype[Any]]
    donated: frozenset[int]

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        values = self.program.flatten(args, kwargs)
        results = self.executable(*(self._array(n, value) for n, value in enumerate(values)))
        return self.program.unflatten(results if isinstance(results, tuple) else (results,))

    def _array(self, number: int, value: Any) -> np.ndarray[Any, Any]:
        """In the type it was traced with: JAX takes Python numbers and 64 bits for 32. A donated
        array of JAX's is copied, as it cannot be written."""
        array = np.asarray(value, self.types[number])
        writable = isinstance(value, np.ndarray) or number not in self.donated
        return array if writable else array.copy()


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


def _key(source: Any, options: BuildOptions) -> str:
    """A digest of the program and of all that changes what is made of it; empty where that cannot
    be had."""
    if has_user_targets():
        return ""
    return program_digest(source, options, str(options.strict))
