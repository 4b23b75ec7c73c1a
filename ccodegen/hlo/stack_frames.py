"""The tables that `metadata={stack_frame_id=…}` points into: how the user's program got there."""

from __future__ import annotations

from ccodegen.support.immutable import frozen


@frozen
class FileLocation:
    """A span of a source file; 0 where a number is not known."""

    file_name_id: int = 0
    function_name_id: int = 0
    line: int = 0
    end_line: int = 0
    column: int = 0
    end_column: int = 0


@frozen
class StackFrame:
    """`parent_frame_id` 0: the outermost frame."""

    file_location_id: int = 0
    parent_frame_id: int = 0


@frozen
class StackFrames:
    """The four tables. An id counts from 1."""

    file_names: tuple[str, ...] = ()
    function_names: tuple[str, ...] = ()
    file_locations: tuple[FileLocation, ...] = ()
    frames: tuple[StackFrame, ...] = ()

    def source(self, frame_id: int) -> tuple[str, int] | None:
        """File name and line of a frame; None where the tables do not know."""
        if not 1 <= frame_id <= len(self.frames):
            return None
        location_id = self.frames[frame_id - 1].file_location_id
        if not 1 <= location_id <= len(self.file_locations):
            return None
        location = self.file_locations[location_id - 1]
        if not 1 <= location.file_name_id <= len(self.file_names):
            return None
        return self.file_names[location.file_name_id - 1], location.line
