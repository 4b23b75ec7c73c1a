"""An instruction's attributes with their type."""

from __future__ import annotations

from typing import TypeVar

from ccodegen.hlo.attributes import Attributes
from ccodegen.hlo.ir import Instruction

A = TypeVar("A", bound=Attributes)


def attributes_of(instruction: Instruction, kind: type[A]) -> A:
    """The attributes, which are of this class."""
    assert isinstance(instruction.attributes, kind), instruction
    return instruction.attributes
