"""Whether a module is what its ops and its interface say."""

from __future__ import annotations

from collections.abc import Iterable

from ccodegen.hlo import opdef
from ccodegen.hlo.checks import check_arity, inferred_shape, located
from ccodegen.hlo.ir import Alias, Computation, Instruction, Module
from ccodegen.hlo.limits import check_dimensions
from ccodegen.hlo.shape import UNBOUNDED, ArrayShape, Shape, TupleShape, leaves
from ccodegen.support.errors import InputError

# Their result's element type is a choice of the text: it is the type that sums are kept in.
_DECLARED_TYPE = frozenset(("dot", "ragged-dot", "scaled-dot", "convolution"))


def verify(module: Module) -> None:
    """Raises InputError, located at the instruction, for the first thing that is wrong.

    Checked are each op's operands, attributes and result shape, parameters, and aliases. Names
    need not be unique, and cycles cannot be: an instruction is made from its operands, control
    predecessors and called computations.
    """
    for computation in module.computations:
        _verify_computation(computation)
    _verify_aliases(module)


def _verify_computation(computation: Computation) -> None:
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
            _verify_instruction(instruction)


def _verify_instruction(instruction: Instruction) -> None:
    definition = opdef.find(instruction.op)
    if definition is None:
        raise InputError(f"unknown opcode '{instruction.op}'")
    if not isinstance(instruction.attributes, definition.attributes):
        raise InputError(f"'{instruction.name}' does not have the attributes of {instruction.op}")
    check_arity(definition, len(instruction.operands))
    _check_sizes(instruction.shape)
    if definition.infer is not None:
        inferred = inferred_shape(definition, instruction.operands, instruction.attributes)
        if not compatible(instruction.shape, inferred, instruction.op in _DECLARED_TYPE):
            message = f"{instruction.op} gives {inferred}, but '{instruction.name}' is said to be "
            raise InputError(message + str(instruction.shape), hint="mend or drop the shape")
    if definition.check is not None:
        definition.check(instruction)


def _check_sizes(shape: Shape) -> None:
    for leaf in leaves(shape):
        if isinstance(leaf, ArrayShape):
            check_dimensions(leaf.dimensions)


def compatible(declared: Shape, inferred: Shape, any_type: bool = False) -> bool:
    """Whether the shapes are the same but for layouts, and for which dimensions are dynamic.

    An unbounded dimension agrees with any. `any_type`: element types may differ.
    """
    if isinstance(declared, TupleShape) and isinstance(inferred, TupleShape):
        return len(declared.elements) == len(inferred.elements) and all(
            compatible(a, b, any_type)
            for a, b in zip(declared.elements, inferred.elements, strict=True)
        )
    if isinstance(declared, ArrayShape) and isinstance(inferred, ArrayShape):
        same_type = any_type or declared.element_type is inferred.element_type
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
