"""Factorisations as JAX calls for them where it writes for a TPU: `Qr`, `LuDecomposition`, `Eigh`,
`ProductOfElementaryHouseholderReflectors`. LAPACK's routines do them here.
"""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction
from ccodegen.ops.backend_config import backend_config_text
from ccodegen.ops.custom_calls.lapack import (
    S32,
    TYPES,
    geqrf,
    of_types,
    orgqr,
    square_of,
)
from ccodegen.ops.custom_calls.routine import Call, matrices_of, refusal, register_routine


def lu_decomposition(instruction: Instruction) -> Call:
    """(l and u, pivots counted from 0, rows of a in their new order) of a."""
    a = matrices_of(instruction, 0)
    pivots = a.array(min(a.rows, a.columns), type=S32)
    return Call(
        f"ccg_lu_decomposition_{a.type.text}",
        "ccg_getrf.h",
        results=(a.array(a.rows, a.columns), pivots, a.array(a.rows, type=S32)),
        scalars=(a.count, a.rows, a.columns),
        starts=((0, 0),),
    )


def eigh(instruction: Instruction) -> Call:
    """(eigenvectors, eigenvalues in ascending order) of a. The backend_config is
    `lower,sort,iterations,tolerance`; only the first matters to our algorithm."""
    a = square_of(instruction)
    lower = backend_config_text(instruction).split(",")[0].strip()
    if lower not in ("0", "1"):
        raise refusal(instruction, f"has '{lower}' as first part of its backend_config, not 0 or 1")
    return Call(
        f"ccg_heevd_{a.type.text}",
        "ccg_heevd.h",
        results=(a.array(a.rows, a.rows), a.array(a.rows, type=a.type.component)),
        scalars=(a.count, a.rows, int(lower), 1),
        starts=((0, 0),),
        work=((S32, max(1, a.count)), (a.type, max(1, 3 * a.rows))),
    )


for _target, _plan in {
    "Eigh": eigh,
    "LuDecomposition": lu_decomposition,
    "ProductOfElementaryHouseholderReflectors": orgqr,
    "Qr": geqrf,
}.items():
    register_routine(_target, of_types(_plan, *TYPES.values()))
