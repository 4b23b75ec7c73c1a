"""Operators of constants, evaluated."""

from __future__ import annotations

from typing import Any

import numpy as np

from ccodegen.loop.ir import INDEX, Apply, Const
from ccodegen.loop.operators import evaluate


def folded(expr: Apply) -> Apply | Const:
    """The constant that an operator of constants is, to the bit.

    `add(1.0:f32, 2.0:f32)`  →  `3.0:f32`. INDEX arithmetic folds in `loop.affine` instead.
    """
    if expr.operator == "half-same":
        return expr
    constants = [a for a in expr.arguments if isinstance(a, Const)]
    if len(constants) < len(expr.arguments) or INDEX in (expr.type, constants[0].type):
        return expr
    result = evaluate(expr.operator, [constant_array(c) for c in constants], expr.type)
    value = result[()]
    is_nan = (expr.type.is_float or expr.type.is_complex) and value != value
    return Const(expr.type, value if is_nan else value.item())


def constant_array(const: Const) -> np.ndarray[Any, Any]:
    """The value as an array of rank 0 in the NumPy type of its own."""
    if const.type.is_integer:
        return np.asarray(int(const.value)).astype(const.type.dtype)
    return np.asarray(const.value, const.type.dtype)
