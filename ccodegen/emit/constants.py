"""Prints constant arrays."""

from __future__ import annotations

import textwrap

import numpy as np

from ccodegen.emit.literal import has_odd_nan, initializers
from ccodegen.emit.types import array_length, memory_type
from ccodegen.loop.ir import ConstantData
from ccodegen.support.immutable import immutable


@immutable
class ConstantText:
    """A constant array: `declaration = { values };`, or, where it has been declared before in the
    unit, `definition = { values };`. `reference`: what code calls its first
    element's address."""

    declaration: str
    definition: str
    values: str
    reference: str
    shape: str
    bytes: int


def print_constant(data: ConstantData, name: str, alignment: int) -> ConstantText:
    """The array, aligned to so many bytes where the compiler can.

    Values that no C constant has (a NaN with a payload) make it a union with an array of bits.
    """
    buffer = data.buffer
    flat = np.ascontiguousarray(data.array).reshape(-1)
    element, length = memory_type(buffer.type), array_length(buffer)
    aligned = f"CCG_ALIGNED({alignment})"
    if not has_odd_nan(buffer.type, flat):
        texts = initializers(buffer.type, flat) or ["0"]
        declaration = f"const {element} {name}[{length}] {aligned}"
        filled = _filled(texts)
        return ConstantText(
            declaration, declaration, filled, name, buffer.shape, buffer.bytes
        )
    width = buffer.type.component.bytes
    bits = [f"0x{v:0{2 * width}x}u" for v in flat.view(f"u{width}").tolist()]
    fields = f"uint{8 * width}_t bits[{length}]; {element} values[{length}];"
    declaration = f"const union {name} {{ {fields} }} {name} {aligned}"
    definition = f"const union {name} {name} {aligned}"
    values = f"    {{\n{_filled(bits)}\n    }}"
    reference = f"{name}.values"
    return ConstantText(
        declaration, definition, values, reference, buffer.shape, buffer.bytes
    )


def _filled(texts: list[str]) -> str:
    """Lines of up to 100 columns, filled without looking at each word where there are many."""
    if len(texts) < 1000:
        return textwrap.fill(
            ", ".join(texts),
            100,
            initial_indent="    ",
            subsequent_indent="    ",
            break_on_hyphens=False,
            break_long_words=False,
        )
    per_line = max(1, 96 // (max(map(len, texts)) + 2))
    rows = (texts[i : i + per_line] for i in range(0, len(texts), per_line))
    return ",\n".join("    " + ", ".join(row) for row in rows)
