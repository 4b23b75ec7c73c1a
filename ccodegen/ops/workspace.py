"""Where Fourier transforms are computed: rows of complex numbers, an element of each line in each.

The algorithms are written once, for a Workspace: the reference's holds NumPy arrays, the
lowering's writes loops.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from ccodegen.ops.butterfly import Complex
from ccodegen.ops.fold import Array


class Workspace(ABC):
    """Two sets of rows, the one `here` and the one `there`, of complex numbers.

    A row index is an integer, or made of such and of what the loops yield.
    """

    unrolled: int
    """The longest prime whose butterfly is better written out."""

    @abstractmethod
    def each(self, *extents: int) -> Iterator[tuple[Any, ...]]:
        """For all indices below the extents, in any order."""

    @abstractmethod
    def turns(self, extent: int) -> Iterator[Any]:
        """For each index below the extent, in order."""

    @abstractmethod
    def fill(self, extent: int) -> Iterator[tuple[Any, Any]]:
        """For each index below the extent and each line, in any order; the line is the second. It
        is what `set_here` sets, outside of the other loops."""

    @abstractmethod
    def drain(self, extent: int) -> Iterator[tuple[Any, Any]]:
        """Likewise, for what `here` gives."""

    @abstractmethod
    def here(self, row: Any) -> Complex: ...

    @abstractmethod
    def there(self, row: Any) -> Complex: ...

    @abstractmethod
    def set_here(self, row: Any, value: Complex) -> None: ...

    @abstractmethod
    def set_there(self, row: Any, value: Complex) -> None: ...

    @abstractmethod
    def flip(self) -> None:
        """What was there is here from now on."""

    @abstractmethod
    def table(self, values: Array) -> Any:
        """Numbers [2, …] in f64, rounded to the type of the rows."""

    @abstractmethod
    def entry(self, table: Any, *indices: Any) -> Complex:
        """A number of a table."""

    @property
    @abstractmethod
    def zero(self) -> Any:
        """A component."""
