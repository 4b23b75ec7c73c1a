"""What a `Lowered` of JAX says of itself: all that a program out of the cache needs to know of it.

Nothing here reads HLO, nor brings along what does.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ccodegen.frontends import _jaxlib, jax_values
from ccodegen.frontends.installed import require
from ccodegen.support.errors import InputError
from ccodegen.support.hooks import ArraySpec, Function
from ccodegen.support.immutable import frozen


@frozen
class JaxCall:
    """How a program is called: its pytrees, and the arrays in their place.

    `in_tree` is the PyTreeDef of (args, kwargs) and `out_tree` the result's; `kept` are the flat
    numbers of the arguments that the program uses, one per array among the entry's parameters.
    `keys` are the flat numbers of those that are random keys; `outward` makes of results what NumPy
    lacks.
    """

    in_tree: Any
    out_tree: Any
    kept: tuple[int, ...]
    keys: frozenset[int]
    outward: Mapping[int, jax_values.Convert]

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


def lower(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], **jit_options: Any
) -> Any:
    """The `Lowered` of a JAX-traceable function for arguments of these shapes and types.

    `jit_options` go to `jax.jit` (static_argnums, donate_argnums, …).
    """
    require("jax")
    import jax

    traced = jax.jit(function, **jit_options).trace(*args, **kwargs)
    return traced.lower(lowering_platforms=("cpu",))


def settings() -> Any:
    """JAX's settings, such as 64 bits, on which depends what a function is traced to; hashable."""
    return _jaxlib.trace_context()


def identity(lowered: Any) -> bytes:
    """The bytecode of a `Lowered`: the same bytes each time, which its HLO proto is not."""
    buffer = io.BytesIO()
    lowered.compiler_ir("stablehlo").operation.write_bytecode(buffer)
    return buffer.getvalue()


def call_of(lowered: Any) -> JaxCall:
    kept = _jaxlib.kept_arguments(lowered)
    return JaxCall(
        in_tree=lowered.in_tree,
        out_tree=lowered.out_tree,
        kept=tuple(range(lowered.in_tree.num_leaves)) if kept is None else kept,
        keys=jax_values.key_places(_dtypes(lowered.args_info)),
        outward=jax_values.outward(_dtypes(lowered.out_info)),
    )


def _dtypes(tree: Any) -> list[Any]:
    from jax import tree_util

    return [leaf.dtype for leaf in tree_util.tree_leaves(tree)]


def callbacks(source: Any) -> dict[str, Function]:
    """The functions of jax.pure_callback and its kin in a `Lowered`, as in IO; none of others."""
    functions = _jaxlib.host_callbacks(source) if hasattr(source, "compiler_ir") else []
    if not functions:
        return {}
    from ccodegen.ops.backend_config import parse_config
    from ccodegen.ops.custom_calls.callbacks import TARGETS

    def call(config: str, specs: Sequence[ArraySpec], *arrays: Any) -> Any:
        return functions[int(parse_config(config)["index"])](*arrays)

    return dict.fromkeys(TARGETS, call)
