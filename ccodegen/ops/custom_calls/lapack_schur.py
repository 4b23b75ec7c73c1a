"""LAPACK's eigenvalues of matrices that are not Hermitian, as JAX calls for them on a CPU:
`lapack_sgeev_ffi`, `lapack_sgees_ffi` and their kin.
"""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction
from ccodegen.ops.custom_calls.lapack import S32, TYPES, letter, of_types, square_of
from ccodegen.ops.custom_calls.routine import Array, Call, Matrices, register_routine
from ccodegen.support.element_type import ElementType
from ccodegen.support.errors import UnsupportedError

_COMPLEX = {ElementType.F32: ElementType.C64, ElementType.F64: ElementType.C128}


def geev(instruction: Instruction) -> Call:
    """(eigenvalues, left eigenvectors, right eigenvectors, info) of a."""
    a = square_of(instruction)
    n, kind = a.rows, _COMPLEX.get(a.type, a.type)
    left, right = (letter(instruction, f"compute_{s}", "NV") == "V" for s in ("left", "right"))
    vectors = a.array(n, n, type=kind)
    return Call(
        f"ccg_geev_{a.type.text}",
        "ccg_geev.h",
        results=(*_values(a), vectors, vectors, a.array(type=S32)),
        scalars=(a.count, n, int(left), int(right)),
        operands=(0,),
        work=((a.type, max(1, 2 * n * n + 2 * n)), (kind, max(1, n))),
    )


def gees(instruction: Instruction) -> Call:
    """(Schur's form, its vectors, eigenvalues, 0, info) of a."""
    a = square_of(instruction)
    if letter(instruction, "sort", "NS") == "S":
        raise UnsupportedError("Schur's form in an order of the caller's", instruction.location)
    square, number = a.array(a.rows, a.rows), a.array(type=S32)
    return Call(
        f"ccg_gees_{a.type.text}",
        "ccg_gees.h",
        results=(square, square, *_values(a), number, number),
        scalars=(a.count, a.rows),
        starts=((0, 0),),
        work=((a.type, max(1, 2 * a.rows)),),
    )


def _values(a: Matrices) -> tuple[Array, ...]:
    """Eigenvalues; of a real matrix real and imaginary parts."""
    values = a.array(a.rows)
    return (values,) if a.type.is_complex else (values, values)


for _letter, _type in TYPES.items():
    for _name, _plan in {"geev": geev, "gees": gees}.items():
        register_routine(f"lapack_{_letter}{_name}_ffi", of_types(_plan, _type))
