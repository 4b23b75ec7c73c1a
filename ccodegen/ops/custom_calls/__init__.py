"""What is built in of custom calls, by theme. Importing this package registers it."""

from ccodegen.ops.custom_calls import (
    approx_top_k,
    callbacks,
    dialect_ops,
    erfc,
    factorisation,
    lapack,
    lapack_band,
    lapack_eigen,
    lapack_schur,
    markers,
    top_k,
)

__all__ = [
    "approx_top_k",
    "callbacks",
    "dialect_ops",
    "erfc",
    "factorisation",
    "lapack",
    "lapack_band",
    "lapack_eigen",
    "lapack_schur",
    "markers",
    "top_k",
]
