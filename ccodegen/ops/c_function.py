"""The evaluator's math on its strict path: runtime_c's functions, applied to NumPy arrays."""

from ccodegen.support.c_function import call

__all__ = ["call"]
