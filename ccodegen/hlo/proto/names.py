"""Names out of a proto, which may be any string, as identifiers of HLO text."""

from __future__ import annotations

import re

_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9_.-]")
_START = re.compile(r"[A-Za-z_]")


class UniqueNames:
    """Hands out HLO identifiers, none of them twice."""

    def __init__(self) -> None:
        self._uses: dict[str, int] = {}

    def add(self, name: str) -> str:
        """The name with `_` for what HLO text does not allow, and `.2`, `.3`, … where taken."""
        base = _NOT_ALLOWED.sub("_", name)
        if not _START.match(base):
            base = f"_{base}"
        unique = base
        while unique in self._uses:
            self._uses[base] += 1
            unique = f"{base}.{self._uses[base]}"
        self._uses[unique] = 1
        return unique
