"""LAPACK's factorisations, as JAX calls them on a CPU: `lapack_spotrf_ffi` and its kin.

Operands and results are batches of matrices: [..., m, n].
"""

from __future__ import annotations

import numpy as np

from ccodegen.hlo.ir import Instruction
from ccodegen.ops.backend_config import backend_config_of
from ccodegen.ops.custom_calls.routine import (
    Call,
    Matrices,
    Plan,
    matrices_of,
    refusal,
    register_routine,
)
from ccodegen.support.element_type import ElementType

S32 = ElementType.S32
TYPES = {
    "s": ElementType.F32,
    "d": ElementType.F64,
    "c": ElementType.C64,
    "z": ElementType.C128,
}
"""LAPACK's letters for element types."""


def letter(instruction: Instruction, name: str, allowed: str) -> str:
    """An attribute that is one of LAPACK's letters: `uplo = 76 : ui8` → "L".

    Raises InputError where it is none of those allowed.
    """
    value = backend_config_of(instruction).get(name)
    found = chr(int(value)) if isinstance(value, int | np.integer) else ""
    if found not in allowed or not found:
        raise refusal(instruction, f"has {name} = {value}, which is none of {', '.join(allowed)}")
    return found


def square_of(instruction: Instruction, number: int = 0, operands: int = 1) -> Matrices:
    """An operand of square matrices. Raises InputError for others."""
    a = matrices_of(instruction, number, operands)
    if a.rows != a.columns:
        shape = instruction.operands[number].shape
        raise refusal(instruction, f"takes square matrices, not {shape}")
    return a


def potrf(instruction: Instruction) -> Call:
    """(factor, info) of a; the triangle that is not the factor's keeps what a has there."""
    a = square_of(instruction)
    lower = letter(instruction, "uplo", "LU") == "L"
    return Call(
        f"ccg_potrf_{a.type.text}",
        "ccg_potrf.h",
        results=(a.array(a.rows, a.rows), a.array(type=S32)),
        scalars=(a.count, a.rows, int(lower)),
        starts=((0, 0),),
        work=((a.type, max(1, a.rows)),),
    )


ROUTINES: dict[str, Plan] = {"potrf": potrf}

for _letter in TYPES:
    for _name, _plan in ROUTINES.items():
        register_routine(f"lapack_{_letter}{_name}_ffi", _plan)
