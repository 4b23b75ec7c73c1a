"""The interface of a compiled program, as facts that can be stored beside it."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any, TypeAlias

import numpy as np

from ccodegen.hlo.shape import ArrayShape
from ccodegen.loop.ir import Argument, ConstantData, Program
from ccodegen.loop.steps import hook_calls
from ccodegen.support.element_type import HLO_TYPES
from ccodegen.support.hooks import Hook, Request
from ccodegen.support.immutable import frozen

Structure: TypeAlias = "int | tuple[Structure, ...]"
"""Results: the number of an output leaf, or a tuple of such."""


@frozen
class Slot:
    """One pointer: of an argument, a result, or both (see loop.Argument), or of a constant.

    `type` and `shape` are those of the memory; `logical` is the HLO shape with its layout, where
    the caller's array is not simply that: `f32[2,3]{0,1}`. `initial`: first elements of state that
    the executable keeps; `size_of`: what it is the size of (see loop.Argument for both).
    """

    name: str
    type: str
    shape: tuple[int, ...]
    parameter: int | None = None
    output: int | None = None
    logical: str = ""
    initial: tuple[int, ...] = ()
    size_of: tuple[int, ...] = ()

    @functools.cached_property
    def dtype(self) -> np.dtype[Any]:
        return HLO_TYPES[self.type].dtype

    @property
    def bytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    @functools.cached_property
    def layout(self) -> ArrayShape | None:
        """What `logical` says."""
        if not self.logical:
            return None
        from ccodegen.hlo.text.shapes import shape_from_text  # brings all of HLO's text

        shape = shape_from_text(self.logical)
        return shape if isinstance(shape, ArrayShape) else None

    def as_logical(self) -> Slot:
        """The slot of the caller's array."""
        if self.layout is None:
            return self
        own = self.layout
        return replace(self, type=own.element_type.text, shape=own.dimensions, logical="")

    def __str__(self) -> str:
        return f"{self.type}[{','.join(map(str, self.shape))}]"


@frozen
class Ask:
    """A hook that the program asks for, see support.hooks.Request; `origin`: the instruction."""

    hook: str
    text: str
    channel: int
    origin: str

    @property
    def request(self) -> Request:
        return Request(Hook(self.hook), self.text, channel=self.channel)


@frozen
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
    asks: tuple[Ask, ...] = ()

    @property
    def inputs(self) -> list[Slot]:
        """What a call takes, by parameter number."""
        taken = [s for s in self.arguments if s.parameter is not None and not s.initial]
        return sorted(taken, key=lambda slot: slot.parameter or 0)

    @property
    def outputs(self) -> list[Slot]:
        """What a call returns, by output number."""
        returned = [s for s in self.arguments if s.output is not None and not s.initial]
        return sorted(returned, key=lambda slot: slot.output or 0)

    def as_logical(self) -> Signature:
        """The signature of the caller's arrays."""
        return replace(self, arguments=tuple(slot.as_logical() for slot in self.arguments))

    def to_json(self) -> str:
        return json.dumps(asdict(self))


def signature_of(
    program: Program, external: Sequence[ConstantData], structure: Structure | None
) -> Signature:
    arguments = tuple(map(_slot, program.arguments))
    returned = [s for s in arguments if not s.initial and not s.size_of]
    leaves = sorted(s.output for s in returned if s.output is not None)
    default: Structure = leaves[0] if len(leaves) == 1 else tuple(leaves)
    return Signature(
        arguments,
        tuple(_slot(Argument(c.buffer.name, c.buffer)) for c in external),
        program.arena_size,
        program.alignment,
        sum(constant.buffer.bytes for constant in program.constants),
        default if structure is None else structure,
        asks=tuple(
            Ask(call.request.hook.value, call.request.text, call.request.channel, call.origin)
            for call in hook_calls(program.steps)
        ),
    )


def from_json(text: str) -> Signature:
    """What `to_json` wrote. Raises ValueError, KeyError or TypeError for anything else."""
    facts = json.loads(text)
    for field in ("arguments", "external"):
        facts[field] = tuple(map(_slot_from, facts[field]))
    facts["structure"] = _tuples(facts["structure"])
    facts["asks"] = tuple(Ask(**ask) for ask in facts["asks"])
    return Signature(**facts)


def _slot_from(facts: dict[str, Any]) -> Slot:
    lists = {name: tuple(facts[name]) for name in ("shape", "initial", "size_of")}
    return Slot(**{**facts, **lists})


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


def _slot(argument: Argument) -> Slot:
    buffer, roles = argument.buffer, (argument.parameter, argument.output)
    rest = (argument.initial, argument.size_of)
    shape = (buffer.type.text, buffer.dimensions)
    return Slot(argument.name, *shape, *roles, argument.logical, *rest)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
