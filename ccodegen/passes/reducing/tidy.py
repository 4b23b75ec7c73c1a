"""How simple a module is, and a module without what no fault needs."""

from __future__ import annotations

from dataclasses import replace

from ccodegen.hlo.effects import has_side_effect
from ccodegen.hlo.ir import NO_METADATA, Computation, Instruction, Module, post_order
from ccodegen.hlo.rewrite import map_computations, rewrite_computation
from ccodegen.hlo.shape import ArrayShape, leaves
from ccodegen.ops.creation import Parameter

_WEIGHTS = {"parameter": 1, "constant": 1, "get-tuple-element": 1, "tuple": 1}
_OTHER = 4


def cost(module: Module) -> tuple[int, int, int]:
    """Less is simpler: instructions, weighted; elements of all arrays; length of the text."""
    instructions = [i for c in module.computations for i in c.instructions]
    arrays = [s for i in instructions for s in leaves(i.shape) if isinstance(s, ArrayShape)]
    weights = (_WEIGHTS.get(i.op, _OTHER) for i in instructions)
    return sum(weights), sum(s.size for s in arrays), len(module.to_text())


def tidy(module: Module) -> Module:
    """Without metadata, annotations, aliases, dead code and parameters that nobody reads."""
    plain = map_computations(module, _plain)
    entry = _without_unread_parameters(plain.entry)
    return Module("reduced", entry)


def _plain(computation: Computation, callees: dict[Computation, Computation]) -> Computation:
    def visit(instruction: Instruction) -> Instruction:
        return replace(
            instruction, metadata=NO_METADATA, annotations=(), location=None, name=instruction.op
        )

    kept = tuple(r for r in computation.side_roots if has_side_effect(r))
    return rewrite_computation(replace(computation, side_roots=kept), visit, callees)


def _without_unread_parameters(entry: Computation) -> Computation:
    read = set(post_order((*entry.side_roots, entry.root)))
    kept = [p for p in dict.fromkeys(entry.parameters) if p in read]
    numbers = {p: n for n, p in enumerate(kept)}
    numbered = replace(entry, parameters=tuple(kept))

    def visit(instruction: Instruction) -> Instruction:
        if instruction.op != "parameter":
            return instruction
        number = numbers[instruction]
        return replace(instruction, attributes=Parameter(number), name=f"p{number}")

    return rewrite_computation(numbered, visit)
