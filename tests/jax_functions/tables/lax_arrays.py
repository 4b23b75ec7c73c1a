"""jax.lax: functions of arrays without control flow, gathers and convolutions."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from tests.jax_functions.arrays import Arrays
from tests.jax_functions.tables import special
from tests.jax_functions.use import Table, Use, use


def _reduction(a: Arrays) -> list[Use]:
    return [use(a(3, 5), (0,)), use(a(2, 3, 4), (0, 2)), use(a(0, 3), (0,)), use(a(4), ())]


def _logical(a: Arrays) -> list[Use]:
    return [use(a.bools(3, 5), (0,)), use(a.ints(3, 5), (0, 1)), use(a.bools(0), (0,))]


def _index_of(a: Arrays) -> list[Use]:
    return [use(a(3, 5), 1, np.int32), use(a(2, 3, 4), 0, np.int32), use(a.special(), 0, np.int32)]


def _shift(a: Arrays) -> list[Use]:
    amounts = a.ints(3, 5, below=40, least=-3)
    return [use(a.ints(3, 5, below=999, least=-999), amounts), use(a(3, 5), a(3, 5))]


def _largest(a: Arrays) -> list[Use]:
    special = a.special()
    return [use(a(3, 9), 4), use(a(40), 5), use(special[special == special], 3)]


_MATRICES = (((1,), (0,)), ((), ()))

TABLE: Table = {
    **dict.fromkeys(["reduce_max", "reduce_min", "reduce_prod", "reduce_sum"], _reduction),
    **dict.fromkeys(["reduce_and", "reduce_or", "reduce_xor"], _logical),
    **dict.fromkeys(["argmax", "argmin"], _index_of),
    **dict.fromkeys(["shift_left", "shift_right_arithmetic", "shift_right_logical"], _shift),
    **dict.fromkeys(["approx_max_k", "approx_min_k"], _largest),
    "top_k": lambda a: [*_largest(a), use(a.special(), 3)],
    **{name: special.TABLE[name] for name in ("betainc", "polygamma", "zeta")},
    "igamma": special.TABLE["gammainc"],
    "igammac": special.TABLE["gammaincc"],
    "igamma_grad_a": special.TABLE["gammainc"],
    "random_gamma_grad": special.TABLE["gammainc"],
    "erf_inv": special.TABLE["erfinv"],
    "batch_matmul": lambda a: [use(a(2, 3, 4), a(2, 4, 5)), use(a(2, 3, 1, 4), a(2, 3, 4, 2))],
    "bitcast_convert_type": lambda a: [
        use(a(3, 5), np.int32),
        use(a(4), np.uint8),
        use(a.ints(3, 2), jnp.float32),
    ],
    "broadcast": lambda a: [use(a(3), (2, 4)), use(a(), (0,))],
    "broadcast_in_dim": lambda a: [use(a(3), (2, 3, 4), (1,)), use(a(1, 3), (2, 3), (0, 1))],
    "broadcast_like": lambda a: [use(a(3), a(2, 3)), use(a(), a(4))],
    "broadcast_shapes": lambda a: [use((3, 1), (4,))],
    "broadcast_to_rank": lambda a: [use(a(3), 3)],
    "broadcasted_iota": lambda a: [use(a.dtype, (3, 5), 1), use(np.int32, (2, 0), 0)],
    "clamp": lambda a: [
        use(-a.positive(3, 5), a(3, 5), a.positive(3, 5)),
        use(a(), a(3, 5), a()),
    ],
    "collapse": lambda a: [use(a(2, 3, 4), 1), use(a(2, 3, 4), 0, 2)],
    "concatenate": lambda a: [use((a(2, 3), a(1, 3)), 0), use((a(2, 3), a(2, 0), a(2, 1)), 1)],
    "convert_element_type": lambda a: [
        use(a.ints(3, 5), a.dtype),
        *(use(a(4) * 9, t) for t in (np.int8, np.uint32, np.bool_, jnp.bfloat16, np.complex64)),
    ],
    "dot": lambda a: [use(a(3, 4), a(4, 5)), use(a(4), a(4))],
    "dot_general": lambda a: [
        use(a(3, 4), a(4, 5), _MATRICES),
        use(a(2, 3, 4), a(2, 5, 4), (((2,), (2,)), ((0,), (0,)))),
        use(a(4, 3, 2), a(2, 3, 5), (((1, 2), (1, 0)), ((), ()))),
        use(a(3, 0), a(0, 2), _MATRICES),
    ],
    "empty": lambda a: [use((3, 5), a.dtype)],
    "expand_dims": lambda a: [use(a(3, 5), (0, 2))],
    "fft": lambda a: [
        use(a(2, 8), lax.FftType.FFT, (8,)),
        use(a(3, 5), lax.FftType.IFFT, (3, 5)),
        use(a(2, 6), lax.FftType.RFFT, (6,)),
        use(a(2, 4), lax.FftType.IRFFT, (6,)),
    ],
    "full": lambda a: [use((3, 5), a()), use((0,), 2, a.dtype)],
    "full_like": lambda a: [use(a(3, 5), 2), use(a(3), a(), shape=(4,))],
    "integer_pow": lambda a: [use(a(3, 5), n) for n in (0, 1, 2, 7)] + [use(a(4), -3)],
    "iota": lambda a: [use(a.dtype, 5), use(np.int32, 0)],
    "pad": lambda a: [
        use(a(3, 5), a(), ((1, 2, 0), (0, 1, 2))),
        use(a(4, 3), a(), ((-1, 2, 1), (0, -1, 0))),
    ],
    "pow": lambda a: [
        use(a.positive(3, 5), a(3, 5)),
        use(a(3, 5), a.ints(3, 5, below=5, least=-4)),
        use(a.special(), np.roll(a.special(), 3)),
    ],
    "ragged_dot": lambda a: [
        use(a(7, 3), a(3, 3, 4), np.array([2, 4, 1], np.int32)),
        use(a(6, 3), a(2, 3, 4), np.array([5, 0], np.int32)),
    ],
    "ragged_dot_general": lambda a: [
        use(
            a(7, 3),
            a(3, 3, 4),
            np.array([2, 4, 1], np.int32),
            lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), [0], [0]),
        ),
        use(
            a(3, 7),
            a(7, 4),
            np.array([2, 4, 1], np.int32),
            lax.RaggedDotDimensionNumbers((((1,), (0,)), ((), ())), [1], []),
        ),
    ],
    "reduce": lambda a: [
        use(a(3, 5), np.zeros((), a.dtype), lax.add, (0,)),
        use(a(3, 5), np.ones((), a.dtype), lambda x, y: x * y, (0, 1)),
        use((a(3, 5), a(3, 5)), (a(), a()), lambda x, y: (x[0] + y[0], x[1] - y[1]), (1,)),
    ],
    "reduce_precision": lambda a: [use(a(3, 5), 5, 10), use(a.special(), 8, 7), use(a(4), 4, 3)],
    "reshape": lambda a: [use(a(3, 4), (2, 6)), use(a(3, 4), (12,), (1, 0)), use(a(1), ())],
    "rev": lambda a: [use(a(3, 5), (0,)), use(a(2, 3, 4), (0, 2))],
    "rng_bit_generator": lambda a: [
        use(a.ints(4).astype(np.uint32), (3, 5)),
        use(a.ints(4).astype(np.uint32), (7,), np.uint8),
        *(
            use(a.ints(4).astype(np.uint32), (6,), np.uint32, algorithm)
            for algorithm in (lax.RandomAlgorithm.RNG_PHILOX, lax.RandomAlgorithm.RNG_THREE_FRY)
        ),
    ],
    "rng_uniform": lambda a: [
        use(a(), a() + 9, (3, 5)).then(lambda x: x.shape),
    ],
    "round": lambda a: [
        use(a(3, 5) * 9),
        use(a.special(), lax.RoundingMethod.TO_NEAREST_EVEN),
        use(np.array([0.5, 1.5, -2.5]).astype(a.dtype), lax.RoundingMethod.AWAY_FROM_ZERO),
    ],
    "scaled_dot": lambda a: [
        use(
            a(2, 4, 64).astype(jnp.float8_e4m3fn),
            a(2, 64, 3).astype(jnp.float8_e4m3fn),
            lhs_scale=a.positive(2, 4, 2).astype(jnp.float8_e8m0fnu),
            rhs_scale=a.positive(2, 2, 3).astype(jnp.float8_e8m0fnu),
            dimension_numbers=(((2,), (1,)), ((0,), (0,))),
            preferred_element_type=a.dtype,
        ),
    ],
    "select": lambda a: [use(a.bools(3, 5), a(3, 5), a(3, 5)), use(a.bools(), a(4), a(4))],
    "select_n": lambda a: [
        use(a.bools(3, 5), a(3, 5), a(3, 5)),
        use(a.ints(4, below=3), a(4), a(4), a(4)),
    ],
    "slice": lambda a: [use(a(3, 5), (0, 1), (2, 5)), use(a(7), (1,), (7,), (3,))],
    "slice_in_dim": lambda a: [use(a(3, 5), 1, 4, axis=1), use(a(7), 0, 7, 2)],
    "sort": lambda a: [
        use(a(3, 5)),
        use(a(3, 5), 0),
        use((a.ints(9, below=3), a(9)), num_keys=2),
        use(a.special()),
    ],
    "sort_key_val": lambda a: [use(a(3, 5), a.ints(3, 5)), use(a.ints(9, below=3), a(9))],
    "split": lambda a: [use(a(6, 2), (1, 3, 2)), use(a(2, 3), (3, 0), axis=1)],
    "squeeze": lambda a: [use(a(1, 3, 1), (0, 2))],
    "stack": lambda a: [use((a(3), a(3))), use((a(2, 3), a(2, 3)), axis=1)],
    "unstack": lambda a: [use(a(3, 5)), use(a(3, 2), axis=1)],
    "tile": lambda a: [use(a(2, 3), (2, 2)), use(a(3), (0,))],
    "transpose": lambda a: [use(a(3, 5), (1, 0)), use(a(2, 3, 4), (1, 2, 0))],
}
