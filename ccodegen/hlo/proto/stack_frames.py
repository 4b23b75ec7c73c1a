"""StackFrameIndexProto: the tables that `stack_frame_id` points into."""

from __future__ import annotations

from typing import Any

from ccodegen.support.location import Location


class StackFrames:
    def __init__(self, proto: Any) -> None:
        self._proto = proto

    def location(self, metadata: Any) -> Location | None:
        """Where the instruction stands in the user's program, if its metadata says so."""
        if metadata.source_file:
            return Location(metadata.source_file, metadata.source_line, metadata.source_column)
        frame = _entry(self._proto.stack_frames, metadata.stack_frame_id)
        place = _entry(self._proto.file_locations, frame.file_location_id) if frame else None
        file = _entry(self._proto.file_names, place.file_name_id) if place else None
        return Location(file, place.line, place.column) if place and file else None


def _entry(table: Any, number: int) -> Any:
    """The entry of this number, counted from 1; None where there is none."""
    return table[number - 1] if 1 <= number <= len(table) else None


def read_stack_frames(proto: Any) -> StackFrames:
    return StackFrames(proto)
