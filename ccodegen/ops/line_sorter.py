"""What sorts one line of values, as line_sort chooses it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from ccodegen.loop.ir import Buffer, Expr
from ccodegen.ops.lowering import NestScope
from ccodegen.support.element_type import ElementType

_MOST_LOCAL = 1 << 14  # bytes of an array on a thread's stack

Values: TypeAlias = Sequence[Expr]  # of one element, one for each operand of the sort
Key: TypeAlias = Callable[[Values], Expr]  # an unsigned integer
Less: TypeAlias = Callable[[Values, Values], Expr]  # a pred
Read: TypeAlias = Callable[[Expr], Values]
Write: TypeAlias = Callable[[Expr, Values], None]


class LineSorter(Protocol):
    """A stable sort of one line of n elements, which may be emitted in several places."""

    def sort(self, read: Read, write: Write, kept: int) -> None:
        """Emits write(i, values), in any order, for the `kept` first places i of the sorted line of
        read(i), which must not read what is written."""
        ...


def key_word(bits: int) -> ElementType:
    """The type of keys of so many bits."""
    return ElementType.U32 if bits <= 32 else ElementType.U64


def line_memory(
    scope: NestScope, element_type: ElementType, dimensions: tuple[int, ...]
) -> Buffer:
    """Memory for one line at a time, to be asked for in the loop over the lines: of the loop's own
    where threads may share it, unless that is much."""
    small = math.prod(dimensions) * element_type.bytes <= _MOST_LOCAL
    if small and scope.target.machine.threads > 1:
        return scope.builder.local(element_type, dimensions, "own")
    return scope.scratch(element_type, dimensions)
