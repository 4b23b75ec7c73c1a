"""LAPACK's eigenvalues and singular values, as JAX calls them on a CPU: `lapack_ssyevd_ffi` and
its kin.

Operands and results are batches of matrices: [..., m, n].
"""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.shape import ArrayShape, TupleShape
from ccodegen.ops.custom_calls.lapack import S32, TYPES, letter, of_types, square_of
from ccodegen.ops.custom_calls.routine import Call, Matrices, matrices_of, register_routine
from ccodegen.support.errors import UnsupportedError


def heevd(instruction: Instruction) -> Call:
    """(eigenvectors, eigenvalues, info) of a; eigenvectors are zero where mode is N."""
    a = square_of(instruction)
    vectors = letter(instruction, "mode", "VN") == "V"
    lower = letter(instruction, "uplo", "LU") == "L"
    return Call(
        f"ccg_heevd_{a.type.text}",
        "ccg_heevd.h",
        results=(
            a.array(a.rows, a.rows),
            a.array(a.rows, type=a.type.component),
            a.array(type=S32),
        ),
        scalars=(a.count, a.rows, int(lower), int(vectors)),
        starts=((0, 0),),
        work=((a.type, max(1, 3 * a.rows)),),
    )


def gesdd(instruction: Instruction) -> Call:
    """(zeros, singular values, u, vᴴ, info) of a; u and v are zero where mode is N."""
    a = matrices_of(instruction, 0)
    mode = letter(instruction, "mode", "ASNO")
    if mode == "O":
        message = "SVD with mode O, which writes u or v over its operand"
        raise UnsupportedError(message, instruction.location)
    least = min(a.rows, a.columns)
    whole = mode == "A" or (mode == "N" and _has_square_u(instruction, a))
    u_columns, vt_rows = (a.rows, a.columns) if whole else (least, least)
    return Call(
        f"ccg_gesdd_{a.type.text}",
        "ccg_gesdd.h",
        results=(
            a.array(a.rows, a.columns),
            a.array(least, type=a.type.component),
            a.array(a.rows, u_columns),
            a.array(vt_rows, a.columns),
            a.array(type=S32),
        ),
        scalars=(a.count, a.rows, a.columns, u_columns, vt_rows, int(mode != "N")),
        operands=(0,),
        work=((a.type, max(1, a.rows + a.columns + 3 * least)),),
    )


def _has_square_u(instruction: Instruction, a: Matrices) -> bool:
    """Whether all of u and v has room in results that nothing is written to."""
    results = instruction.shape.elements if isinstance(instruction.shape, TupleShape) else ()
    shapes = [r.dimensions for r in results[2:4] if isinstance(r, ArrayShape)]
    return shapes == [(*a.batch, a.rows, a.rows), (*a.batch, a.columns, a.columns)]


for _letter, _type in TYPES.items():
    _prefix = "he" if _type.is_complex else "sy"
    for _name, _plan in {f"{_prefix}evd": heevd, "gesdd": gesdd, "gesvd": gesdd}.items():
        register_routine(f"lapack_{_letter}{_name}_ffi", of_types(_plan, _type))
