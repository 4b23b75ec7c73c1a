"""Loops whose turns make each element of those at its place become fusions, one kernel each."""

from __future__ import annotations

from dataclasses import replace

from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.rewrite import (
    rewrite_computation,
    rewrite_with_old,
    transform_computations,
)
from ccodegen.hlo.shape import ArrayShape, Shape, TupleShape
from ccodegen.ops.build import derived, element_of, reshape, tuple_of
from ccodegen.ops.control import Fusion, While
from ccodegen.ops.creation import Parameter
from ccodegen.ops.tuples import GetTupleElement
from ccodegen.passes.context import PassContext
from ccodegen.passes.element_loops import is_kernel
from ccodegen.passes.fusion_group import is_written_out
from ccodegen.passes.loops import Loop, as_loop, read_after, trip_count
from ccodegen.support.decisions import decided


def fuse_loops(module: Module, context: PassContext) -> Module:
    """Before: `while(tuple(i, x, y))`, whose body makes x and y of i, x and y, elementwise. After:
    `fusion(reshape(x), reshape(y))`, which calls that loop over arrays of one dimension.

    Its kernel takes a block of elements through all turns, while they lie in the first cache, and
    threads that share it meet once.
    """

    def fused(computation: Computation) -> Computation:
        def visit(old: Instruction, new: Instruction) -> Instruction:
            if isinstance(new.attributes, GetTupleElement) and new.operands[0].op == "tuple":
                return new.operands[0].operands[new.attributes.index]
            loop = as_loop(new)
            turns = None if loop is None else trip_count(loop)
            if loop is None or not turns or not is_kernel(loop, context.has_vectors):
                return new
            why = "each element is made of those at its place"
            decided(new.name, f"is one kernel of {turns} turns", why)
            return _fused(loop, read_after(computation, old))

        return rewrite_with_old(computation, visit)

    return transform_computations(module, fused)


def _fused(loop: Loop, wanted: set[int] | None) -> Instruction:
    """A tuple in the place of the loop, of which only what is wanted has to be right."""
    origin, numbers = loop.instruction, range(len(loop.shapes))
    operands: list[Instruction] = []
    init = tuple_of(loop.init, [_inside(loop.initial(n), operands) for n in numbers])
    condition = rewrite_computation(loop.condition, _flattened)
    body = rewrite_computation(loop.body, _flattened)
    attributes = While(condition, body)
    turned = replace(origin, shape=init.shape, operands=(init,), attributes=attributes)
    made = [n for n in numbers if not loop.is_invariant(n) and (wanted is None or n in wanted)]
    results = tuple_of(origin, [element_of(origin, turned, n) for n in made])
    parameters = tuple(i for i in init.operands if i.op == "parameter")
    nested = Computation(f"{origin.name}_fused", parameters, results)
    fusion = derived(origin, "fusion", results.shape, tuple(operands), Fusion("kLoop", nested))
    after = {
        n: reshape(origin, element_of(origin, fusion, k), loop.initial(n).array_shape.dimensions)
        for k, n in enumerate(made)
    }
    return tuple_of(origin, [after.get(n, loop.initial(n)) for n in numbers])


def _inside(initial: Instruction, operands: list[Instruction]) -> Instruction:
    """What the loop begins with, in the fusion: a constant as it is, else a parameter for one more
    of the operands."""
    scalar = initial.operands[0] if initial.op == "broadcast" else initial
    if is_written_out(scalar) and not scalar.array_shape.dimensions:
        return _flattened(initial)
    size = initial.array_shape.size
    operand = reshape(initial, initial, (size,)) if initial.array_shape.rank else initial
    operands.append(operand)
    number = len(operands) - 1
    return derived(initial, "parameter", operand.shape, (), Parameter(number))


def _flattened(instruction: Instruction) -> Instruction:
    shape = _flat(instruction.shape)
    return instruction if shape == instruction.shape else replace(instruction, shape=shape)


def _flat(shape: Shape) -> Shape:
    """The same elements in arrays of at most one dimension."""
    if isinstance(shape, TupleShape):
        return TupleShape(tuple(map(_flat, shape.elements)))
    if isinstance(shape, ArrayShape) and shape.rank > 1:
        return shape.with_dimensions((shape.size,))
    return shape
