"""LAPACK's tridiagonal and nearly triangular matrices, as JAX calls for them on a CPU:
`lapack_sgtsv_ffi`, `lapack_sgehrd_ffi`, `lapack_ssytrd_ffi` and their kin, and
`tridiagonal_solve_perturbed_ffi`.
"""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction
from ccodegen.ops.backend_config import backend_config_of
from ccodegen.ops.custom_calls.lapack import S32, TYPES, letter, of_types, square_of
from ccodegen.ops.custom_calls.routine import (
    Call,
    matrices_of,
    refusal,
    register_routine,
    require_operand,
)


def gtsv(instruction: Instruction) -> Call:
    """(what is left of the diagonals, x, info) of three diagonals and b."""
    b = matrices_of(instruction, 3, operands=4)
    diagonal = b.array(b.rows)
    for number in range(3):
        require_operand(instruction, number, diagonal)
    return Call(
        f"ccg_gtsv_{b.type.text}",
        "ccg_gtsv.h",
        results=(diagonal, diagonal, diagonal, b.array(b.rows, b.columns), b.array(type=S32)),
        scalars=(b.count, b.rows, b.columns),
        starts=((0, 0), (1, 1), (2, 2), (3, 3)),
    )


def gtsv_perturbed(instruction: Instruction) -> Call:
    """x, of three diagonals and b. It is JAX's own, beside LAPACK's, and has no letter."""
    b = matrices_of(instruction, 3, operands=4)
    for number in range(3):
        require_operand(instruction, number, b.array(b.rows))
    return Call(
        f"ccg_gtsv_perturbed_{b.type.text}",
        "ccg_gtsv.h",
        results=(b.array(b.rows, b.columns),),
        scalars=(b.count, b.rows, b.columns),
        starts=((0, 3),),
        operands=(0, 1, 2),
        work=((b.type, max(1, 3 * b.rows)),),
    )


def gehrd(instruction: Instruction) -> Call:
    """(Hessenberg's form above reflectors, taus, info) of a."""
    a = square_of(instruction)
    config = backend_config_of(instruction)
    low, high = (int(config.get(name, 0)) for name in ("low", "high"))
    if a.rows and not 1 <= low <= high <= a.rows:
        raise refusal(instruction, f"has rows {low} to {high} of {a.rows}")
    return Call(
        f"ccg_gehrd_{a.type.text}",
        "ccg_gehrd.h",
        results=(a.array(a.rows, a.rows), a.array(max(0, a.rows - 1)), a.array(type=S32)),
        scalars=(a.count, a.rows, max(0, low - 1), high),
        starts=((0, 0),),
        work=((a.type, max(1, a.rows)),),
    )


def sytrd(instruction: Instruction) -> Call:
    """(reflectors beside the tridiagonal matrix, its diagonal, its neighbour, taus, info) of a."""
    a = square_of(instruction)
    lower = letter(instruction, "uplo", "LU") == "L"
    real, steps = a.type.component, max(0, a.rows - 1)
    return Call(
        f"ccg_sytrd_{a.type.text}",
        "ccg_gehrd.h",
        results=(
            a.array(a.rows, a.rows),
            a.array(a.rows, type=real),
            a.array(steps, type=real),
            a.array(steps),
            a.array(type=S32),
        ),
        scalars=(a.count, a.rows, int(lower)),
        starts=((0, 0),),
        work=((a.type, max(1, a.rows)),),
    )


for _letter, _type in TYPES.items():
    _hermitian = "hetrd" if _type.is_complex else "sytrd"
    for _name, _plan in {"gtsv": gtsv, "gehrd": gehrd, _hermitian: sytrd}.items():
        register_routine(f"lapack_{_letter}{_name}_ffi", of_types(_plan, _type))
register_routine("tridiagonal_solve_perturbed_ffi", of_types(gtsv_perturbed, *TYPES.values()))
