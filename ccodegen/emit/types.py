"""C types of elements in memory; `loop.spelling.c_type` has those of values."""

from __future__ import annotations

from ccodegen.loop.ir import Buffer
from ccodegen.loop.spelling import c_type
from ccodegen.support.element_type import ElementType


def memory_type(element: ElementType) -> str:
    """The C type arrays of such elements have. A complex number is two of them.

    pred is uint8_t, sub-byte integers take one byte each, floats that C lacks are their bits.
    """
    return c_type(element.component)


def array_length(buffer: Buffer) -> int:
    """Elements of `memory_type` the buffer has; C has no empty arrays, so at least one."""
    return max(1, buffer.size * (2 if buffer.type.is_complex else 1))
