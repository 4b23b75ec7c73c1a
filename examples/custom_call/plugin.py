"""Tells ccodegen what the custom calls of program.hlo mean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import ccodegen

HERE = Path(__file__).resolve().parent


def decibel(b: Any, energy: Any) -> Any:
    """10 log10(energy): made of HLO's own ops, so that it fuses with what is around it."""
    scale = b.full(10 / np.log(10), energy.shape)
    return b.multiply(scale, b.log(energy))


def biquad(x: Any, state: Any, b0: Any, b1: Any, b2: Any, a1: Any, a2: Any) -> Any:
    """What biquad.h does, for the reference."""
    y = np.empty_like(x)
    s0, s1 = state
    for i, sample in enumerate(x):
        y[i] = b0 * sample + s0
        s0 = b1 * sample - a1 * y[i] + s1
        s1 = b2 * sample - a2 * y[i]
    return y, np.array([s0, s1], np.float32)


ccodegen.register_custom_call("decibel", lower=decibel)
ccodegen.register_custom_call(
    "biquad",
    c_function="biquad",
    c_header=HERE / "biquad.h",
    c_scalars=("b0", "b1", "b2", "a1", "a2"),
    evaluate=biquad,
)
