"""HloComputationProto → Computation.

XLA writes what is used before what uses it: operands before instructions, called computations
before callers. We ask for that order, so a cycle shows as an id that is not defined yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, TypeVar

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import NO_METADATA, Computation, Instruction, Metadata
from ccodegen.hlo.proto.attributes import Source, read_attributes
from ccodegen.hlo.proto.shapes import read_shape
from ccodegen.hlo.proto.sharding import sharding
from ccodegen.hlo.proto.spelling import (
    backend_config,
    booleans,
    frontend_attributes,
    metadata_fields,
    original_value,
    payload,
    statistics,
)
from ccodegen.hlo.shape import Shape
from ccodegen.hlo.stack_frames import StackFrames
from ccodegen.hlo.text.order import parameter_number, side_roots
from ccodegen.hlo.text.strings import quoted
from ccodegen.support.errors import InputError, UnsupportedError
from ccodegen.support.immutable import frozen
from ccodegen.support.location import Location

Defined = TypeVar("Defined")


@frozen
class Surroundings:
    """What the computations of a module share. `schedule`: instruction ids by computation id."""

    file: str
    frames: StackFrames | None = None
    payloads: tuple[bytes, ...] = ()
    schedule: Mapping[int, tuple[int, ...]] = field(default_factory=dict)


def read_computations(
    protos: Iterable[Any], surroundings: Surroundings
) -> dict[int, Computation]:
    """The computations by id, in the proto's order. Raises InputError, naming the instruction."""
    computations: dict[int, Computation] = {}
    for proto in protos:
        if proto.id in computations:
            raise InputError(f"two computations have the id {proto.id}")
        computations[proto.id] = _ComputationReader(computations, surroundings).read(proto)
    return computations


class _ComputationReader:
    """Reads the instructions of one computation, and knows those it has read by id."""

    def __init__(
        self, computations: Mapping[int, Computation], surroundings: Surroundings
    ) -> None:
        self._computations = computations
        self._surroundings = surroundings
        self._instructions: dict[int, Instruction] = {}

    def read(self, proto: Any) -> Computation:
        for instruction_proto in proto.instructions:
            self._add(instruction_proto)
        root = self._instructions.get(proto.root_id)
        if root is None:
            raise InputError(f"the root of computation '{proto.name}' is not defined")
        instructions = self._in_order(proto.id)
        thread = "" if proto.execution_thread == "main" else proto.execution_thread
        return Computation(
            name=proto.name,
            parameters=_parameters(instructions, proto.name),
            root=root,
            side_roots=side_roots(instructions, root),
            execution_thread=thread,
        )

    def _in_order(self, computation_id: int) -> list[Instruction]:
        """The instructions as the schedule has them; as the proto has them where it is silent."""
        scheduled = self._surroundings.schedule.get(computation_id, ())
        known = (i for i in scheduled if i in self._instructions)
        return [self._instructions[i] for i in dict.fromkeys((*known, *self._instructions))]

    def _add(self, proto: Any) -> None:
        location = Location(self._surroundings.file)
        try:
            metadata = read_metadata(proto.metadata, self._surroundings.payloads)
            location = self._location(metadata)
            if proto.id in self._instructions:
                raise InputError(f"its id {proto.id} is another instruction's already")
            self._instructions[proto.id] = self._instruction(proto, metadata, location)
        except (InputError, UnsupportedError) as error:
            message = f"instruction '{proto.name}': {error.message}"
            raise type(error)(message, location, error.hint) from None

    def _location(self, metadata: Metadata) -> Location:
        """Where it stands in the user's program; in the proto's file where nothing says so."""
        if metadata.source_file:
            return Location(metadata.source_file, metadata.source_line)
        frames = self._surroundings.frames
        source = frames.source(metadata.stack_frame_id) if frames else None
        return Location(*source) if source else Location(self._surroundings.file)

    def _instruction(self, proto: Any, metadata: Metadata, location: Location) -> Instruction:
        definition = opdef.find(proto.opcode)
        if definition is None:
            raise InputError(f"there is no op '{proto.opcode}'")
        operands = _look_up(proto.operand_ids, self._instructions, "operand")
        called = _look_up(proto.called_computation_ids, self._computations, "called computation")
        shape = read_shape(proto.shape)
        source = Source(proto, operands, called)
        return Instruction(
            op=proto.opcode,
            shape=shape,
            operands=operands,
            attributes=read_attributes(definition.attributes, source),
            name=proto.name,
            metadata=metadata,
            location=location,
            control_predecessors=_look_up(
                proto.control_predecessor_ids, self._instructions, "control predecessor"
            ),
            annotations=tuple(_annotations(proto, shape, self._surroundings.payloads)),
        )


def _look_up(
    ids: Iterable[int], defined: Mapping[int, Defined], what: str
) -> tuple[Defined, ...]:
    for i in ids:
        if i not in defined:
            raise InputError(f"its {what} {i} is not defined before it")
    return tuple(defined[i] for i in ids)


def _parameters(instructions: Iterable[Instruction], name: str) -> tuple[Instruction, ...]:
    found = [i for i in instructions if i.op == "parameter"]
    found.sort(key=parameter_number)
    if [parameter_number(p) for p in found] != list(range(len(found))):
        raise InputError(f"the parameters of computation '{name}' are not numbered 0, 1, 2, …")
    return tuple(found)


def read_metadata(proto: Any, payloads: Sequence[bytes]) -> Metadata:
    """The metadata; what has no field of its own goes to `other`."""
    named = ("op_type", "op_name", "source_file", "source_line", "stack_frame_id")
    other = tuple(pair for pair in metadata_fields(proto) if pair[0] not in named)
    data = payload(proto.metadata_payload, payloads)
    if data:
        other += (("metadata_payload", quoted(data.decode("utf-8", "surrogateescape"))),)
    metadata = Metadata(**{name: getattr(proto, name) for name in named}, other=other)
    return NO_METADATA if metadata == NO_METADATA else metadata


def _annotations(
    proto: Any, shape: Shape, payloads: Sequence[bytes]
) -> Iterator[tuple[str, str]]:
    """What we carry unread, in the order in which XLA prints it."""
    config = proto.backend_config or payload(proto.backend_config_payload, payloads)
    spelled = {
        "parameter_replication": booleans(proto.parameter_replication.replicated_at_leaf_buffers),
        "sharding": sharding(proto.sharding) if proto.HasField("sharding") else None,
        "frontend_attributes": frontend_attributes(proto.frontend_attributes),
        "origin": original_value(proto.original_value, shape),
        "statistics": statistics(proto.statistics_viz),
        "backend_config": backend_config(config),
    }
    yield from ((name, text) for name, text in spelled.items() if text is not None)
