"""HloModuleProto → Module: the interface, aliases, stack frames and what is carried unread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ccodegen.hlo.ir import Alias, Computation, Module
from ccodegen.hlo.proto.computations import Surroundings, read_computations
from ccodegen.hlo.proto.decode import decode
from ccodegen.hlo.proto.enums import spelling
from ccodegen.hlo.proto.shapes import read_shape
from ccodegen.hlo.proto.spelling import braced, frontend_attributes
from ccodegen.hlo.proto.stack_frames import read_stack_frames
from ccodegen.hlo.text.header import entry_layout_annotation
from ccodegen.support.errors import InputError
from ccodegen.support.location import Location


def read(data: bytes, file: str) -> Module:
    """See `proto.read`."""
    proto = decode(data, file)
    try:
        return _module(proto, file)
    except InputError as error:
        raise InputError(error.message, error.location or Location(file), error.hint) from None


def _module(proto: Any, file: str) -> Module:
    frames = read_stack_frames(proto.stack_frame_index)
    schedule = {s.key: tuple(s.value.instruction_ids) for s in proto.schedule.sequences}
    surroundings = Surroundings(file, frames, tuple(proto.payloads), schedule)
    computations = read_computations(proto.computations, surroundings)
    entry = computations.get(proto.entry_computation_id)
    if entry is None:
        raise InputError(f"the entry computation {proto.entry_computation_id} is not defined")
    others = [c for c in computations.values() if c is not entry]
    return Module(
        name=proto.name,
        entry=entry,
        aliases=tuple(map(_alias, proto.input_output_alias.entries)),
        annotations=tuple(_annotations(proto, entry)),
        stack_frames=frames,
        extra_computations=tuple(others),
        file=file,
    )


def _alias(proto: Any) -> Alias:
    return Alias(
        tuple(proto.output_shape_index),
        proto.parameter_number,
        tuple(proto.parameter_shape_index),
        spelling("alias kind", proto.kind) == "must-alias",
    )


def _annotations(proto: Any, entry: Computation) -> Iterator[tuple[str, str]]:
    if proto.schedule.sequences:
        yield "is_scheduled", "true"
    donors = [
        f"({donor.parameter_number}, {braced(donor.parameter_shape_index)})"
        for donor in proto.buffer_donor.entries
    ]
    if donors:
        yield "buffer_donor", f"{{ {', '.join(donors)} }}"
    attributes = frontend_attributes(proto.frontend_attributes)
    if attributes:
        yield "frontend_attributes", attributes
    if proto.HasField("host_program_shape"):
        program = proto.host_program_shape
        layout = (*map(read_shape, program.parameters), read_shape(program.result))
        yield from entry_layout_annotation(layout, entry)
