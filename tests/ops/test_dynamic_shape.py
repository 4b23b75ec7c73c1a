"""Values of dynamic shape: the evaluator at actual sizes, and the same at the bounds."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import ccodegen.ops  # noqa: F401  (fills the registry)
from ccodegen.hlo.dynamic import dynamic_dimensions, is_dynamic
from ccodegen.hlo.evaluate import evaluate, value_leaves
from ccodegen.hlo.ir import Module
from ccodegen.hlo.verify import verify
from ccodegen.passes.context import PassContext
from ccodegen.passes.pad_dynamic import pad_dynamic
from tests.ops.dynamic_programs import PROGRAMS
from tests.passes.checking import assert_same_bits, random_array
from tests.three_ways import check, module_of

Array = np.ndarray[Any, Any]


def arguments_of(module: Module, random: np.random.Generator) -> list[Array]:
    """Arrays, and numbers from below zero to above all bounds for the sizes."""
    arrays = []
    for parameter in module.entry.parameters:
        shape = parameter.array_shape
        array = random_array(shape, random)
        if not shape.rank:
            array = np.asarray(random.integers(-1, 8), shape.element_type.dtype)
        arrays.append(array)
    return arrays


def at_the_bounds(module: Module, arguments: list[Array]) -> list[Array]:
    """The results after the pass, cut to the sizes that it returns."""
    padded = pad_dynamic(module, PassContext(strict=True))
    assert not is_dynamic(padded)
    verify(padded, mixed_precision=False)
    found = list(value_leaves(evaluate(padded, *arguments)))
    dimensions = dynamic_dimensions([module.entry.root.shape])
    count = len(found) - len(dimensions)
    for (leaf, dimension), size in zip(dimensions, found[count:], strict=True):
        found[leaf] = found[leaf].take(range(int(size)), dimension)
    return found[:count]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_bounds_give_what_the_actual_sizes_give(name: str) -> None:
    module = module_of(PROGRAMS[name])
    random = np.random.default_rng(1)
    for _ in range(12):
        arguments = arguments_of(module, random)
        expected = value_leaves(evaluate(module, *arguments))
        for a, b in itertools.zip_longest(expected, at_the_bounds(module, arguments)):
            assert_same_bits(a, b)


@pytest.mark.parametrize("name", PROGRAMS)
def test_three_ways(name: str) -> None:
    module = module_of(PROGRAMS[name])
    check(module, *arguments_of(module, np.random.default_rng(2)), strict=True)
