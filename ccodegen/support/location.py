"""Where something stands in a source text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a text: file name, line and column from 1 (0: unknown), and the line itself."""

    file: str
    line: int = 0
    column: int = 0
    excerpt: str = ""

    def __str__(self) -> str:
        numbers = [str(n) for n in (self.line, self.column) if n]
        return ":".join([self.file, *numbers])

    def underline(self) -> str:
        """The source line with a caret under the column; long lines are cut to a window."""
        start = max(0, self.column - 60)
        window = self.excerpt[start : start + 100].replace("\t", " ")
        return f"  {window}\n  {' ' * (self.column - 1 - start)}^"
