"""Writes products of complex matrices as four of real ones, for which there are register tiles."""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.ops.build import derived, is_static
from ccodegen.ops.contraction import contraction
from ccodegen.passes.context import PassContext
from ccodegen.support.decisions import decided

_LEAST_WORK = 1 << 14  # products: less is not worth taking matrices apart
_LEAST_LINES, _LEAST_DEPTH = 2, 32


def split_complex(module: Module, context: PassContext) -> Module:
    """`dot(%x, %y)` of complex numbers → `complex(dot(real x, real y) - dot(imag x, imag y),
    dot(real x, imag y) + dot(imag x, real y))`.

    The order of sums changes: not in strict mode. Not on processors without vectors.
    """
    if context.strict or not context.has_vectors:
        return module
    return rewrite_module(module, _visit)


def _visit(instruction: Instruction) -> Instruction:
    operands = instruction.operands
    if instruction.op != "dot" or not is_static(instruction) or instruction.control_predecessors:
        return instruction
    types = {o.array_shape.element_type for o in (instruction, *operands)}
    if len(types) > 1 or not instruction.array_shape.element_type.is_complex:
        return instruction
    m, n, k = contraction(instruction).sizes
    if min(m, n) < _LEAST_LINES or k < _LEAST_DEPTH or m * n * k < _LEAST_WORK:
        return instruction
    decided(instruction.name, "as four real products", f"{m} × {n} sums of {k} products")
    return _split(instruction)


def _split(origin: Instruction) -> Instruction:
    shape = origin.array_shape
    real = shape.with_type(shape.element_type.component)

    def part(op: str, number: int) -> Instruction:
        operand = origin.operands[number]
        own = operand.array_shape.with_type(real.element_type)
        return derived(origin, op, own, (operand,))

    def product(left: str, right: str) -> Instruction:
        return derived(origin, "dot", real, (part(left, 0), part(right, 1)), origin.attributes)

    ends = product("real", "real"), product("imag", "imag")
    crossed = product("real", "imag"), product("imag", "real")
    parts = derived(origin, "subtract", real, ends), derived(origin, "add", real, crossed)
    return derived(origin, "complex", shape, parts)
