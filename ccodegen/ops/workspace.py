"""Where Fourier transforms are computed: rows of complex numbers, an element of each line in each.

The algorithms are written once, for a Workspace: the reference's holds NumPy arrays, the
lowering's writes loops.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

from ccodegen.ops.butterfly import Complex
from ccodegen.ops.fold import Array

Source = Callable[[Any, Any], Complex]
"""The number in a row of a line."""
Sink = Callable[[Any, Any, Complex], None]


class Workspace(ABC):
    """Two sets of rows, the one `here` and the one `there`, of complex numbers.

    A row index is an integer, or made of such and of what the loops yield.
    """

    unrolled: int
    """The longest prime whose butterfly is better written out."""

    def is_long(self, radix: int) -> bool:
        """Whether a pass of that radix takes loops over its terms."""
        return radix % 2 == 1 and radix > self.unrolled

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
    def connect(self, source: Source | None, sink: Sink, stages: int) -> bool:
        """Has what is `here` come straight from the source, if there is one, and what is there
        after so many flips go straight to the sink. False where that does not pay or, with 0
        stages, cannot be: rows have to be filled and drained by themselves."""

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
