"""One OpDef per HLO op. Importing this package fills the registry in `hlo.opdef`."""

from ccodegen.ops import (
    batch_norm,
    cholesky,
    convolution,
    dot,
    fft,
    ragged_dot,
    reduce,
    reduce_window,
    rng,
    rng_bit_generator,
    scaled_dot,
    scan,
    select_and_scatter,
    sort,
    topk,
    triangular_solve,
)

__all__ = [
    "batch_norm",
    "cholesky",
    "convolution",
    "dot",
    "fft",
    "ragged_dot",
    "reduce",
    "reduce_window",
    "rng",
    "rng_bit_generator",
    "scaled_dot",
    "scan",
    "select_and_scatter",
    "sort",
    "topk",
    "triangular_solve",
]
