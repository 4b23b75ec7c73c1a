"""rng-bit-generator gives XLA:CPU's bits."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ops.scope import check_lowering

SHAPES = [(), (0,), (1,), (5,), (8,), (2, 3), (3, 2), (3, 5), (3, 3), (3, 4, 2)]


def generator(algorithm: str, state: int, element_type: str, shape: tuple[int, ...]) -> str:
    dims = ",".join(map(str, shape))
    return f"""ENTRY e {{ s = u64[{state}] parameter(0)
  ROOT r = (u64[{state}], {element_type}[{dims}]) rng-bit-generator(s), algorithm={algorithm} }}"""


@pytest.mark.parametrize("algorithm", ["rng_three_fry", "rng_philox", "rng_default"])
@pytest.mark.parametrize("element_type", ["u8", "u16", "u32", "u64"])
def test_bits_are_those_of_xla(algorithm, element_type):
    jax = pytest.importorskip("jax")
    chosen = getattr(jax.lax.RandomAlgorithm, algorithm.upper())
    dtype = np.dtype(element_type.replace("u", "uint"))
    with jax.enable_x64(True):
        for shape in SHAPES:
            state = np.array([2**40 + 7, 2**64 - 2], np.uint64)
            found = check_lowering(generator(algorithm, 2, element_type, shape), state)
            expected = jax.lax.rng_bit_generator(state, shape, dtype=dtype, algorithm=chosen)
            assert np.array_equal(found[0], expected[0]), shape
            assert np.array_equal(found[1], expected[1]), shape


def test_signed_elements_have_the_same_bits():
    state = np.array([3, 4], np.uint64)
    _, signed = check_lowering(generator("rng_philox", 2, "s32", (7,)), state)
    _, unsigned = check_lowering(generator("rng_philox", 2, "u32", (7,)), state)
    assert np.array_equal(signed.view(np.uint32), unsigned)


def test_philox_counts_in_128_bits():
    state = np.array([3, 2**64 - 1, 5], np.uint64)
    after, bits = check_lowering(generator("rng_philox", 3, "u32", (8,)), state)
    assert after.tolist() == [3, 1, 6]
    _, second = check_lowering(
        generator("rng_philox", 3, "u32", (4,)), np.array([3, 0, 6], np.uint64)
    )
    assert np.array_equal(bits[4:], second)
