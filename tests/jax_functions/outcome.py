"""Runs a function in a type, by `ccodegen.jit` and by XLA."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

import ccodegen
from tests.jax_functions.arrays import TYPES, Arrays
from tests.jax_functions.compare import as_numpy, difference
from tests.jax_functions.departures import reason, slack
from tests.jax_functions.listing import Function
from tests.jax_functions.samples import Sample, samples

AGREES = "ok"
NOT_TAKEN = "not taken"
UNSUPPORTED = "unsupported"
DEPARTS = "departs"
DIFFERS = "differs"
FAILS = "fails"
_WORST_LAST = (NOT_TAKEN, AGREES, DEPARTS, UNSUPPORTED, DIFFERS, FAILS)

# What JAX raises for a call that it does not take in a type.
_REFUSALS = (TypeError, ValueError, NotImplementedError, OverflowError)


@dataclass(frozen=True)
class Outcome:
    """Of a function in a type: the worst of its samples. `detail`: which one, and what it says."""

    kind: str
    detail: str = ""


def outcomes(function: Function) -> dict[str, Outcome]:
    """By type. In s32 only where JAX takes the function in none of the others."""
    found = {name: outcome(function, name) for name in TYPES if name != "s32"}
    if all(one.kind == NOT_TAKEN for one in found.values()):
        found["s32"] = outcome(function, "s32")
    return found


def outcome(function: Function, type_name: str) -> Outcome:
    with _precision(type_name):
        made = samples(function, Arrays(type_name))
        found = [_of_sample(function, type_name, n, sample) for n, sample in enumerate(made)]
    return max(found, key=lambda one: _WORST_LAST.index(one.kind), default=Outcome(NOT_TAKEN))


@contextlib.contextmanager
def _precision(type_name: str) -> Iterator[None]:
    """JAX with 64 bits for f64, with 32 otherwise, as most programs run."""
    with jax.enable_x64(type_name == "f64"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _of_sample(function: Function, type_name: str, number: int, sample: Sample) -> Outcome:
    where = f"({sample.describe()})"
    try:
        expected = jax.jit(sample.program)(*sample.arrays)
        jax.tree_util.tree_map(as_numpy, expected)
    except _REFUSALS as error:
        return Outcome(NOT_TAKEN, f"{where}: {_first_line(error)}")
    try:
        ours = ccodegen.jit(sample.program)(*sample.arrays)
    except ccodegen.UnsupportedError as error:
        return Outcome(UNSUPPORTED, _first_line(error))
    except Exception as error:  # whatever it is, the table shows it
        text = f"{where}: {type(error).__name__}: {_first_line(error)}"
        return _fault(FAILS, function, type_name, text)
    found = difference(ours, expected, slack(function, type_name))
    if not found or _nearer_than_xla(function, type_name, number, ours, expected):
        return Outcome(AGREES)
    return _fault(DIFFERS, function, type_name, f"{where}: {found.text}")


def _fault(kind: str, function: Function, type_name: str, text: str) -> Outcome:
    kept = reason(function, type_name)
    return Outcome(DEPARTS, kept) if kept else Outcome(kind, text)


def _nearer_than_xla(
    function: Function, type_name: str, number: int, ours: Any, expected: Any
) -> bool:
    """Whether f64 says that ours is no further off than XLA's result."""
    if type_name != "f32":
        return False
    with _precision("f64"):
        sample = samples(function, Arrays("f64"))[number]
        exact = jax.tree_util.tree_leaves(jax.jit(sample.program)(*sample.arrays))
    ours, expected = jax.tree_util.tree_leaves(ours), jax.tree_util.tree_leaves(expected)
    return all(_error(a, e) <= _error(x, e) for a, x, e in zip(ours, expected, exact, strict=True))


def _error(actual: Any, exact: Any) -> float:
    """The greatest difference. Infinite where NaNs or infinities are not at the same places."""
    a, e = (np.asarray(as_numpy(v), np.float64) for v in (actual, exact))
    same = (a == e) | (np.isnan(a) & np.isnan(e))
    with np.errstate(invalid="ignore"):
        return float(np.max(np.where(same, 0, np.nan_to_num(abs(a - e), nan=np.inf)), initial=0))


def _first_line(error: Exception) -> str:
    """Without the place in the source, which here is a file of this test."""
    text = error.message if isinstance(error, ccodegen.CcodegenError) else str(error)
    return text.strip().partition("\n")[0][:200]
