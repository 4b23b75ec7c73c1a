"""Whether a module is what its ops and its interface say."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import TypeAlias

from ccodegen.hlo import opdef
from ccodegen.hlo.checks import check_arity, inferred_shape, located, taken_shapes
from ccodegen.hlo.effects import check_effects
from ccodegen.hlo.ir import Alias, Computation, Instruction, Module
from ccodegen.hlo.limits import check_calls, check_dimensions
from ccodegen.hlo.shape import UNBOUNDED, ArrayShape, Shape, TupleShape, leaves
from ccodegen.support.element_type import ElementType
from ccodegen.support.errors import InputError

Agree: TypeAlias = Callable[[ElementType, ElementType], bool]

# Their result's element type is a choice of the text: it is the type that sums are given in.
DECLARED_TYPE = frozenset(("dot", "ragged-dot", "scaled-dot", "convolution"))
# They hand on values that they do not look at, and so cannot round.
_HANDED_ON = frozenset(
    {
        "add-dependency",
        "async-done",
        "async-update",
        "call",
        "conditional",
        "copy-done",
        "copy-start",
        "domain",
        "fusion",
        "get-tuple-element",
        "opt-barrier",
        "recv-done",
        "send",
        "tuple",
        "while",
    }
)


def verify(module: Module, mixed_precision: bool = True) -> None:
    """Raises InputError, located at the instruction, for the first thing that is wrong.

    Checked are each op's operands, attributes and result shape, parameters, and aliases. Names
    need not be unique, and cycles cannot be: an instruction is made from its operands, control
    predecessors and called computations. `mixed_precision`: an op may be said to give floats of
    another precision than its operands say, as programs may (`passes.settle_types`).
    """
    for computation in module.computations:
        _verify_computation(computation, mixed_precision)
    check_calls(module.computations)
    _verify_aliases(module)


def _verify_computation(computation: Computation, mixed_precision: bool) -> None:
    for number, parameter in enumerate(computation.parameters):
        if parameter.op != "parameter":
            message = f"parameter {number} of '{computation.name}' is the op {parameter.op}"
            raise InputError(message, parameter.location)
        if getattr(parameter.attributes, "number", None) != number:
            message = f"parameter {number} of '{computation.name}' has another number"
            raise InputError(message, parameter.location)
    own = frozenset(computation.parameters)
    for instruction in computation.instructions:
        if instruction.op == "parameter" and instruction not in own:
            message = f"'{instruction.name}' is not a parameter of '{computation.name}'"
            raise InputError(message, instruction.location)
        with located(instruction.location):
            _verify_instruction(instruction, mixed_precision)


def _verify_instruction(instruction: Instruction, mixed_precision: bool) -> None:
    definition = opdef.find(instruction.op)
    if definition is None:
        raise InputError(f"unknown opcode '{instruction.op}'")
    if not isinstance(instruction.attributes, definition.attributes):
        raise InputError(f"'{instruction.name}' does not have the attributes of {instruction.op}")
    check_arity(definition, len(instruction.operands))
    _check_sizes(instruction.shape)
    if definition.infer is not None:
        if not mixed_precision:
            _check_precision(instruction, definition)
        inferred = inferred_shape(definition, instruction.operands, instruction.attributes)
        if not compatible(instruction.shape, inferred, _agreement(instruction.op, mixed_precision)):
            message = f"{instruction.op} gives {inferred}, but '{instruction.name}' is said to be "
            raise InputError(message + str(instruction.shape), hint="mend or drop the shape")
    check_effects(instruction)
    if definition.check is not None:
        definition.check(instruction)


def _check_precision(instruction: Instruction, definition: opdef.OpDef) -> None:
    taken = taken_shapes(definition, instruction.operands, instruction.attributes)
    if any(o.shape != wanted for o, wanted in zip(instruction.operands, taken, strict=True)):
        listed = ", ".join(str(o.shape) for o in instruction.operands)
        raise InputError(f"{instruction.op} takes operands of one precision, not {listed}")


def _check_sizes(shape: Shape) -> None:
    for leaf in leaves(shape):
        if isinstance(leaf, ArrayShape):
            check_dimensions(leaf.dimensions)


def _agreement(op: str, mixed_precision: bool) -> Agree:
    """How near the declared element type of an op's result must come to the inferred one."""
    if op in DECLARED_TYPE:
        return lambda declared, inferred: True
    return operator.is_ if op in _HANDED_ON or not mixed_precision else _same_but_precision


def _same_but_precision(declared: ElementType, inferred: ElementType) -> bool:
    return declared is inferred or (declared.is_float and inferred.is_float)


def compatible(declared: Shape, inferred: Shape, agree: Agree = operator.is_) -> bool:
    """Whether the shapes are the same but for layouts, and for which dimensions are dynamic.

    An unbounded dimension agrees with any. `agree` compares element types.
    """
    if isinstance(declared, TupleShape) and isinstance(inferred, TupleShape):
        return len(declared.elements) == len(inferred.elements) and all(
            compatible(a, b, agree)
            for a, b in zip(declared.elements, inferred.elements, strict=True)
        )
    if isinstance(declared, ArrayShape) and isinstance(inferred, ArrayShape):
        same_type = agree(declared.element_type, inferred.element_type)
        return same_type and _same_sizes(declared.dimensions, inferred.dimensions)
    return declared == inferred


def _same_sizes(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return len(a) == len(b) and all(
        x == y or UNBOUNDED in (x, y) for x, y in zip(a, b, strict=True)
    )


def _verify_aliases(module: Module) -> None:
    location = module.entry.root.location
    seen: set[tuple[object, ...]] = set()
    with located(location):
        for alias in module.aliases:
            _verify_alias(module.entry, alias)
            output = ("output", *alias.output_index)
            parameter = ("parameter", alias.parameter, *alias.parameter_index)
            if output in seen or parameter in seen:
                raise InputError("input_output_alias names a result or a parameter twice")
            seen |= {output, parameter}


def _verify_alias(entry: Computation, alias: Alias) -> None:
    if not 0 <= alias.parameter < len(entry.parameters):
        raise InputError(f"input_output_alias: there is no parameter {alias.parameter}")
    output = _element(entry.root.shape, alias.output_index)
    parameter = _element(entry.parameters[alias.parameter].shape, alias.parameter_index)
    if not _same_memory(output, parameter):
        message = f"the result {output} cannot share memory with the parameter {parameter}"
        raise InputError(f"input_output_alias: {message}")


def _same_memory(a: Shape, b: Shape) -> bool:
    """Whether the values are arrays of one element type and size, if not of one shape."""
    return (
        isinstance(a, ArrayShape)
        and isinstance(b, ArrayShape)
        and a.element_type is b.element_type
        and a.size == b.size
    )


def _element(shape: Shape, index: Iterable[int]) -> Shape:
    for number in index:
        if not isinstance(shape, TupleShape) or not 0 <= number < len(shape.elements):
            raise InputError(f"input_output_alias: {shape} has no element {number}")
        shape = shape.elements[number]
    return shape
