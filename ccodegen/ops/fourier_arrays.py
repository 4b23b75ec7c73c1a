"""Where the reference transforms lines: rows as NumPy arrays over all of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from ccodegen.ops.butterfly import Complex
from ccodegen.ops.fold import Array
from ccodegen.ops.workspace import Sink, Source, Workspace
from ccodegen.support.element_type import ElementType


class ArrayWorkspace(Workspace):
    """`part`: the type of real and imaginary parts."""

    unrolled = sys.maxsize

    def __init__(self, part: ElementType, rows: int, lines: int) -> None:
        self._type, self._lines = part.dtype, np.arange(lines)
        self._here, self._there = (np.zeros((2, rows, lines), part.dtype) for _ in range(2))

    def each(self, *extents: int) -> Iterator[tuple[Any, ...]]:
        yield np.ix_(*map(np.arange, (*extents, 1)))[:-1]

    def turns(self, extent: int) -> Iterator[Any]:
        yield from range(extent)

    def fill(self, extent: int) -> Iterator[tuple[Any, Any]]:
        yield np.arange(extent)[:, None], self._lines

    drain = fill

    def connect(self, source: Source | None, sink: Sink, stages: int) -> bool:
        return False

    def here(self, row: Any) -> Complex:
        return Complex(*(part[row, self._lines] for part in self._here))

    def there(self, row: Any) -> Complex:
        return Complex(*(part[row, self._lines] for part in self._there))

    def set_here(self, row: Any, value: Complex) -> None:
        self._here[0][row, self._lines] = value.re
        self._here[1][row, self._lines] = value.im

    def set_there(self, row: Any, value: Complex) -> None:
        self._there[0][row, self._lines] = value.re
        self._there[1][row, self._lines] = value.im

    def flip(self) -> None:
        self._here, self._there = self._there, self._here

    def table(self, values: Array) -> Any:
        return values.astype(self._type)

    def entry(self, table: Any, *indices: Any) -> Complex:
        return Complex(table[0][indices], table[1][indices])

    @property
    def zero(self) -> Any:
        return self._type.type(0)
