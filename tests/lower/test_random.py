"""Random modules three ways: exact ones in default mode, all kinds to the bit in strict mode.

More with CCODEGEN_FULL=1.
"""

from __future__ import annotations

import os

import numpy as np
import pytest

from ccodegen.hlo.ir import Module
from ccodegen.hlo.shape import leaves
from tests.c_library import CLibrary
from tests.passes.checking import random_arguments
from tests.random_modules import random_module
from tests.three_ways import Array, Case, plain_target, prepare

COUNT = 1000 if os.environ.get("CCODEGEN_FULL") == "1" else 30


@pytest.mark.parametrize("first", [0, 50_000])
def test_exact_modules_in_default_mode(first: int) -> None:
    run(range(first, first + COUNT), exact=True, strict=False)


@pytest.mark.parametrize("first", [100_000, 150_000])
def test_strict_mode_keeps_the_bits(first: int) -> None:
    run(range(first, first + COUNT), exact=False, strict=True)


def run(seeds: range, exact: bool, strict: bool) -> None:
    for start in range(seeds.start, seeds.stop, 30):
        batch = seeds[start - seeds.start :][:30]
        prepared = [prepare(case(seed, exact, strict), plain_target()) for seed in batch]
        programs = [p.built.program for p in prepared]
        library = CLibrary(programs, plain_target(), strict)
        for number, (seed, one) in enumerate(zip(batch, prepared, strict=True)):
            one.interpret()
            one.compare(library.run(number, one.case.arguments), f"seed {seed} compiled")


def case(seed: int, exact: bool, strict: bool) -> Case:
    module = random_module(seed, exact)
    random = np.random.default_rng(seed)
    arguments = tuple(random_arguments(module, random))
    if exact:
        arguments = tuple(small_integers(a, random) for a in arguments)
    donate = donatable(module) if seed % 3 == 0 else ()
    return Case(module, arguments, strict, donate)


def small_integers(array: Array, random: np.random.Generator) -> Array:
    least = 0 if array.dtype.kind in "ub" else -2
    return np.asarray(random.integers(least, 3, array.shape)).astype(array.dtype)


def donatable(module: Module) -> tuple[int, ...]:
    """Parameters that have an output of their own shape."""
    outputs = list(leaves(module.entry.root.shape))
    found = []
    for number, parameter in enumerate(module.entry.parameters):
        if parameter.shape in outputs:
            outputs.remove(parameter.array_shape)
            found.append(number)
    return tuple(found)
