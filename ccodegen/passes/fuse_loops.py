"""Loops whose turns make each element of those at its place become fusions, one kernel each."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.rewrite import map_computations, rewrite_computation, rewrite_with_old
from ccodegen.hlo.shape import ArrayShape, Shape, TupleShape
from ccodegen.ops.build import derived, element_of, reshape, tuple_of
from ccodegen.ops.control import Fusion, While
from ccodegen.ops.creation import Parameter
from ccodegen.ops.dynamic_slice import DynamicSlice
from ccodegen.ops.tuples import GetTupleElement
from ccodegen.passes.context import PassContext
from ccodegen.passes.element_loops import is_kernel, row_dimensions
from ccodegen.passes.fuse import control_computations
from ccodegen.passes.fusion_group import is_written_out
from ccodegen.passes.loops import Loop, as_loop, read_after, trip_count
from ccodegen.support.decisions import decided


def fuse_loops(module: Module, context: PassContext) -> Module:
    """Before: `while(tuple(i, x, y))`, whose body makes x and y of i, x and y, elementwise. After:
    `fusion(reshape(x), reshape(y))`, which calls that loop over arrays of one dimension.

    Its kernel takes a block of elements through all turns, while they lie in the first cache, and
    threads that share it meet once. Only computations that run as control flow are looked at.
    """
    control = control_computations(module)

    def fused(
        computation: Computation, callees: dict[Computation, Computation]
    ) -> Computation:
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

        if computation not in control:
            return rewrite_computation(computation, lambda i: i, callees)
        return rewrite_with_old(computation, visit, callees)

    return map_computations(module, fused)


def _fused(loop: Loop, wanted: set[int] | None) -> Instruction:
    """A tuple in the place of the loop, of which only what is wanted has to be right."""
    origin, numbers = loop.instruction, range(len(loop.shapes))
    operands: list[Instruction] = []
    flattened = partial(_flattened, row_dimensions(loop) or ())
    inside = [_inside(loop.initial(n), flattened, operands) for n in numbers]
    init = tuple_of(loop.init, inside)
    condition = rewrite_computation(loop.condition, flattened)
    body = rewrite_computation(loop.body, flattened)
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


def _inside(
    initial: Instruction,
    flattened: Callable[[Instruction], Instruction],
    operands: list[Instruction],
) -> Instruction:
    """What the loop begins with, in the fusion: a constant as it is, else a parameter for one more
    of the operands."""
    scalar = initial.operands[0] if initial.op == "broadcast" else initial
    flat = flattened(initial)
    if is_written_out(scalar) and not scalar.array_shape.dimensions:
        return flat
    operands.append(reshape(initial, initial, flat.array_shape.dimensions))
    return derived(initial, "parameter", flat.shape, (), Parameter(len(operands) - 1))


def _flattened(row: tuple[int, ...], instruction: Instruction) -> Instruction:
    """The same of rows of one dimension."""
    if len(row) < 2:
        return instruction
    new = replace(instruction, shape=_flat(row, instruction.shape))
    if new.op == "dynamic-slice":
        sizes = DynamicSlice(new.array_shape.dimensions)
        return replace(new, operands=new.operands[:3], attributes=sizes)
    return replace(new, operands=new.operands[:4]) if new.op == "dynamic-update-slice" else new


def _flat(row: tuple[int, ...], shape: Shape) -> Shape:
    if isinstance(shape, TupleShape):
        return TupleShape(tuple(_flat(row, element) for element in shape.elements))
    if not isinstance(shape, ArrayShape):
        return shape
    if shape.dimensions == row:
        return shape.with_dimensions((shape.size,))
    if shape.dimensions[1:] == row:
        return shape.with_dimensions((shape.dimensions[0], math.prod(row)))
    return shape
