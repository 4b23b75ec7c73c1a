"""Arguments for functions whose signature does not say what they take, a table per subject.

A table is known by the modules it is for; the same name may need other arguments elsewhere.
"""

from __future__ import annotations

from tests.jax_functions.tables import (
    control,
    convolution,
    fourier,
    indexing,
    lax_arrays,
    linalg,
    lists,
    neural,
    numpy_arrays,
    numpy_numbers,
    random,
    reductions,
    special,
)
from tests.jax_functions.use import Maker, Table

_LAX: list[Table] = [lax_arrays.TABLE, control.TABLE, indexing.TABLE, convolution.TABLE]
_BY_MODULE: dict[str, list[Table]] = {
    "jax.numpy": [numpy_arrays.TABLE, numpy_numbers.TABLE, lists.TABLE, reductions.TABLE],
    "jax.numpy.linalg": [linalg.NUMPY],
    "jax.numpy.fft": [fourier.TABLE],
    "jax.scipy.special": [special.TABLE, neural.TABLE],
    "jax.scipy.linalg": [linalg.SCIPY],
    "jax.scipy.signal": [fourier.SIGNAL],
    "jax.random": [random.TABLE],
    "jax.lax": _LAX,
    "jax.lax.linalg": [linalg.LAX],
    "jax.nn": [neural.TABLE],
}


def find(module: str, name: str) -> Maker | None:
    """The maker of a function's arguments, where one is needed."""
    found = (table[name] for table in _BY_MODULE[module] if name in table)
    return next(found, None)
