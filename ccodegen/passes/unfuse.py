"""Takes the input's fusions apart, so that our own fusion decides."""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction, Module
from ccodegen.ops.control import Fusion
from ccodegen.passes.context import PassContext
from ccodegen.passes.flatten_calls import expand_calls
from ccodegen.passes.inline import Inlined, inline


def unfuse(module: Module, context: PassContext) -> Module:
    """`%z = fusion(%x), kind=kLoop, calls=%f` → the instructions of `%f`.

    A fusion means what its computation means, whatever its kind and backend_config.
    """
    return expand_calls(module, _expansion, context.inlining_limit)


def _expansion(instruction: Instruction) -> Inlined | None:
    if not isinstance(instruction.attributes, Fusion):
        return None
    callee = instruction.attributes.calls
    return inline(callee, instruction.operands, instruction.control_predecessors)
