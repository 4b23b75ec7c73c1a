"""Reduces over what is put together of single elements."""

from __future__ import annotations

import functools

from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.rewrite import rewrite_with_old, transform_computations
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.build import broadcast, reshape
from ccodegen.ops.movement import Concatenate
from ccodegen.ops.reduce import Reduce
from ccodegen.passes.constants import is_value
from ccodegen.passes.context import PassContext
from ccodegen.passes.lift import can_lift, lift
from ccodegen.passes.simple_reduce import operator_of

_MOST_PARTS = 16  # each is code of its own


def reduce_parts(module: Module, context: PassContext) -> Module:
    """`reduce(concatenate(%a, %b), %zero), dimensions={0}` of f32[1,9] → `add(add(%zero, %a), %b)`,
    if nobody else reads the concatenate; a sum from 0 begins with %a, if not strict."""

    def transform(computation: Computation) -> Computation:
        users = computation.users

        def visit(old: Instruction, new: Instruction) -> Instruction:
            if operator_of(new) is None or len(users[old.operands[0]]) > 1:
                return new
            return _one_after_the_other(new, context.strict) or new

        return rewrite_with_old(computation, visit)

    return transform_computations(module, transform)


def _one_after_the_other(reduce: Instruction, strict: bool) -> Instruction | None:
    concatenate, init = reduce.operands
    parts, attributes = concatenate.operands, reduce.attributes
    if concatenate.op != "concatenate" or len(parts) > _MOST_PARTS:
        return None
    along = attributes_of(concatenate, Concatenate).dimensions
    single = all(part.array_shape.dimensions[d] == 1 for part in parts for d in along)
    if not isinstance(attributes, Reduce) or attributes.dimensions != along or not single:
        return None
    reducer = attributes.to_apply
    if not can_lift(reducer):
        return None
    kept = reduce.array_shape.dimensions
    values = [reshape(reduce, part, kept) for part in parts]
    if strict or reducer.root.op != "add" or not is_value(init, 0.0):
        values.insert(0, broadcast(reduce, init, kept, ()))
    return functools.reduce(lambda total, value: lift(reducer, (total, value)), values)
