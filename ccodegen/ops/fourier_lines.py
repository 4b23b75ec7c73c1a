"""The transform of a line by kind: what goes into a workspace's rows, and what comes out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ccodegen.ops.butterfly import Complex
from ccodegen.ops.fourier import tangle, transform, untangle
from ccodegen.ops.fourier_plan import plan
from ccodegen.ops.workspace import Workspace
from ccodegen.support.immutable import immutable

_REAL = ("RFFT", "IRFFT")

Read = Callable[[Any, Any], Any]
"""Element `at` of a line: a Complex, for RFFT a component."""
Write = Callable[[Any, Any, Any], None]
"""Sets element `at` of a line to a Complex, for IRFFT to a component."""


@immutable
class LineTransform:
    """`n` numbers, which RFFT takes and IRFFT gives as reals. An even number of these are taken for
    half as many complex ones."""

    kind: str
    n: int

    @property
    def in_pairs(self) -> bool:
        return self.kind in _REAL and self.n % 2 == 0 and self.n > 0

    @property
    def results(self) -> int:
        """How many numbers come out."""
        return self.n // 2 + 1 if self.kind == "RFFT" and self.n else self.n

    @property
    def rows(self) -> int:
        """Of the workspace."""
        return max(self.length, self.n // 2 + 1) if self.in_pairs else self.length

    @property
    def length(self) -> int:
        """Of the complex numbers' transform."""
        return plan(self.n // 2 if self.in_pairs else self.n).length

    def run(self, work: Workspace, read: Read, write: Write) -> None:
        """All lines of the workspace."""

        def source(line: Any, row: Any) -> Complex:
            return self._source(work, read, line, row)

        def sink(line: Any, row: Any, value: Complex) -> None:
            self._sink(write, line, row, value)

        # What IRFFT begins with reads backwards too: pairs in that order make no vectors.
        straight = None if self.kind == "IRFFT" else source
        connected = work.connect(straight, sink, self._stages(work))
        if not connected or not straight:
            for t, line in work.fill(self._given):
                work.set_here(t, source(line, t))
        if self.kind == "IRFFT" and not self.in_pairs:
            self._mirror(work, read)
        self._compute(work)
        if not connected:
            for t, line in work.drain(self._taken):
                sink(line, t, work.here(t))

    def _stages(self, work: Workspace) -> int:
        """How often all rows are written from others; 0 where some are written in place, or do not
        come from the source or go to the sink."""
        chosen = plan(self.n // 2 if self.in_pairs else self.n)
        in_place = chosen.length != chosen.n or any(map(work.is_long, chosen.radices))
        if in_place or (self.kind in _REAL and not self.in_pairs):
            return 0
        return len(chosen.radices) + self.in_pairs

    def _compute(self, work: Workspace) -> None:
        if self.kind == "IRFFT" and self.in_pairs:
            tangle(work, self.n // 2)
        transform(work, self.n // 2 if self.in_pairs else self.n)
        if self.kind == "RFFT" and self.in_pairs:
            untangle(work, self.n // 2)

    @property
    def _given(self) -> int:
        """How many rows the operand has."""
        if self.kind == "IRFFT":
            return self.n // 2 + 1
        return self.n // 2 if self.in_pairs else self.n

    @property
    def _taken(self) -> int:
        """How many rows the result has."""
        return self.n // 2 if self.kind == "IRFFT" and self.in_pairs else self.results

    def _source(self, work: Workspace, read: Read, line: Any, row: Any) -> Complex:
        if self.kind == "RFFT":
            if self.in_pairs:
                return Complex(read(line, row * 2), read(line, row * 2 + 1))
            return Complex(read(line, row), work.zero)
        value: Complex = read(line, row)
        return value if self.kind == "FFT" or self.in_pairs else value.swapped

    def _mirror(self, work: Workspace, read: Read) -> None:
        """The half that is not given: the conjugates of the other one, backwards."""
        half = self.n // 2
        for t, line in work.fill(half):
            value = read(line, half - t)
            work.set_here(t + (half + 1), Complex(-value.im, value.re))

    def _sink(self, write: Write, line: Any, row: Any, value: Complex) -> None:
        if self.kind == "IFFT":
            value = Complex(value.im / self.n, value.re / self.n)
        if self.kind != "IRFFT":
            write(line, row, value)
        elif self.in_pairs:
            write(line, row * 2, value.im / self.n)
            write(line, row * 2 + 1, value.re / self.n)
        else:
            write(line, row, value.im / self.n)
