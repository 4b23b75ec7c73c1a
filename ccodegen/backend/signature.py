"""The interface of a compiled program, as facts that can be stored beside it."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np

from ccodegen.loop.ir import Buffer, ConstantData, Program
from ccodegen.support.element_type import HLO_TYPES

Structure: TypeAlias = "int | tuple[Structure, ...]"
"""Results: the number of an output leaf, or a tuple of such."""


@dataclass(frozen=True)
class Slot:
    """One pointer: of an argument, a result, or both (see loop.Argument), or of a constant."""

    name: str
    type: str
    shape: tuple[int, ...]
    parameter: int | None = None
    output: int | None = None

    @functools.cached_property
    def dtype(self) -> np.dtype[Any]:
        return HLO_TYPES[self.type].dtype

    @property
    def bytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    def __str__(self) -> str:
        return f"{self.type}[{','.join(map(str, self.shape))}]"


@dataclass(frozen=True)
class Signature:
    """Pointers in the order of the table: arguments, then constants passed as data, then the arena.

    Sizes in bytes. `constants` counts all constants, `structure` says how results are nested.
    """

    arguments: tuple[Slot, ...]
    external: tuple[Slot, ...]
    arena_size: int
    alignment: int
    constants: int
    structure: Structure

    @property
    def inputs(self) -> list[Slot]:
        """What a call takes, by parameter number."""
        taken = [slot for slot in self.arguments if slot.parameter is not None]
        return sorted(taken, key=lambda slot: slot.parameter or 0)

    @property
    def outputs(self) -> list[Slot]:
        """What a call returns, by output number."""
        returned = [slot for slot in self.arguments if slot.output is not None]
        return sorted(returned, key=lambda slot: slot.output or 0)

    def to_json(self) -> str:
        return json.dumps(asdict(self))


def signature_of(
    program: Program, external: Sequence[ConstantData], structure: Structure | None
) -> Signature:
    arguments = tuple(_slot(a.buffer, a.name, a.parameter, a.output) for a in program.arguments)
    leaves = sorted(slot.output for slot in arguments if slot.output is not None)
    default: Structure = leaves[0] if len(leaves) == 1 else tuple(leaves)
    return Signature(
        arguments,
        tuple(_slot(constant.buffer, constant.buffer.name) for constant in external),
        program.arena_size,
        program.alignment,
        sum(constant.buffer.bytes for constant in program.constants),
        default if structure is None else structure,
    )


def from_json(text: str) -> Signature:
    """What `to_json` wrote. Raises ValueError, KeyError or TypeError for anything else."""
    facts = json.loads(text)
    for field in ("arguments", "external"):
        slots = ({**slot, "shape": tuple(slot["shape"])} for slot in facts[field])
        facts[field] = tuple(Slot(**slot) for slot in slots)
    facts["structure"] = _tuples(facts["structure"])
    return Signature(**facts)


def nest(structure: Structure, leaf: Callable[[int], Any]) -> Any:
    """The structure with each number replaced by its leaf."""
    if isinstance(structure, int):
        return leaf(structure)
    return tuple(nest(part, leaf) for part in structure)


def leaves(structure: Structure) -> list[int]:
    """The numbers in the structure, left to right."""
    if isinstance(structure, int):
        return [structure]
    return [number for part in structure for number in leaves(part)]


def _slot(
    buffer: Buffer, name: str, parameter: int | None = None, output: int | None = None
) -> Slot:
    return Slot(name, buffer.type.text, buffer.dimensions, parameter, output)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
