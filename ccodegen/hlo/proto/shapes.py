"""ShapeProto and LayoutProto → Shape and Layout."""

from __future__ import annotations

from typing import Any

from ccodegen.hlo.limits import check_dimensions
from ccodegen.hlo.proto.enums import ELEMENT_TYPES
from ccodegen.hlo.shape import (
    TOKEN,
    UNBOUNDED,
    ArrayShape,
    BufferShape,
    Layout,
    OpaqueShape,
    Shape,
    TupleShape,
    shape_text,
)
from ccodegen.support.element_type import HLO_TYPES
from ccodegen.support.errors import InputError

_UNBOUNDED_IN_PROTO = -(2**63)
_LEVELS = "DCSH"  # dense, compressed, singleton, loosely compressed


def read_shape(proto: Any) -> Shape:
    """The shape. Raises InputError for unknown element types, negative sizes and odd layouts.

    Nesting is no deeper than protobuf's own limit of 100 messages.
    """
    name = ELEMENT_TYPES.get(proto.element_type)
    if name == "tuple":
        return TupleShape(tuple(read_shape(element) for element in proto.tuple_shapes))
    if name == "token":
        return TOKEN
    if name == "opaque":
        return OpaqueShape()
    if name == "buffer":
        return _buffer_shape(proto)
    if name not in HLO_TYPES:
        raise InputError(f"unknown element type {proto.element_type} in a shape")
    return _array_shape(proto, name)


def _buffer_shape(proto: Any) -> BufferShape:
    inner = [read_shape(element) for element in proto.tuple_shapes]
    if len(inner) != 1 or not isinstance(inner[0], ArrayShape):
        raise InputError("a buffer's shape does not hold one array")
    return BufferShape(inner[0])


def _array_shape(proto: Any, type_name: str) -> ArrayShape:
    dynamic = tuple(proto.is_dynamic_dimension)
    sizes = tuple(_size(size) for size in proto.dimensions)
    if dynamic and len(dynamic) != len(sizes):
        raise InputError(f"{len(dynamic)} dynamic flags for {len(sizes)} dimensions in a shape")
    if any(size == UNBOUNDED and not any(dynamic[i : i + 1]) for i, size in enumerate(sizes)):
        raise InputError("an unbounded dimension that is not dynamic in a shape")
    check_dimensions(sizes)
    layout = read_layout(proto.layout, len(sizes)) if proto.HasField("layout") else None
    return ArrayShape(HLO_TYPES[type_name], sizes, dynamic if any(dynamic) else (), layout)


def _size(size: int) -> int:
    if size == _UNBOUNDED_IN_PROTO:
        return UNBOUNDED
    if size < 0:
        raise InputError(f"negative dimension {size} in a shape")
    return size


def read_layout(proto: Any, rank: int) -> Layout:
    """The layout of an array of this rank. Raises InputError where it is no permutation."""
    order = tuple(proto.minor_to_major)
    if sorted(order) != list(range(rank)):
        raise InputError(f"layout {{{_commas(order)}}} does not fit rank {rank}")
    return Layout(order, _suffix(proto))


def _suffix(proto: Any) -> str:
    """What HLO text has after the layout's colon, e.g. `T(8,128)E(4)S(1)`."""
    numbers = [
        ("L", proto.tail_padding_alignment_in_elements, 1),
        ("#", ELEMENT_TYPES.get(proto.index_primitive_type), None),
        ("*", ELEMENT_TYPES.get(proto.pointer_primitive_type), None),
        ("E", proto.element_size_in_bits, 0),
        ("S", proto.memory_space, 0),
    ]
    parts = [_levels(proto), _tiles(proto)]
    parts += [f"{key}({n})" for key, n, default in numbers if n and n != default]
    if proto.split_configs:
        splits = [f"({s.dimension}:{_commas(s.split_indices)})" for s in proto.split_configs]
        parts.append("SC" + "".join(splits))
    if proto.HasField("physical_shape"):
        parts.append(f"P({shape_text(read_shape(proto.physical_shape))})")
    if proto.dynamic_shape_metadata_prefix_bytes:
        parts.append(f"M({proto.dynamic_shape_metadata_prefix_bytes})")
    return "".join(parts)


def _levels(proto: Any) -> str:
    levels = proto.dim_level_types
    if not any(levels):
        return ""
    if not all(0 <= level < len(_LEVELS) for level in levels):
        raise InputError("unknown level type in a sparse layout")
    return f"D({','.join(_LEVELS[level] for level in levels)})"


def _tiles(proto: Any) -> str:
    tiles = (_commas("*" if d < 0 else d for d in tile.dimensions) for tile in proto.tiles)
    text = "".join(f"({tile})" for tile in tiles)
    return f"T{text}" if text else ""


def _commas(values: Any) -> str:
    return ",".join(map(str, values))
