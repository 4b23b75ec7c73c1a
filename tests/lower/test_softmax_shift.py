"""Which maxima may pass over NaNs, and that no result of theirs tells."""

from __future__ import annotations

import numpy as np
import pytest

from ccodegen.backend.build import Build
from ccodegen.loop.parts import applied
from ccodegen.loop.rebuild import expressions
from tests.three_ways import Array, check

HEAD = """max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] maximum(a, b) }
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY e { x = f32[6,6,32] parameter(0)  least = f32[] constant(-inf)  zero = f32[] constant(0)
  m = f32[6,6] reduce(x, least), dimensions={2}, to_apply=max
"""
WEIGHTS = """most = f32[6,6,32] broadcast(m), dimensions={0,1}
  s = f32[6,6,32] subtract(x, most)  w = f32[6,6,32] exponential(s)
  t = f32[6,6] reduce(w, zero), dimensions={2}, to_apply=add
  total = f32[6,6,32] broadcast(t), dimensions={0,1}
"""
SOFTMAX = WEIGHTS + "ROOT y = f32[6,6,32] divide(w, total) }"
LOG = WEIGHTS + "l = f32[6,6,32] log(total)  "
LOG_SOFTMAX = LOG + "ROOT y = f32[6,6,32] subtract(s, l) }"


def rows() -> Array:
    """Some with a NaN, zeros of both signs as the largest, infinities."""
    x = np.random.default_rng(1).standard_normal((6, 6, 32)).astype(np.float32)
    x[0, 1, 7] = np.nan
    x[2, :, 31] = np.nan
    x[3] = np.where(np.arange(32) % 2, np.float32(-0.0), np.float32(0.0))
    x[4, 0], x[4, 1] = -np.inf, np.inf
    x[5, 2] = -np.abs(x[5, 2])
    x[5, 2, 3] = -0.0
    return x


def looks_for_nans(built: Build) -> bool:
    kernels = built.program.kernels
    return any(a.operator == "and" for k in kernels for a in applied(*expressions(k.body)))


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    "rest",
    [
        SOFTMAX,
        LOG_SOFTMAX,
        WEIGHTS.replace("broadcast(m)", "broadcast(shift)").replace(
            "most =",
            """is = pred[6,6] is-finite(m)  none = f32[6,6] broadcast(zero), dimensions={}
            shift = f32[6,6] select(is, m, none)  most =""",
            1,
        ) + "ROOT y = f32[6,6,32] divide(w, total) }",
    ],
)
def test_shifts(rest: str, strict: bool) -> None:
    assert not looks_for_nans(check(HEAD + rest, rows(), strict=strict))


@pytest.mark.parametrize(
    "rest",
    [
        WEIGHTS + "y = f32[6,6,32] divide(w, total)  ROOT r = tuple(y, m) }",
        WEIGHTS + "y = f32[6,6,32] divide(w, total)  ROOT r = tuple(y, w) }",
        WEIGHTS + "ROOT y = f32[6,6,32] multiply(s, total) }",
        WEIGHTS + "ROOT y = f32[6,6,32] add(s, w) }",
        WEIGHTS + "ROOT y = f32[6,6,32] subtract(s, total) }",
        LOG + "ROOT y = f32[6,6,32] multiply(s, l) }",
        SOFTMAX.replace("broadcast(m), dimensions={0,1}", "broadcast(m), dimensions={1,0}"),
        SOFTMAX.replace("broadcast(t), dimensions={0,1}", "broadcast(t), dimensions={1,0}"),
        "ROOT y = f32[6,6] negate(m) }",
        "is = pred[6,6] parameter(1)  none = f32[6,6] broadcast(zero), dimensions={}  "
        "shift = f32[6,6] select(is, m, none)  "
        + SOFTMAX.replace("broadcast(m)", "broadcast(shift)"),
    ],
)
def test_what_tells(rest: str) -> None:
    others = [np.ones((6, 6), bool)] if "parameter(1)" in rest else []
    assert looks_for_nans(check(HEAD + rest, rows(), *others))
