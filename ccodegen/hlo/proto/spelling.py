"""The parts of a proto that we carry unread, in HLO text's spelling (`None`: not set)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ccodegen.hlo.shape import Shape, TupleShape
from ccodegen.hlo.text.cursor import Cursor
from ccodegen.hlo.text.strings import quoted
from ccodegen.support.errors import InputError


def commas(values: Iterable[Any]) -> str:
    return ",".join(map(str, values))


def braced(values: Iterable[Any]) -> str:
    """`{1,2}`."""
    return f"{{{commas(values)}}}"


def backend_config(data: bytes) -> str | None:
    """A dictionary stands as it is, anything else in quotes."""
    text = data.decode("utf-8", "surrogateescape")
    return _dictionary_or_quoted(text) if text else None


def frontend_attributes(proto: Any) -> str | None:
    """`{key="value",other={…}}`, keys in order."""
    entries = sorted((entry.key, entry.value) for entry in proto.map)
    texts = [f"{key}={_dictionary_or_quoted(value)}" for key, value in entries]
    return braced(texts) if texts else None


def _dictionary_or_quoted(text: str) -> str:
    """One balanced `{…}` without quotes around it, white space in it as HLO text keeps it."""
    if not text.startswith("{"):
        return quoted(text)
    cursor = Cursor(text)
    try:
        dictionary = cursor.raw()
    except InputError:
        return quoted(text)
    return dictionary if cursor.at_end() else quoted(text)


def payload(proto: Any, shared: Sequence[bytes]) -> bytes:
    """A Payload's bytes, which it has itself or shares with others in the module's list."""
    for number in map(int, proto.id):
        if not 0 <= number < len(shared):
            raise InputError(f"the module has no payload {number}")
        return shared[number]
    own: bytes = proto.value
    return own


def statistics(proto: Any) -> str | None:
    if not proto.statistics:
        return None
    values = [f"{s.stat_name}={s.stat_val:g}" for s in proto.statistics]
    return braced([f"visualizing_index={proto.stat_index_to_visualize}", *values])


def booleans(values: Iterable[bool]) -> str | None:
    """`{true,false}`."""
    texts = [str(value).lower() for value in values]
    return braced(texts) if texts else None


def original_value(proto: Any, shape: Shape) -> str | None:
    """`origin={({"name" {0}}, {})}`: the array that each leaf of the shape was before."""
    if proto.is_synthetic_call:
        return "{[synthetic_call]}"
    if not proto.elements:
        return None
    arrays = {tuple(e.shape_index): e.original_array for e in proto.elements}
    return f"{{{_original_arrays(arrays, shape, ())}}}"


def _original_arrays(
    arrays: dict[tuple[int, ...], Any], shape: Shape, index: tuple[int, ...]
) -> str:
    if isinstance(shape, TupleShape):
        parts = (_original_arrays(arrays, s, (*index, i)) for i, s in enumerate(shape.elements))
        return f"({', '.join(parts)})"
    array = arrays.get(index)
    if array is None or not array.instruction_name:
        return "{}"
    position = f" {braced(array.shape_index)}" if array.shape_index else ""
    return f"{{{quoted(array.instruction_name)}{position}}}"


# The fields of OpMetadata in the order of HLO text; what is 0 or empty is not written.
_METADATA = (
    "op_type",
    "op_name",
    "source_file",
    "source_line",
    "source_end_line",
    "source_column",
    "source_end_column",
    "profile_type",
    "deduplicated_name",
    "scheduling_name",
    "stack_frame_id",
)


def metadata_fields(proto: Any) -> list[tuple[str, str]]:
    """(name, value in HLO's spelling) of the fields of an OpMetadata that are set."""
    fields = []
    for name in _METADATA:
        value = getattr(proto, name)
        if isinstance(value, str) and value:
            fields.append((name, quoted(value)))
        elif isinstance(value, int) and value:
            fields.append((name, str(value)))
        elif value:
            fields.append((name, braced(value)))
    return fields


def metadata(proto: Any) -> str:
    """`{op_name="x" source_line=3}`."""
    return f"{{{' '.join(f'{name}={value}' for name, value in metadata_fields(proto))}}}"
