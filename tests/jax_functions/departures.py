"""Where a result may be further from XLA's than usual, or differs for a reason that we keep."""

from __future__ import annotations

from tests.jax_functions.listing import Function

_CUT = (
    "XLA's complex expm1 loses the sign of an imaginary part of zero, and with it the side of the "
    "logarithm's branch cut"
)
_PADDING = (
    "JAX's reduce-window is padded with -inf, and its sum of two such is NaN; XLA:CPU leaves "
    "padding out, the specification of HLO does not"
)
_ORDER = (
    "HLO gives complex numbers no order, so clamp of them is refused; XLA:CPU clamps by the real "
    "parts alone"
)

# By function and type: the reason.
_KEPT = {
    ("jax.nn.log1mexp", "c64"): _CUT,
    ("jax.lax.clamp", "c64"): _ORDER,
    ("jax.lax.cumlogsumexp", "c64"): _PADDING,
}

# By function and type: how many times the usual difference is allowed.
_SLACK = {
    ("jax.nn.dot_product_attention", "f64"): 1e5,  # its softmax is in f32
}


def reason(function: Function, type_name: str) -> str:
    """Why a difference is kept; empty if it is a fault."""
    return _KEPT.get((function.path, type_name), "")


def slack(function: Function, type_name: str) -> float:
    """How many times the usual difference is allowed."""
    return _SLACK.get((function.path, type_name), 1.0)
