"""`metadata={op_type="x" op_name="y" source_line=3 …}`."""

from __future__ import annotations

import re

from ccodegen.hlo.ir import NO_METADATA, Metadata
from ccodegen.hlo.text.cursor import INTEGER, Cursor
from ccodegen.hlo.text.strings import parse_string, quoted
from ccodegen.support.pattern import pattern

_FIELD = pattern(r"([a-z_]+)\s*=\s*", re.ASCII)
_WORD = pattern(r"[^\s{}\",]+")
_STRINGS = ("op_type", "op_name", "source_file")
_INTEGERS = ("source_line", "stack_frame_id")


def parse_metadata(cursor: Cursor) -> Metadata:
    """The metadata in braces; fields are separated by white space or commas."""
    cursor.expect("{", "before the metadata")
    known: dict[str, str | int] = {}
    other: list[tuple[str, str]] = []
    while not cursor.accept("}"):
        name = cursor.expect_match(_FIELD, "a field of the metadata or '}'")[1]
        if name in _STRINGS:
            known[name] = parse_string(cursor)
        elif name in _INTEGERS:
            known[name] = cursor.integer()
        else:
            other.append((name, _other_value(cursor)))
        cursor.accept(",")
    if not known and not other:
        return NO_METADATA
    return Metadata(**known, other=tuple(other))  # type: ignore[arg-type]


def _other_value(cursor: Cursor) -> str:
    if cursor.text.startswith("{", cursor.position):
        return cursor.raw()
    if cursor.text.startswith('"', cursor.position):
        return quoted(parse_string(cursor))
    return (cursor.take(INTEGER) or cursor.expect_match(_WORD, "a value"))[0]


def metadata_text(metadata: Metadata) -> str:
    """The metadata in braces, fields that are empty left out."""
    fields = [(name, quoted(getattr(metadata, name))) for name in _STRINGS]
    fields = [(name, text) for name, text in fields if text != '""']
    if metadata.source_line:
        fields.append(("source_line", str(metadata.source_line)))
    fields.extend(metadata.other)
    if metadata.stack_frame_id:
        fields.append(("stack_frame_id", str(metadata.stack_frame_id)))
    return "{" + " ".join(f"{name}={text}" for name, text in fields) + "}"
