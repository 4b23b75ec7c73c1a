"""Random inputs: of the right types and ranges, the same for the same seed."""

from __future__ import annotations

import numpy as np
import pytest

from ccodegen.random_inputs import random_arrays
from ccodegen.support.element_type import HLO_TYPES, ElementType


@pytest.mark.parametrize("element", HLO_TYPES.values(), ids=str)
def test_every_type_has_values(element: ElementType) -> None:
    (array,) = random_arrays([(element, (50,))])
    assert array.shape == (50,)
    assert array.dtype == element.dtype
    assert element is ElementType.S1 or len(set(array.tolist())) > 1


def test_seeds() -> None:
    kinds = [(HLO_TYPES["f32"], (3, 4)), (HLO_TYPES["s32"], ())]
    first, again, other = (random_arrays(kinds, seed) for seed in (1, 1, 2))
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert (first[0] != other[0]).any()
    assert first[1].shape == ()
