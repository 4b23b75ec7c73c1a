"""How far results may be from the reference's, and how far they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import frozen

_NARROW = 0.3  # floats of 8 bits and fewer: one step is up to a quarter of the value
_BY_COMPONENT = {
    ElementType.F64: 1e-12,
    ElementType.F32: 3e-5,
    ElementType.F16: 5e-3,
    ElementType.BF16: 4e-2,
}


def tolerance(element: ElementType, strict: bool) -> float:
    """The greatest difference, over the greatest expected value of the array.

    0 for integers and in strict mode. Otherwise products may be fused with sums, and the order of
    additions may differ: some hundred units in the last place, more than that is a fault.
    """
    if strict or not (element.is_float or element.is_complex):
        return 0.0
    return _BY_COMPONENT.get(element.component, _NARROW)


@frozen
class Comparison:
    """`difference`: the greatest; `limit`: the greatest allowed; `wrong`: elements beyond it."""

    difference: float
    limit: float
    wrong: int

    @property
    def passed(self) -> bool:
        return self.wrong == 0


def compare(actual: Any, expected: Any, relative: float) -> Comparison:
    """Two arrays of equal type and shape. NaN equals NaN, infinities equal only themselves."""
    wide = np.complex128 if np.iscomplexobj(expected) else np.float64
    if np.asarray(expected).dtype.kind in "iub":
        wrong = int(np.count_nonzero(actual != expected))
        return Comparison(float(wrong > 0), 0.0, wrong)
    a, e = np.asarray(actual).astype(wide), np.asarray(expected).astype(wide)
    finite = np.abs(e[np.isfinite(e)])
    limit = relative * float(finite.max(initial=0.0))
    same = (a == e) | (np.isnan(a) & np.isnan(e))
    with np.errstate(invalid="ignore"):
        difference = np.where(same, 0.0, np.abs(a - e))
    wrong = int(np.count_nonzero(~(difference <= limit)))
    worst = float(np.nanmax(difference, initial=0.0))
    return Comparison(worst if wrong == 0 or worst else float("inf"), limit, wrong)
