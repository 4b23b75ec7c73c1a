"""Values of attributes in HLO text, by kind: one function reads a kind, one writes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from ccodegen.hlo.attributes import (
    AttrKind,
    DimLabels,
    PaddingDimension,
    SliceDimension,
    Window,
    WindowDimension,
)
from ccodegen.hlo.ir import Computation
from ccodegen.hlo.literal import Literal
from ccodegen.hlo.shape import ArrayShape, Layout, Shape, shape_text
from ccodegen.hlo.text.cursor import Cursor
from ccodegen.hlo.text.literals import literal_text, parse_literal
from ccodegen.hlo.text.shapes import parse_shape
from ccodegen.hlo.text.strings import parse_string, quoted
from ccodegen.support.errors import InputError
from ccodegen.support.pattern import pattern

ReadComputation: TypeAlias = Callable[[], Computation]
ComputationNames: TypeAlias = Mapping[Computation, str]

_BOOL = pattern(r"(true|false)\b")
_FLOAT = pattern(r"[-+]?(?:[0-9]+\.?[0-9]*(?:[eE][-+]?[0-9]+)?|inf|nan)\b|-?[0-9]+\.")
_ENUM = pattern(r"[A-Za-z_][\w.-]*", re.ASCII)
_INTS = pattern(r"\{((?:\s|[0-9]{1,20}|[-,])*)\}", re.ASCII)
_INTS_TEXT = pattern(r"\s*(?:-?\d+\s*(?:,\s*-?\d+\s*)*,?\s*)?", re.ASCII)
_WINDOW_FIELD = pattern(r"([a-z_]+)\s*=\s*([0-9x_-]+)")
_PADDING_PART = r"-?\d{1,19}_-?\d{1,19}(?:_\d{1,19})?"
_PADDING = pattern(f"{_PADDING_PART}(?:x{_PADDING_PART})*", re.ASCII)
_SLICE = pattern(r"\[\s*(\d{1,19})\s*:\s*(\d{1,19})\s*(?::\s*(\d{1,19})\s*)?\]", re.ASCII)
_DIM_LABELS = pattern(r"([bf0-9?]+)_([io0-9?]+)->([bf0-9?]+)")


def parse_value(cursor: Cursor, kind: AttrKind, computation: ReadComputation) -> Any:
    """The value of this kind that stands here. `computation` reads one, named or inline."""
    if kind is AttrKind.COMPUTATION:
        return computation()
    if kind is AttrKind.COMPUTATIONS:
        return _braced(cursor, computation)
    return _READERS[kind](cursor)


def value_text(kind: AttrKind, value: Any, names: ComputationNames) -> str:
    """The value's canonical spelling."""
    if kind is AttrKind.COMPUTATION:
        return f"%{names[value]}"
    if kind is AttrKind.COMPUTATIONS:
        return "{" + ", ".join(f"%{names[c]}" for c in value) + "}"
    return _WRITERS[kind](value)


def _braced(cursor: Cursor, element: Callable[[], Any]) -> tuple[Any, ...]:
    found: list[Any] = []
    cursor.expect("{", "before the list")
    while not cursor.accept("}"):
        if found:
            cursor.expect(",", "or '}' after an element of the list")
        found.append(element())
    return tuple(found)


def _bool(cursor: Cursor) -> bool:
    return cursor.expect_match(_BOOL, "true or false")[1] == "true"


def _float(cursor: Cursor) -> float:
    return float(cursor.expect_match(_FLOAT, "a number")[0])


def _enum(cursor: Cursor) -> str:
    return cursor.expect_match(_ENUM, "a word")[0]


def parse_ints(cursor: Cursor) -> tuple[int, ...]:
    """`{0,1}`."""
    at = cursor.position
    text = cursor.expect_match(_INTS, "integers in braces, such as {0,1}")[1]
    if not _INTS_TEXT.fullmatch(text):
        raise cursor.error("expected integers with commas between them, such as {0,1}", at)
    return tuple(int(part) for part in text.split(",") if part.strip())


def _shapes(cursor: Cursor) -> tuple[Shape, ...]:
    return _braced(cursor, lambda: parse_shape(cursor))


def _window(cursor: Cursor) -> Window:
    at = cursor.position
    cursor.expect("{", "before the window")
    columns: dict[str, list[str]] = {}
    while not cursor.accept("}"):
        start = cursor.position
        found = cursor.expect_match(_WINDOW_FIELD, "a field of the window, such as size=3x3")
        if found[1] not in _WINDOW_FIELDS or found[1] in columns:
            hint = "a window has, each once: " + " ".join(_WINDOW_FIELDS)
            raise cursor.error(f"'{found[1]}' does not belong here", start, hint)
        columns[found[1]] = found[2].split("x")
    ranks = {len(column) for column in columns.values()}
    if len(ranks) > 1:
        raise cursor.error("the window's fields differ in their number of dimensions", at)
    try:
        rows = range(max(ranks, default=0))
        return Window(tuple(_window_dimension(columns, row) for row in rows))
    except ValueError:
        raise cursor.error("a field of the window is no number", at) from None


def _window_dimension(columns: dict[str, list[str]], row: int) -> WindowDimension:
    low, high = columns["pad"][row].split("_") if "pad" in columns else ("0", "0")
    values = {
        field: int(columns[name][row])
        for name, field in _WINDOW_FIELDS.items()
        if field and name in columns
    }
    reversal = bool(values.pop("reversal", 0))
    return WindowDimension(**values, pad_low=int(low), pad_high=int(high), reversal=reversal)


# Field of WindowDimension by its name in the text, in the order in which it is written.
_WINDOW_FIELDS = {
    "size": "size",
    "stride": "stride",
    "pad": "",
    "lhs_dilate": "lhs_dilation",
    "rhs_dilate": "rhs_dilation",
    "rhs_reversal": "reversal",
}


def _window_text(window: Window) -> str:
    parts = []
    for name, field in _WINDOW_FIELDS.items():
        texts = [_window_number(dimension, field) for dimension in window.dimensions]
        default = _window_number(WindowDimension(), field)
        if (name == "size" and texts) or any(text != default for text in texts):
            parts.append(f"{name}={'x'.join(texts)}")
    return "{" + " ".join(parts) + "}"


def _window_number(dimension: WindowDimension, field: str) -> str:
    if not field:
        return f"{dimension.pad_low}_{dimension.pad_high}"
    return str(int(getattr(dimension, field)))


def _padding(cursor: Cursor) -> tuple[PaddingDimension, ...]:
    found = cursor.take(_PADDING)
    if not found:
        if cursor.text[cursor.position : cursor.position + 1] in ("", ",", "}"):
            return ()
        raise cursor.expected("padding such as 0_1x2_2_1")
    rows = [tuple(map(int, part.split("_"))) for part in found[0].split("x")]
    return tuple(PaddingDimension(*row) for row in rows)


def _padding_text(padding: tuple[PaddingDimension, ...]) -> str:
    has_interior = any(p.interior for p in padding)
    return "x".join(
        f"{p.low}_{p.high}_{p.interior}" if has_interior else f"{p.low}_{p.high}" for p in padding
    )


def _slice(cursor: Cursor) -> tuple[SliceDimension, ...]:
    def dimension() -> SliceDimension:
        found = cursor.expect_match(_SLICE, "the bounds of a dimension, such as [0:8:2]")
        return SliceDimension(int(found[1]), int(found[2]), int(found[3] or 1))

    return _braced(cursor, dimension)


def _slice_text(dimensions: tuple[SliceDimension, ...]) -> str:
    parts = [
        f"[{d.start}:{d.limit}]" if d.stride == 1 else f"[{d.start}:{d.limit}:{d.stride}]"
        for d in dimensions
    ]
    return "{" + ", ".join(parts) + "}"


def _dim_labels(cursor: Cursor) -> DimLabels:
    at = cursor.position
    found = cursor.expect_match(_DIM_LABELS, "dimension labels, such as b01f_01io->b01f")
    try:
        lhs, kernel, output = _roles(found[1], "bf"), _roles(found[2], "io"), _roles(found[3], "bf")
        if not len(lhs[2]) == len(kernel[2]) == len(output[2]):
            raise InputError("the three parts differ in their number of spatial dimensions")
    except InputError as error:
        error.location = cursor.location(at)
        raise
    unknown = (found[1].count("?"), found[2].count("?"), found[3].count("?"))
    return DimLabels(*lhs, *kernel, *output, unknown)


def _roles(labels: str, letters: str) -> tuple[int, int, tuple[int, ...]]:
    """The positions of the two letters and of the spatial dimensions 0, 1, …"""
    digits = sorted(label for label in labels if label.isdigit())
    known = [*letters, *map(str, range(len(digits)))]
    if any(labels.count(label) != 1 for label in known):
        text = f"'{labels}' needs each of {' '.join(letters)} and of the digits from 0 on once"
        raise InputError(text)
    return labels.index(letters[0]), labels.index(letters[1]), tuple(map(labels.index, known[2:]))


def _dim_labels_text(d: DimLabels) -> str:
    lhs = _labels("bf", (d.input_batch, d.input_feature), d.input_spatial, d.unknown[0])
    kernel_ends = (d.kernel_input_feature, d.kernel_output_feature)
    kernel = _labels("io", kernel_ends, d.kernel_spatial, d.unknown[1])
    output = _labels("bf", (d.output_batch, d.output_feature), d.output_spatial, d.unknown[2])
    return f"{lhs}_{kernel}->{output}"


def _labels(letters: str, ends: tuple[int, int], spatial: tuple[int, ...], unknown: int) -> str:
    texts = ["?"] * (2 + len(spatial) + unknown)
    for position, label in zip((*ends, *spatial), [*letters, *range(len(spatial))], strict=True):
        texts[position] = str(label)
    return "".join(texts)


def _literal(cursor: Cursor) -> Literal:
    return parse_literal(cursor, parse_shape(cursor))


def _literal_text(literal: Literal) -> str:
    """`s32[2]{0} {1, 2}`: without its layout the shape would take the literal for one."""
    shape = literal.shape
    if isinstance(shape, ArrayShape):
        shape = replace(shape, layout=Layout(tuple(reversed(range(shape.rank)))))
    return f"{shape_text(shape)} {literal_text(literal)}"


def _ints_text(values: tuple[int, ...]) -> str:
    return "{" + ",".join(map(str, values)) + "}"


_READERS: dict[AttrKind, Callable[[Cursor], Any]] = {
    AttrKind.INT: Cursor.integer,
    AttrKind.BOOL: _bool,
    AttrKind.FLOAT: _float,
    AttrKind.INTS: parse_ints,
    AttrKind.ENUM: _enum,
    AttrKind.STRING: parse_string,
    AttrKind.SHAPE: parse_shape,
    AttrKind.SHAPES: _shapes,
    AttrKind.WINDOW: _window,
    AttrKind.PADDING: _padding,
    AttrKind.SLICE: _slice,
    AttrKind.DIM_LABELS: _dim_labels,
    AttrKind.LITERAL: _literal,
    AttrKind.RAW: Cursor.raw,
}

_WRITERS: dict[AttrKind, Callable[[Any], str]] = {
    AttrKind.INT: str,
    AttrKind.BOOL: lambda value: str(value).lower(),
    AttrKind.FLOAT: lambda value: repr(float(value)).removesuffix(".0"),
    AttrKind.INTS: _ints_text,
    AttrKind.ENUM: str,
    AttrKind.STRING: quoted,
    AttrKind.SHAPE: shape_text,
    AttrKind.SHAPES: lambda shapes: "{" + ", ".join(map(shape_text, shapes)) + "}",
    AttrKind.WINDOW: _window_text,
    AttrKind.PADDING: _padding_text,
    AttrKind.SLICE: _slice_text,
    AttrKind.DIM_LABELS: _dim_labels_text,
    AttrKind.LITERAL: _literal_text,
    AttrKind.RAW: str,
}
