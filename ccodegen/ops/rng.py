"""rng: numbers of a distribution from a generator that the implementation chooses.

How many it gives follows from the declared shape alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.ops.shape_checks import arrays, require


@dataclass(frozen=True)
class Rng(Attributes):
    """`distribution`: rng_uniform between the operands, or rng_normal of mean and deviation."""

    distribution: str = attr(AttrKind.ENUM)


def check(instruction: Instruction) -> None:
    parameters = arrays("rng", [o.shape for o in instruction.operands])
    (result,) = arrays("rng", [instruction.shape])
    for parameter in parameters:
        require(parameter.rank == 0, f"rng takes scalars, not {parameter}")
        require(
            parameter.element_type is result.element_type
            or (parameter.element_type.is_float and result.element_type.is_float),
            f"rng of {parameter} does not give {result}",
        )


register(OpDef("rng", Rng, arity=(2, 2), check=check))
