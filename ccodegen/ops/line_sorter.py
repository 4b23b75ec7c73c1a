"""What sorts one line of values, as line_sort chooses it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from ccodegen.loop.ir import Expr
from ccodegen.support.element_type import ElementType

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
