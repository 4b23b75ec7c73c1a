"""HLO text's tables of stack frames.

    FileNames              FileLocations
    1 "model.py"           1 {file_name_id=1 function_name_id=1 line=9 end_line=9 column=2 …}

    FunctionNames          StackFrames
    1 "loss"               1 {file_location_id=1 parent_frame_id=1}

Entries are numbered from 1. The text writes a frame's parent plus one: 1 for "none".
"""

from __future__ import annotations

from dataclasses import astuple, fields

from ccodegen.hlo.stack_frames import FileLocation, StackFrame, StackFrames
from ccodegen.hlo.text.cursor import Cursor
from ccodegen.hlo.text.strings import parse_string, quoted
from ccodegen.support.pattern import pattern

_TITLE = pattern(r"(FileNames|FunctionNames|FileLocations|StackFrames)\b(?!\s*[({])")
_ENTRY = pattern(r"[0-9]+")
_FIELD = pattern(r"([a-z_]+)=")


def parse_stack_frames(cursor: Cursor) -> StackFrames | None:
    """The tables that stand here; None where none does."""
    tables: dict[str, list[str | dict[str, int]]] = {}
    while found := cursor.take(_TITLE):
        tables[found[1]] = _table(cursor, found[1].endswith("Names"))
    if not tables:
        return None
    return StackFrames(
        tuple(map(str, tables.get("FileNames", ()))),
        tuple(map(str, tables.get("FunctionNames", ()))),
        tuple(FileLocation(**_known(e, FileLocation)) for e in tables.get("FileLocations", ())),
        tuple(_frame(e) for e in tables.get("StackFrames", ())),
    )


def _frame(entry: str | dict[str, int]) -> StackFrame:
    numbers = _known(entry, StackFrame)
    return StackFrame(
        numbers.get("file_location_id", 0), max(0, numbers.get("parent_frame_id", 0) - 1)
    )


def _known(entry: str | dict[str, int], table: type) -> dict[str, int]:
    assert isinstance(entry, dict)
    names = [f.name for f in fields(table)]
    return {name: entry[name] for name in names if name in entry}


def _table(cursor: Cursor, of_names: bool) -> list[str | dict[str, int]]:
    entries: list[str | dict[str, int]] = []
    while cursor.match(_ENTRY):
        at = cursor.position
        if cursor.integer() != len(entries) + 1:
            raise cursor.error(f"expected entry {len(entries) + 1} of the table", at)
        entries.append(parse_string(cursor) if of_names else _numbers(cursor))
    return entries


def _numbers(cursor: Cursor) -> dict[str, int]:
    cursor.expect("{", "before the entry's fields")
    numbers: dict[str, int] = {}
    while not cursor.accept("}"):
        name = cursor.expect_match(_FIELD, "a field or '}'")[1]
        numbers[name] = cursor.integer()
    return numbers


def stack_frames_text(tables: StackFrames) -> str:
    """The tables, one after the other, with an empty line between two."""
    places = [_fields_text(FileLocation, astuple(place)) for place in tables.file_locations]
    frames = [
        _fields_text(StackFrame, (frame.file_location_id, frame.parent_frame_id + 1))
        for frame in tables.frames
    ]
    return "\n".join(
        _table_text(title, entries)
        for title, entries in (
            ("FileNames", [quoted(name) for name in tables.file_names]),
            ("FunctionNames", [quoted(name) for name in tables.function_names]),
            ("FileLocations", places),
            ("StackFrames", frames),
        )
    )


def _fields_text(table: type, values: tuple[int, ...]) -> str:
    pairs = zip(fields(table), values, strict=True)
    return "{" + " ".join(f"{f.name}={value}" for f, value in pairs) + "}"


def _table_text(title: str, entries: list[str]) -> str:
    lines = [f"{number} {entry}" for number, entry in enumerate(entries, start=1)]
    return "\n".join([title, *lines, ""])
