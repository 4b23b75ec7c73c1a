"""Whether a result agrees with XLA's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax import tree_util

# Over the expected value, or over that of the larger ones where it is smaller: it may be what is
# left of a difference. XLA's own error against f64 is of this size: its functions differ from ours
# by a few units in the last place, and reductions run in other orders.
_RELATIVE = {"f": {2: 4e-3, 4: 4e-5, 8: 1e-10}, "c": {8: 4e-5, 16: 1e-10}, "V": {1: 0.1, 2: 4e-2}}
_LARGER = 0.75  # of the numbers but zeros, so many are smaller


@dataclass(frozen=True)
class Difference:
    """Of two results; `text` is empty where they agree. `size`: the greatest, over the expected
    value; infinite where one of both is so, or shapes, types or structures differ."""

    text: str = ""
    size: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.text)


def difference(ours: Any, theirs: Any, slack: float = 1.0) -> Difference:
    """The first leaf that differs. `slack`: more than 1 for ill-conditioned functions."""
    mine, expected = tree_util.tree_leaves(ours), tree_util.tree_leaves(theirs)
    wanted = str(tree_util.tree_structure(theirs))
    if (structure := str(tree_util.tree_structure(ours))) != wanted:
        return Difference(f"structure {structure} instead of {wanted}", float("inf"))
    pairs = ((as_numpy(a), as_numpy(e)) for a, e in zip(mine, expected, strict=True))
    found = (_of_arrays(a, e, slack) for a, e in pairs)
    return next((d for d in found if d), Difference())


def as_numpy(leaf: Any) -> np.ndarray[Any, Any]:
    """An array as NumPy has it; of keys, their data."""
    if isinstance(leaf, jax.Array) and jax.numpy.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        leaf = jax.random.key_data(leaf)
    return np.asarray(leaf)


def _one_infinity(array: Any) -> Any:
    """As in C, a complex number with an infinite part is infinite, whatever the other part is."""
    infinite = np.isinf(array.real) | np.isinf(array.imag)
    return np.where(infinite, np.array(np.inf, array.dtype), array)


def _of_arrays(ours: Any, theirs: Any, slack: float) -> Difference:
    if (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape):
        text = f"{ours.dtype}{list(ours.shape)} instead of {theirs.dtype}{list(theirs.shape)}"
        return Difference(text, float("inf"))
    if theirs.dtype.kind == "c":
        ours, theirs = _one_infinity(ours), _one_infinity(theirs)
    off = _relative(ours, theirs)
    allowed = _RELATIVE.get(theirs.dtype.kind, {}).get(theirs.dtype.itemsize, 0.0) * slack
    if not (wrong := int(np.count_nonzero(off > allowed))):
        return Difference()
    size = float(off.max())
    return Difference(f"{wrong} of {theirs.size} elements, by up to {size:.1e}", size)


def _relative(ours: Any, theirs: Any) -> Any:
    """The difference of each element; infinite where NaNs, infinities or integers are not equal."""
    if theirs.dtype.kind in "iub":
        return np.where(ours == theirs, 0.0, np.inf)
    wide = np.complex128 if np.iscomplexobj(theirs) else np.float64
    a, e = ours.astype(wide), theirs.astype(wide)
    sizes = np.abs(e)
    counted = sizes[np.isfinite(sizes) & (sizes > 0)]
    least = np.quantile(counted, _LARGER, method="nearest") if counted.size else 0.0
    with np.errstate(invalid="ignore", divide="ignore"):
        off = np.abs(a - e) / np.maximum(sizes, least)
    same = (a == e) | (np.isnan(a) & np.isnan(e))
    return np.where(same, 0.0, np.where(np.isnan(off), np.inf, off))
