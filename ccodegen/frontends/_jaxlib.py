"""The private names of jax and jaxlib that we use. Tested with jax and jaxlib 0.10.2.

As a script it converts StableHLO on its standard input to an HloModuleProto on its standard
output: jaxlib ends the process, or never returns, for some invalid modules.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import io
import sys
from collections.abc import Callable, Sequence
from typing import Any

from ccodegen.support.pattern import pattern

_WHOLE = pattern(r"tensor<(\d+x)*(f32|f16|bf16)>")
_SHORT = 1 << 15  # bytes of a proto: as text, it is read before protobuf would be imported


def stablehlo_to_hlo_proto(code: str | bytes) -> bytes:
    """StableHLO text, bytecode or portable artifact → the bytes of an HloModuleProto.

    Raises jaxlib's error for what it does not accept.
    """
    proto: bytes = _computation(code).as_serialized_hlo_module_proto()
    return proto


def _computation(code: str | bytes) -> Any:
    from jaxlib import _jax

    return _jax.mlir.mlir_module_to_xla_computation(code, use_tuple_args=False, return_tuple=False)


def lowered_to_hlo(lowered: Any) -> str | bytes:
    """The HLO text of a `Lowered`, or the bytes of its HloModuleProto where that is large."""
    computation = _lowered_computation(lowered)
    proto: bytes = computation.as_serialized_hlo_module_proto()
    if len(proto) > _SHORT:
        return proto
    options = importlib.import_module("jaxlib._hlo").HloPrintOptions()
    options.print_metadata = options.print_large_constants = True
    text: str = computation.get_hlo_module().to_string(options)
    return text


def _lowered_computation(lowered: Any) -> Any:
    """An erfc stays whole, a custom call of chlo.erfc; jaxlib would write it out, with an exp(-x²)
    of a square that is rounded, and a polynomial for each of three ranges."""
    module = lowered.compiler_ir("stablehlo")
    if not _whole_ops(module.operation):
        return lowered.compiler_ir("hlo")
    with module.context:
        own = module.operation.clone()
        for op in _whole_ops(own):
            _call_instead(op)
        buffer = io.BytesIO()
        own.write_bytecode(buffer)
    return _computation(buffer.getvalue())


def _whole_ops(operation: Any) -> list[Any]:
    """The ops of arrays that jaxlib shall not write out."""
    from jaxlib.mlir import ir

    found: list[Any] = []

    def visit(op: Any) -> Any:
        if op.name == "chlo.erfc" and _WHOLE.fullmatch(str(op.results[0].type)):
            found.append(op)
        return ir.WalkResult.ADVANCE

    operation.walk(visit)
    return found


def _call_instead(op: Any) -> None:
    """Puts a custom call of its name in the place of an op."""
    from jaxlib.mlir import ir

    with op.location, ir.InsertionPoint(op):
        name: dict[str, Any] = {"call_target_name": ir.StringAttr.get(op.name)}
        types = [result.type for result in op.results]
        call = ir.Operation.create("stablehlo.custom_call", types, list(op.operands), name)
    op.results[0].replace_all_uses_with(call.results[0])
    op.erase()


def run_hlo(text: str, arrays: Sequence[Any]) -> list[Any]:
    """The results of HLO text on XLA:CPU. Raises jaxlib's error for what it does not accept."""
    import jax
    import numpy as np
    from jax.extend.backend import get_backend

    hlo: Any = importlib.import_module("jaxlib._hlo")
    lib: Any = importlib.import_module("jaxlib._jax")
    client: Any = get_backend("cpu")
    devices = client.local_devices()[:1]
    proto = hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    program = lib.mlir.hlo_to_stablehlo(proto)
    executable = client.compile_and_load(program, lib.DeviceList(tuple(devices)))
    with jax.enable_x64(True):
        placed = [jax.device_put(a, devices[0]) for a in arrays]
    return [np.asarray(result) for result in executable.execute(placed)]


def kept_arguments(lowered: Any) -> tuple[int, ...] | None:
    """The flat numbers of the arguments that became parameters; None where all of them did."""
    kept = lowered._lowering.compile_args.get("kept_var_idx")
    return None if kept is None else tuple(sorted(kept))


def trace_context() -> Any:
    """All of JAX's settings that change what a function is traced to, such as 64 bits; hashable."""
    return _config().trace_context()


@functools.cache
def _config() -> Any:
    from jax._src import config

    return config


def host_callbacks(lowered: Any) -> list[Callable[..., Sequence[Any]]]:
    """The Python functions of pure_callback, io_callback and debug.callback, by the index in the
    backend_config of their custom calls: NumPy arrays in, a sequence of them out."""
    found = lowered._lowering.compile_args.get("host_callbacks") or ()
    return [_without_token(function) for function in found]


def _without_token(function: Callable[..., Any]) -> Callable[..., Sequence[Any]]:
    """That of an ordered effect takes a token, whatever it is, before the arrays, and gives it
    back."""
    if "token" not in inspect.signature(function).parameters:
        return function
    return lambda *arrays: function(None, *arrays)[1:]


def _main() -> int:
    try:
        proto = stablehlo_to_hlo_proto(sys.stdin.buffer.read())
    except Exception as error:
        sys.stderr.write(str(error))
        return 1
    sys.stdout.buffer.write(proto)
    return 0


if __name__ == "__main__":
    sys.exit(_main())
