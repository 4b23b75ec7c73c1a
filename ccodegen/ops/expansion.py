"""The reference of ops that are defined by what they expand to (OpDef.expand)."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.ops.build import derived
from ccodegen.ops.creation import Parameter
from ccodegen.support.errors import InternalError


def evaluate_expanded(evaluator: Any, instruction: Instruction, *values: Any) -> Any:
    """The value of what the instruction expands to."""
    return evaluator.call(_expanded(instruction), *values)


@functools.lru_cache(maxsize=1024)
def _expanded(instruction: Instruction) -> Computation:
    """A computation of the operands, made once for an instruction in a loop."""
    expand = opdef.get(instruction.op).expand
    if expand is None:
        raise InternalError(f"{instruction.op} expands to nothing", instruction.location)
    parameters = tuple(
        derived(o, "parameter", o.shape, (), Parameter(n))
        for n, o in enumerate(instruction.operands)
    )
    alone = replace(instruction, operands=parameters, control_predecessors=())
    return Computation(f"expanded_{instruction.op}", parameters, expand(alone))
