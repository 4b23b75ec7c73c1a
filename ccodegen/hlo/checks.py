"""What the parser, the builder and the verifier all ask of an instruction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, fields
from functools import lru_cache
from typing import Any

from ccodegen.hlo.attributes import Attributes
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import OpDef
from ccodegen.hlo.shape import Shape
from ccodegen.support.errors import CcodegenError, InputError
from ccodegen.support.location import Location
from ccodegen.support.naming import counted


@contextmanager
def located(location: Location | None) -> Iterator[None]:
    """Gives errors raised inside this location, where they have none."""
    try:
        yield
    except CcodegenError as error:
        error.location = error.location or location
        raise


def check_arity(definition: OpDef, count: int) -> None:
    """Raises InputError where the op does not take this many operands."""
    least, most = definition.arity
    if count >= least and (most is None or count <= most):
        return
    wanted = counted(least if most is None else most, "operand")
    if most != least:
        wanted = f"at least {wanted}" if most is None else f"{least} to {wanted}"
    raise InputError(f"{definition.opcode} takes {wanted}, not {count}")


def make_attributes(definition: OpDef, values: Mapping[str, Any]) -> Attributes:
    """The op's attributes from values by field name. Raises InputError where one is missing."""
    for field_name, spelling in _required(definition.attributes):  # type: ignore[arg-type]
        if field_name not in values:
            raise InputError(f"{definition.opcode} needs the attribute '{spelling}'")
    return definition.attributes(**values)


@lru_cache(maxsize=256)
def _required(attributes: type[Attributes]) -> tuple[tuple[str, str], ...]:
    spellings = {name: spelling for spelling, (name, _) in attributes.spelled().items()}
    return tuple(
        (f.name, spellings.get(f.name, f.name))
        for f in fields(attributes)
        if f.default is MISSING and f.default_factory is MISSING
    )


def inferred_shape(
    definition: OpDef, operands: tuple[Instruction, ...], attributes: Attributes
) -> Shape:
    """The result shape. Raises InputError where operands do not fit or the op does not say it."""
    if definition.infer is None:
        message = f"the result shape of {definition.opcode} does not follow from its operands"
        raise InputError(message, hint="write the shape before the opcode")
    return definition.infer(taken_shapes(definition, operands, attributes), attributes)


def taken_shapes(
    definition: OpDef, operands: tuple[Instruction, ...], attributes: Attributes
) -> tuple[Shape, ...]:
    """The operands' shapes, in the precision in which the op takes them."""
    shapes = tuple(o.shape for o in operands)
    return definition.takes(shapes, attributes) if definition.takes else shapes
