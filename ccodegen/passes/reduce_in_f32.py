"""Makes reduces of f16 and bf16 in f32, which vectors hold."""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.ops.build import converted, derived, is_static, reducer
from ccodegen.ops.fold import operator_name
from ccodegen.ops.reduce import Reduce
from ccodegen.passes.context import PassContext
from ccodegen.support.element_type import ElementType

_NARROW = (ElementType.F16, ElementType.BF16)
_EXACT = ("maximum", "minimum")
_ROUNDED = ("add", "multiply")


def reduce_in_f32(module: Module, context: PassContext) -> Module:
    """`reduce(%x, %z)` of a bf16[1000] by add → `convert(reduce(convert(%x), convert(%z)))`.

    An extremum is the same number. A sum is rounded once instead of each time: not in strict mode.
    Not on processors without vectors, which would gain nothing.
    """
    if not context.has_vectors:
        return module
    operators = _EXACT if context.strict else (*_EXACT, *_ROUNDED)
    return rewrite_module(module, lambda instruction: _widened(instruction, operators))


def _widened(instruction: Instruction, operators: tuple[str, ...]) -> Instruction:
    attributes = instruction.attributes
    if not isinstance(attributes, Reduce) or len(instruction.operands) != 2:
        return instruction
    operator = operator_name(attributes.to_apply)
    parts = (instruction, *instruction.operands, attributes.to_apply.root)
    types = {part.array_shape.element_type for part in parts}
    is_narrow = len(types) == 1 and types <= set(_NARROW)
    if operator not in operators or not is_narrow or not is_static(instruction):
        return instruction
    (narrow,) = types
    wide = ElementType.F32
    result = derived(
        instruction,
        "reduce",
        instruction.array_shape.with_type(wide),
        tuple(converted(instruction, o, wide) for o in instruction.operands),
        Reduce(attributes.dimensions, reducer(operator, wide)),
    )
    return converted(instruction, result, narrow)
