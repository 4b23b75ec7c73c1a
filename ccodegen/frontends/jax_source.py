"""JAX programs → HLO: what `jax.jit(f).lower(…)` and `jax.export` give, with their pytrees.

A parameter's argument path, such as `params['w']` or `x[0]`, is its metadata's op_name.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ccodegen.frontends import _jaxlib, jax_values, stablehlo
from ccodegen.hlo import proto, text
from ccodegen.hlo.ir import Module
from ccodegen.ops.backend_config import parse_config
from ccodegen.ops.custom_calls.callbacks import TARGETS as CALLBACK_TARGETS
from ccodegen.passes.settle_entry_layout import with_row_major_interface
from ccodegen.support.errors import InputError, UnsupportedError
from ccodegen.support.hooks import ArraySpec, Function
from ccodegen.support.location import Location


@dataclass(frozen=True)
class JaxProgram:
    """A module with the shape of the call it came from.

    `in_tree` is the PyTreeDef of (args, kwargs) and `out_tree` the result's; `kept` are the flat
    numbers of the arguments that the program uses, one per array among the entry's parameters.
    `keys` are the flat numbers of those that are random keys; `outward` makes of results what NumPy
    lacks; `calls` are its callbacks, as in IO.
    """

    module: Module
    in_tree: Any
    out_tree: Any
    kept: tuple[int, ...]
    keys: frozenset[int] = frozenset()
    outward: Mapping[int, jax_values.Convert] = field(default_factory=dict)
    calls: Mapping[str, Function] = field(default_factory=dict)

    def flatten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The entry's arguments of a call. Raises InputError for another structure."""
        from jax import tree_util

        leaves, tree = tree_util.tree_flatten((args, kwargs))
        if tree != self.in_tree:
            raise InputError(f"the arguments have the structure {tree}, not {self.in_tree}")
        for number in self.keys:
            leaves[number] = jax_values.key_data(leaves[number])
        return [leaves[number] for number in self.kept]

    def unflatten(self, outputs: Sequence[Any]) -> Any:
        """The call's result of the flat outputs."""
        if self.outward:
            outputs = [self.outward.get(n, _as_is)(value) for n, value in enumerate(outputs)]
        return self.out_tree.unflatten(outputs)


def _as_is(value: Any) -> Any:
    return value


def is_jax_program(source: Any) -> bool:
    """Whether `from_object` may take it. Does not import jax."""
    names = ("compiler_ir", "mlir_module_serialized", "jaxpr", "runtime_executable")
    return hasattr(source, "in_tree") and any(hasattr(source, name) for name in names)


def from_object(source: Any) -> JaxProgram:
    """The program of a `Lowered`, `Exported` or `Traced`. Raises InputError for a `Compiled`."""
    if hasattr(source, "mlir_module_serialized"):
        return from_exported(source)
    if hasattr(source, "compiler_ir"):
        return from_lowered(source)
    if hasattr(source, "jaxpr"):
        return from_lowered(source.lower(lowering_platforms=("cpu",)))
    hint = "pass what .lower(…) returns, before .compile()"
    raise InputError("a compiled JAX function is optimized for XLA's runtime", hint=hint)


def identity(lowered: Any) -> bytes:
    """The bytecode of a `Lowered`: the same bytes each time, which its HLO proto is not."""
    buffer = io.BytesIO()
    lowered.compiler_ir("stablehlo").operation.write_bytecode(buffer)
    return buffer.getvalue()


def trace(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], **jit_options: Any
) -> JaxProgram:
    """The program of a JAX-traceable function for arguments of these shapes and types.

    `jit_options` go to `jax.jit` (static_argnums, donate_argnums, …).
    """
    stablehlo.require("jax")
    import jax

    traced = jax.jit(function, **jit_options).trace(*args, **kwargs)
    return from_object(traced)


def settings() -> Any:
    """JAX's settings, such as 64 bits, on which depends what a function is traced to; hashable."""
    return _jaxlib.trace_context()


def from_lowered(lowered: Any) -> JaxProgram:
    """Of `jax.jit(f).lower(…)`."""
    hlo = _jaxlib.lowered_to_hlo(lowered)
    module = text.parse(hlo, "<jax>") if isinstance(hlo, str) else proto.read(hlo, "<jax>")
    kept = _jaxlib.kept_arguments(lowered)
    arguments, results = (_dtypes(tree) for tree in (lowered.args_info, lowered.out_info))
    return JaxProgram(
        module=with_row_major_interface(module),
        in_tree=lowered.in_tree,
        out_tree=lowered.out_tree,
        kept=tuple(range(lowered.in_tree.num_leaves)) if kept is None else kept,
        keys=jax_values.key_places(arguments),
        outward=jax_values.outward(results),
        calls=callbacks(lowered),
    )


def _dtypes(tree: Any) -> list[Any]:
    from jax import tree_util

    return [leaf.dtype for leaf in tree_util.tree_leaves(tree)]


def callbacks(source: Any) -> dict[str, Function]:
    """The functions of jax.pure_callback and its kin in a `Lowered`, as in IO; none of others."""
    if not hasattr(source, "compiler_ir"):
        return {}
    functions = _jaxlib.host_callbacks(source)

    def call(config: str, specs: Sequence[ArraySpec], *arrays: Any) -> Any:
        return functions[int(parse_config(config)["index"])](*arrays)

    return dict.fromkeys(CALLBACK_TARGETS, call) if functions else {}


def from_exported(exported: Any, file: str = "<jax>") -> JaxProgram:
    """Of `jax.export.export(…)(…)`. Raises UnsupportedError for symbolic dimensions."""
    _check_static(exported)
    return JaxProgram(
        module=stablehlo.read(exported.mlir_module_serialized, file),
        in_tree=exported.in_tree,
        out_tree=exported.out_tree,
        kept=tuple(exported.module_kept_var_idx),
        keys=jax_values.key_places([aval.dtype for aval in exported.in_avals]),
        outward=jax_values.outward([aval.dtype for aval in exported.out_avals]),
    )


def deserialize(data: bytes, file: str) -> JaxProgram:
    """Of the bytes that `Exported.serialize()` gives. Raises InputError where they are bad."""
    stablehlo.require("jax")
    from jax import export

    try:
        exported = export.deserialize(bytearray(data))
    except ImportError as error:
        hint = "install it: pip install flatbuffers"
        raise InputError(f"reading a jax.export file: {error}", hint=hint) from None
    except Exception as error:  # flatbuffers raises what the bytes make it stumble over
        message = f"this jax.export file is damaged: {error}"
        raise InputError(message, Location(file)) from None
    return from_exported(exported, file)


def _check_static(exported: Any) -> None:
    for aval in exported.in_avals:
        if not all(isinstance(size, int) for size in aval.shape):
            raise UnsupportedError(
                f"an argument of the exported function has the symbolic shape {aval.shape}",
                hint="export it for fixed shapes",
            )
