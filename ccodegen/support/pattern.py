"""Regular expressions that are compiled when they are first used.

Of the eighty that are imported to compile a program, which take a hundredth of a second, most
programs need few.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


def pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, but for isinstance."""
    return cast("re.Pattern[AnyStr]", _Pattern(text, flags))


class _Pattern:
    def __init__(self, text: str | bytes, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        """What the compiled one has, kept here."""
        value = getattr(re.compile(self._text, self._flags), name)
        setattr(self, name, value)
        return value
