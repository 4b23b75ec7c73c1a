"""JAX programs → HLO: what `jax.jit(f).lower(…)` and `jax.export` give.

A parameter's argument path, such as `params['w']` or `x[0]`, is its metadata's op_name.
"""

from __future__ import annotations

from typing import Any

from ccodegen.frontends import _jaxlib, stablehlo
from ccodegen.frontends.installed import require
from ccodegen.hlo import proto, text
from ccodegen.hlo.ir import Module
from ccodegen.passes.settle_entry_layout import with_row_major_interface
from ccodegen.support.errors import InputError, UnsupportedError
from ccodegen.support.location import Location


def is_jax_program(source: Any) -> bool:
    """Whether `from_object` may take it. Does not import jax."""
    names = ("compiler_ir", "mlir_module_serialized", "jaxpr", "runtime_executable")
    return hasattr(source, "in_tree") and any(hasattr(source, name) for name in names)


def from_object(source: Any) -> Module:
    """The program of a `Lowered`, `Exported` or `Traced`. Raises InputError for a `Compiled`."""
    if hasattr(source, "mlir_module_serialized"):
        return from_exported(source)
    if hasattr(source, "compiler_ir"):
        return from_lowered(source)
    if hasattr(source, "jaxpr"):
        return from_lowered(source.lower(lowering_platforms=("cpu",)))
    hint = "pass what .lower(…) returns, before .compile()"
    raise InputError("a compiled JAX function is optimized for XLA's runtime", hint=hint)


def from_lowered(lowered: Any) -> Module:
    """Of `jax.jit(f).lower(…)`."""
    hlo = _jaxlib.lowered_to_hlo(lowered)
    module = text.parse(hlo, "<jax>") if isinstance(hlo, str) else proto.read(hlo, "<jax>")
    return with_row_major_interface(module)


def from_exported(exported: Any, file: str = "<jax>") -> Module:
    """Of `jax.export.export(…)(…)`. Raises UnsupportedError for symbolic dimensions."""
    _check_static(exported)
    return stablehlo.read(exported.mlir_module_serialized, file)


def deserialize(data: bytes, file: str) -> Module:
    """Of the bytes that `Exported.serialize()` gives. Raises InputError where they are bad."""
    require("jax")
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
