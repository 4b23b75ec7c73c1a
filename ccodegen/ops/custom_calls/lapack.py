"""LAPACK's factorisations, as JAX calls them on a CPU: `lapack_spotrf_ffi` and its kin.

Operands and results are batches of matrices: [..., m, n].
"""

from __future__ import annotations

import numpy as np

from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.shape import ArrayShape
from ccodegen.ops.backend_config import backend_config_of
from ccodegen.ops.build import derived
from ccodegen.ops.cholesky_tiles import factor_in_tiles, factor_tile
from ccodegen.ops.custom_call import CustomCallDef, register_custom_call
from ccodegen.ops.custom_calls.routine import (
    Call,
    Matrices,
    Nest,
    Plan,
    copy,
    matrices_of,
    refusal,
    register_routine,
    require_operand,
)
from ccodegen.ops.lowering import NestScope
from ccodegen.ops.triangular_solve import infer
from ccodegen.ops.triangular_system import TriangularSolve
from ccodegen.support.element_type import ElementType

S32 = ElementType.S32
_PANEL = 8  # CCG_PANEL of ccg_linalg.h
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
        work=((a.type, max(1, min(a.rows, _PANEL) * (a.rows + 1))),),
    )


def potrf_in_tiles(scope: NestScope, instruction: Instruction) -> bool:
    """The nest for potrf where register tiles are better."""
    tile, (factor, info) = factor_tile(scope), scope.results
    if tile is None:
        return False
    lower = letter(instruction, "uplo", "LU") == "L"
    copy(scope, scope.operands[0], factor)
    with scope.builder.loops(info.dimensions, "m") as batch:
        failed = factor_in_tiles(scope, tile, lower, batch)
        scope.builder.store(info, batch, scope.builder.load(failed))
    return True


def getrf(instruction: Instruction) -> Call:
    """(l and u, pivots counted from 1, info) of a."""
    a = matrices_of(instruction, 0)
    pivots = a.array(min(a.rows, a.columns), type=S32)
    return Call(
        f"ccg_getrf_{a.type.text}",
        "ccg_getrf.h",
        results=(a.array(a.rows, a.columns), pivots, a.array(type=S32)),
        scalars=(a.count, a.rows, a.columns),
        starts=((0, 0),),
    )


def geqrf(instruction: Instruction) -> Call:
    """(r above reflectors, taus) of a."""
    a = matrices_of(instruction, 0)
    return Call(
        f"ccg_geqrf_{a.type.text}",
        "ccg_geqrf.h",
        results=(a.array(a.rows, a.columns), a.array(min(a.rows, a.columns))),
        scalars=(a.count, a.rows, a.columns),
        starts=((0, 0),),
        work=(_block_work(a, min(a.rows, a.columns)),),
    )


def geqp3(instruction: Instruction) -> Call:
    """(r above reflectors, numbers of columns from 1, taus) of a and of marks of first columns."""
    a = matrices_of(instruction, 0, operands=2)
    numbers = a.array(a.columns, type=S32)
    require_operand(instruction, 1, numbers)
    return Call(
        f"ccg_geqp3_{a.type.text}",
        "ccg_geqrf.h",
        results=(a.array(a.rows, a.columns), numbers, a.array(min(a.rows, a.columns))),
        scalars=(a.count, a.rows, a.columns),
        starts=((0, 0), (1, 1)),
        work=((a.type, max(1, a.columns)),),
    )


def orgqr(instruction: Instruction) -> Call:
    """The first columns of q, of reflectors and taus."""
    a = matrices_of(instruction, 0, operands=2)
    k = _reflectors(instruction, a)
    if not k <= a.columns <= a.rows:
        raise refusal(instruction, f"takes at most as many columns as rows, and {k} or more")
    return Call(
        f"ccg_orgqr_{a.type.text}",
        "ccg_geqrf.h",
        results=(a.array(a.rows, a.columns),),
        scalars=(a.count, a.rows, a.columns, k),
        starts=((0, 0),),
        operands=(1,),
        work=(_block_work(a, k),),
    )


def ormqr(instruction: Instruction) -> Call:
    """q, of reflectors and taus, or its adjoint, times c or c times it."""
    a, c = (matrices_of(instruction, number, operands=3) for number in (0, 2))
    k = _reflectors(instruction, a)
    config = backend_config_of(instruction)
    left, adjoint = bool(config.get("left")), bool(config.get("transpose"))
    order = c.rows if left else c.columns
    require_operand(instruction, 0, c.array(order, a.columns))
    if k > min(order, a.columns):
        raise refusal(instruction, f"has {k} reflectors for matrices of order {order}")
    return Call(
        f"ccg_ormqr_{a.type.text}",
        "ccg_geqrf.h",
        results=(c.array(c.rows, c.columns),),
        scalars=(c.count, c.rows, c.columns, a.columns, k, int(left), int(adjoint)),
        starts=((0, 2),),
        operands=(0, 1),
        work=((c.type, max(1, c.columns)),),
    )


def _block_work(a: Matrices, k: int) -> tuple[ElementType, int]:
    """What blocks of k reflectors need."""
    block = min(_PANEL, k)
    return a.type, max(1, block * (a.rows + a.columns + block))


def _reflectors(instruction: Instruction, a: Matrices) -> int:
    """How many taus there are for each matrix."""
    taus = instruction.operands[1].shape
    k = taus.dimensions[-1] if isinstance(taus, ArrayShape) and taus.rank else 0
    require_operand(instruction, 1, a.array(k))
    return k


def expand_trsm(instruction: Instruction) -> Instruction:
    """`custom-call(a, b), side = L, …` → `triangular-solve(a, b), left_side=true, …`."""
    attributes = TriangularSolve(
        left_side=letter(instruction, "side", "LR") == "L",
        lower=letter(instruction, "uplo", "LU") == "L",
        unit_diagonal=letter(instruction, "diag", "NU") == "U",
        transpose_a=_TRANSPOSES[letter(instruction, "trans_x", "NTC")],
    )
    shape = infer(tuple(o.shape for o in instruction.operands), attributes)
    if shape != instruction.shape:
        raise refusal(instruction, f"has as result {shape}, not {instruction.shape}")
    return derived(instruction, "triangular-solve", shape, instruction.operands, attributes)


_TRANSPOSES = {"N": "NO_TRANSPOSE", "T": "TRANSPOSE", "C": "ADJOINT"}


def of_types(plan: Plan, *types: ElementType) -> Plan:
    """The plan for a target whose first operand has one of these types."""

    def checked(instruction: Instruction) -> Call:
        shapes = [o.shape for o in instruction.operands[:1]]
        if not all(isinstance(s, ArrayShape) and s.element_type in types for s in shapes):
            names = " or ".join(t.text for t in types)
            raise refusal(instruction, f"takes matrices of {names}, not {shapes[0]}")
        return plan(instruction)

    return checked


ROUTINES: dict[str, Plan] = {"getrf": getrf, "potrf": potrf, "geqrf": geqrf, "geqp3": geqp3}
FASTER: dict[str, Nest] = {"potrf": potrf_in_tiles}
REFLECTIONS: dict[str, Plan] = {"gqr": orgqr, "mqr": ormqr}

for _letter, _type in TYPES.items():
    _prefix = "un" if _type.is_complex else "or"
    _plans = {**ROUTINES, **{_prefix + name: plan for name, plan in REFLECTIONS.items()}}
    for _name, _plan in _plans.items():
        register_routine(f"lapack_{_letter}{_name}_ffi", of_types(_plan, _type), FASTER.get(_name))
    register_custom_call(CustomCallDef(f"lapack_{_letter}trsm_ffi", expand=expand_trsm))
