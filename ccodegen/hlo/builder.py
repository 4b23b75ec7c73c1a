"""Builds computations by calls: `add = b.op("add", x, y)`. For front ends, passes and tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from ccodegen.hlo import opdef
from ccodegen.hlo.checks import check_arity, inferred_shape, make_attributes
from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.literal import Literal
from ccodegen.hlo.opdef import OpDef
from ccodegen.hlo.shape import ArrayShape, Shape
from ccodegen.hlo.text.order import side_roots
from ccodegen.hlo.text.shapes import shape_from_text
from ccodegen.support.errors import InputError


class Builder:
    """One computation in the making. Shapes are `Shape`s or HLO text such as "f32[2,3]".

    Needs the registry that `import ccodegen.ops` fills.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._parameters: list[Instruction] = []
        self._instructions: list[Instruction] = []

    def parameter(self, shape: Shape | str, name: str = "") -> Instruction:
        """The next parameter."""
        number = len(self._parameters)
        name = name or f"p{number}"
        parameter = self.op("parameter", shape=shape, name=name, number=number)
        self._parameters.append(parameter)
        return parameter

    def constant(self, value: Any, shape: Shape | str | None = None, name: str = "") -> Instruction:
        """A constant from a Literal, an array or a number. `shape` gives its type and broadcasts
        it; without one, the value's own are taken (Python floats: f64)."""
        if shape is not None and not isinstance(value, Literal):
            wanted = _shape(shape)
            if not isinstance(wanted, ArrayShape):
                raise InputError(f"a constant of shape {wanted} needs a Literal")
            array = np.asarray(value).astype(wanted.element_type.dtype)
            value = np.broadcast_to(array, wanted.dimensions)
        literal = value if isinstance(value, Literal) else Literal(value)
        return self.op("constant", shape=literal.shape, name=name, literal=literal)

    def op(
        self,
        opcode: str,
        *operands: Instruction,
        shape: Shape | str | None = None,
        name: str = "",
        annotations: tuple[tuple[str, str], ...] = (),
        **attributes: Any,
    ) -> Instruction:
        """An instruction; attributes by field name, annotations as `Instruction` has them. Without
        `shape` the op's own is inferred.

        Raises InputError for an unknown op, a wrong number of operands, attributes that are
        missing or unknown, and operands that do not fit.
        """
        definition = _definition(opcode)
        check_arity(definition, len(operands))
        known = {field for field, _ in definition.attributes.spelled().values()}
        for attribute in attributes:
            if attribute not in known:
                raise InputError(f"{opcode} has no attribute '{attribute}'")
        made = make_attributes(definition, attributes)
        result = _shape(shape) if shape is not None else inferred_shape(definition, operands, made)
        name = name or f"{opcode}.{len(self._instructions)}"
        instruction = Instruction(
            opcode, result, operands, made, name, annotations=annotations
        )
        self._instructions.append(instruction)
        return instruction

    def build(self, root: Instruction | None = None) -> Computation:
        """The computation; its root is the last instruction where none is given."""
        if not self._instructions:
            raise InputError(f"the computation '{self.name}' has no instructions")
        root = root or self._instructions[-1]
        sides = side_roots(self._instructions, root)
        return Computation(self.name, tuple(self._parameters), root, sides)


def module(entry: Computation, name: str = "") -> Module:
    """A module of this entry and what it calls."""
    return Module(name or entry.name, entry)


def _definition(opcode: str) -> OpDef:
    definition = opdef.find(opcode)
    if definition is None:
        raise InputError(f"unknown opcode '{opcode}'")
    return definition


def _shape(shape: Shape | str) -> Shape:
    return shape_from_text(shape) if isinstance(shape, str) else shape
