"""jax.lax: control flow, scans, solvers and what runs on named axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tests.jax_functions.arrays import Arrays
from tests.jax_functions.use import Table, Use, use


def _running(state: Any, x: Any) -> Any:
    state = state * 0.5 + x if state.dtype.kind != "i" else state + x
    return state, state * 2


def _double(x: Any) -> Any:
    return x * 2


def _cumulative(a: Arrays) -> list[Use]:
    return [use(a(5)), use(a(3, 5), axis=1, reverse=True), use(a(0, 3))]


class _Named:
    """A call of a collective inside a vmap over an axis of this name, where it has a meaning on
    one device."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def __call__(self, x: Any) -> Any:
        return jax.vmap(self._call, axis_name="i")(x)


def _collective(name: str, *args: Any, **kwargs: Any) -> Callable[[Arrays], list[Use]]:
    """Of a row of each of four members of an axis."""

    def make(a: Arrays) -> list[Use]:
        call = getattr(lax, name)
        return [use(a(4, 4)).instead(_Named(lambda x: call(x, "i", *args, **kwargs)))]

    return make


def _about_axis(name: str) -> Callable[[Arrays], list[Use]]:
    def make(a: Arrays) -> list[Use]:
        call = getattr(lax, name)
        return [use(a(4, 2)).instead(_Named(lambda x: x * call("i")))]

    return make


def _with_token(x: Any) -> Any:
    lax.after_all(lax.create_token(), lax.create_token())
    return x


_SHUFFLE = [1, 2, 3, 0]

TABLE: Table = {
    **{name: _collective(name) for name in ("psum", "pmean", "pmax", "pmin", "all_gather")},
    "all_to_all": _collective("all_to_all", 0, 0),
    "ppermute": _collective("ppermute", list(enumerate(_SHUFFLE))),
    "pshuffle": _collective("pshuffle", _SHUFFLE),
    "psum_scatter": _collective("psum_scatter"),
    "pswapaxes": _collective("pswapaxes", 0),
    "axis_index": _about_axis("axis_index"),
    "axis_size": _about_axis("axis_size"),
    "associative_scan": lambda a: [
        use(jnp.add, a(7)),
        use(lax.mul, a(3, 5), reverse=True, axis=1),
        use(lambda x, y: (x[0] * y[0], x[1] * y[0] + y[1]), (a(6), a(6))),
    ],
    "cond": lambda a: [
        use(np.array(True), _double, lambda x: -x, a(3, 5)),
        use(np.array(2, np.int32), lambda x, y: (x, y), lambda x, y: (y, x), a(4), a(4)),
    ],
    "switch": lambda a: [
        use(np.array(n, np.int32), [_double, lambda x: -x, lambda x: x], a(3)) for n in (-1, 1, 5)
    ],
    "fori_loop": lambda a: [
        use(0, 5, lambda i, x: x + i.astype(x.dtype), a(3)),
        use(0, a.ints(below=9, least=2), lambda i, x: x * 2, a(3)),
    ],
    "while_loop": lambda a: [
        use(lambda s: s[0] < 6, lambda s: (s[0] + 1, s[1] * 2), (np.int32(0), a(3, 2))),
        use(lambda x: abs(x).sum() < 100, _double, a(3) + 10),
    ],
    "scan": lambda a: [
        use(_running, a(3), a(5, 3)),
        use(_running, a(), a(6), reverse=True, unroll=2),
        use(lambda s, _: (s * 2, s), a(2), None, length=4),
        use(_running, a(3), a(0, 3)),
    ],
    "map": lambda a: [use(_double, a(4, 3)), use(lambda x: x.sum(), a(5, 2), batch_size=2)],
    "platform_dependent": lambda a: [use(a(3), cpu=_double, default=lambda x: -x)],
    "composite": lambda a: [
        use(a(3, 5)).instead(lambda x: lax.composite(lambda y: y * 2 + 1, "test.double")(x))
    ],
    "custom_root": lambda a: [
        use(
            lambda x: x * 2 - 3,
            a(3),
            lambda f, x: x - f(x) / 2,
            lambda g, y: y / g(jnp.ones_like(y)),
        ),
    ],
    "custom_linear_solve": lambda a: [use(_double, a(3), lambda matvec, b: b / 2)],
    "optimization_barrier": lambda a: [use(a(3, 5)), use((a(3), a.ints(2)))],
    "create_token": lambda a: [use(a(3)).instead(_with_token)],
    "after_all": lambda a: [use(a(3)).instead(_with_token)],
    "dce_sink": lambda a: [use(a(3)).instead(lambda x: (lax.dce_sink(x), x)[1])],
    "stage": lambda a: [use(a(3, 5))],
    "cumlogsumexp": _cumulative,
    "cummax": _cumulative,
    "cummin": _cumulative,
    "cumprod": _cumulative,
    "cumsum": _cumulative,
}
