"""The transform of a line by kind: what goes into a workspace's rows, and what comes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ccodegen.ops.butterfly import Complex
from ccodegen.ops.fourier import rows_needed, tangle, transform, untangle
from ccodegen.ops.workspace import Workspace

Read = Callable[[Any, Any], Any]
"""Element `at` of a line: a Complex, for RFFT a component."""
Write = Callable[[Any, Any, Any], None]
"""Sets element `at` of a line to a Complex, for IRFFT to a component."""


@dataclass(frozen=True)
class LineTransform:
    """`n` numbers, which RFFT takes and IRFFT gives as reals. An even number of these are taken for
    half as many complex ones."""

    kind: str
    n: int

    @property
    def in_pairs(self) -> bool:
        return self.kind in ("RFFT", "IRFFT") and self.n % 2 == 0 and self.n > 0

    @property
    def results(self) -> int:
        """How many numbers come out."""
        return self.n // 2 + 1 if self.kind == "RFFT" else self.n

    @property
    def rows(self) -> int:
        """Of the workspace."""
        half = self.n // 2
        return max(half + 1, rows_needed(half)) if self.in_pairs else rows_needed(self.n)

    def run(self, work: Workspace, read: Read, write: Write) -> None:
        """All lines of the workspace."""
        self._fill(work, read)
        if self.kind == "IRFFT" and self.in_pairs:
            tangle(work, self.n // 2)
        transform(work, self.n // 2 if self.in_pairs else self.n)
        if self.kind == "RFFT" and self.in_pairs:
            untangle(work, self.n // 2)
        self._drain(work, write)

    def _fill(self, work: Workspace, read: Read) -> None:
        if self.kind == "RFFT":
            self._fill_reals(work, read)
        elif self.kind == "IRFFT":
            self._fill_half(work, read)
        else:
            for t, line in work.fill(self.n):
                value = read(line, t)
                work.set_here(t, value.swapped if self.kind == "IFFT" else value)

    def _fill_reals(self, work: Workspace, read: Read) -> None:
        if self.in_pairs:
            for t, line in work.fill(self.n // 2):
                work.set_here(t, Complex(read(line, t * 2), read(line, t * 2 + 1)))
        else:
            for t, line in work.fill(self.n):
                work.set_here(t, Complex(read(line, t), work.zero))

    def _fill_half(self, work: Workspace, read: Read) -> None:
        """The given half; in an odd transform also the other one, its mirrored conjugate."""
        half = self.n // 2
        for t, line in work.fill(half + 1):
            value = read(line, t)
            work.set_here(t, value if self.in_pairs else value.swapped)
        if not self.in_pairs:
            for t, line in work.fill(half):
                value = read(line, half - t)
                work.set_here(t + (half + 1), Complex(-value.im, value.re))

    def _drain(self, work: Workspace, write: Write) -> None:
        if self.kind == "IRFFT":
            self._drain_reals(work, write)
            return
        for t, line in work.drain(self.results):
            value = work.here(t)
            if self.kind == "IFFT":
                value = Complex(value.im / self.n, value.re / self.n)
            write(line, t, value)

    def _drain_reals(self, work: Workspace, write: Write) -> None:
        if not self.in_pairs:
            for t, line in work.drain(self.n):
                write(line, t, work.here(t).im / self.n)
            return
        for t, line in work.drain(self.n // 2):
            value = work.here(t)
            write(line, t * 2, value.im / self.n)
            write(line, t * 2 + 1, value.re / self.n)
