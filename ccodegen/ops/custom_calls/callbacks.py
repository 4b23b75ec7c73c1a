"""Calls of Python functions: jax.pure_callback, io_callback, debug.print and debug.callback."""

from __future__ import annotations

from ccodegen.ops.custom_call import CustomCallDef, register_custom_call

# JAX puts the number of the function among the program's into the backend_config: {index = 0}.
TARGETS = (
    "xla_ffi_python_cpu_callback",
    "xla_ffi_partitioned_python_cpu_callback",
    "xla_python_cpu_callback",
)

for _target in TARGETS:
    register_custom_call(CustomCallDef(_target, asks_host=True))
