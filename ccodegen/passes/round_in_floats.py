"""What is rounded, becomes a small integer and then a float again is a float all along."""

from __future__ import annotations

from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.rewrite import rewrite_with_old, transform_computations
from ccodegen.loop.operators import ROUNDING
from ccodegen.ops.build import converted, derived, elementwise, splat
from ccodegen.ops.elementwise import Compare
from ccodegen.passes.constants import PLAIN_FLOATS, integer_range, uniform
from ccodegen.passes.context import PassContext
from ccodegen.support.element_type import ElementType

_LIMITING = frozenset({"clamp", "maximum", "minimum"})


def round_in_floats(module: Module, context: PassContext) -> Module:
    """`convert(s8 convert(f32 round-nearest-even(%x)))` → `clamp(-128, round-nearest-even(%x),
    127)`, and 0 for NaN and -0, as models do that are trained for integers.

    Compilers take as many elements at a time as fill a vector with the narrowest type, and find
    none in short loops. Not on processors without vectors.
    """
    if not context.has_vectors:
        return module
    return transform_computations(module, _rewritten)


def _rewritten(computation: Computation) -> Computation:
    kept = {computation.root, *computation.side_roots}

    def visit(old: Instruction, new: Instruction) -> Instruction:
        if not _is_from_integer(new):
            return new
        users = computation.users[old.operands[0]]
        in_passing = old.operands[0] not in kept and all(map(_is_from_integer, users))
        return _limited(new) if in_passing and _is_whole(new.operands[0].operands[0]) else new

    return rewrite_with_old(computation, visit)


def _is_from_integer(value: Instruction) -> bool:
    """Whether it is a float made of a small integer that was a float which has its limits."""
    if value.op != "convert" or value.operands[0].op != "convert":
        return False
    (integer,) = value.operands
    source, to = integer.operands[0].array_shape.element_type, value.array_shape.element_type
    narrow = integer.array_shape.element_type
    most_bits = 8 if source.bytes < 4 else 16  # of which the source has all numbers
    is_small = narrow.is_integer and narrow.bits <= most_bits
    return is_small and source in PLAIN_FLOATS and to.is_float


def _is_whole(value: Instruction) -> bool:
    """Whether all elements are whole numbers, infinite or NaN."""
    if value.op in _LIMITING:
        return all(map(_is_whole, value.operands))
    number = uniform(value)
    return value.op in ROUNDING or (number is not None and float(number).is_integer())


def _limited(value: Instruction) -> Instruction:
    """A float made of an integer, without that."""
    (integer,) = value.operands
    (whole,) = integer.operands
    shape = whole.array_shape
    low, high = (
        splat(value, end, shape) for end in integer_range(integer.array_shape.element_type)
    )
    zero = splat(value, 0, shape)
    limited = elementwise(whole, "clamp", low, whole, high)
    predicate = shape.with_type(ElementType.PRED)
    operands = (elementwise(whole, "abs", whole), zero)
    is_other = derived(value, "compare", predicate, operands, Compare("GT"))
    result = elementwise(whole, "select", is_other, limited, zero)
    return converted(value, result, value.array_shape.element_type)
