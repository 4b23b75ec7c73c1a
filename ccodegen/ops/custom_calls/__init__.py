"""What is built in of custom calls, by theme. Importing this package registers it."""

from ccodegen.ops.custom_calls import callbacks, lapack, lapack_band, lapack_eigen, markers, top_k

__all__ = ["callbacks", "lapack", "lapack_band", "lapack_eigen", "markers", "top_k"]
