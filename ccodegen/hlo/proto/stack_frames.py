"""StackFrameIndexProto: the tables that `stack_frame_id` points into."""

from __future__ import annotations

from typing import Any

from ccodegen.hlo.stack_frames import FileLocation, StackFrame, StackFrames


def read_stack_frames(proto: Any) -> StackFrames | None:
    """The tables; None where the proto has none."""
    if not proto.stack_frames:
        return None
    return StackFrames(
        tuple(proto.file_names),
        tuple(proto.function_names),
        tuple(
            FileLocation(
                p.file_name_id, p.function_name_id, p.line, p.end_line, p.column, p.end_column
            )
            for p in proto.file_locations
        ),
        tuple(StackFrame(f.file_location_id, f.parent_frame_id) for f in proto.stack_frames),
    )
