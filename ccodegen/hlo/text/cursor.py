"""A position in HLO text that moves from token to token.

HLO's tokens depend on where they stand (`01io->b01f`, `0_1x0_1`, `<=[8]`), so each grammar rule
matches the pattern it expects. White space and comments are skipped after every match. Lines and
columns are computed only when someone asks for a location.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property

from ccodegen.hlo.limits import MAX_NESTING
from ccodegen.support.errors import InputError
from ccodegen.support.location import Location
from ccodegen.support.pattern import pattern

NAME = pattern(r"%?([A-Za-z_][\w.-]*)", re.ASCII)
INTEGER = pattern(r"-?[0-9]+")
STRING = pattern(r'"(?:[^"\\]|\\.)*"', re.DOTALL)

_BLANK = pattern(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.ASCII | re.DOTALL)
_BLANK_START = frozenset(" \n\t\r\f\v/")
_TOKEN = pattern(r'%?[\w.-]+|"[^"\n]{0,40}"?|\S', re.ASCII)
_BLANK_OR_STRING = pattern(
    r'("(?:[^"\\]|\\.)*")|(?:\s|//[^\n]*|/\*.*?\*/)+', re.ASCII | re.DOTALL
)
_STRUCTURE = pattern(
    r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|[{}()\[\],\n"]', re.ASCII | re.DOTALL
)
_CLOSING = {"{": "}", "(": ")", "[": "]"}
_CLOSERS = frozenset(_CLOSING.values())
_MAX_EXCERPT = 400  # columns of an excerpt kept after the one that matters
_MAX_DIGITS = 25


class Cursor:
    """Reads `text` from the front. All errors it makes are InputErrors with a location."""

    def __init__(self, text: str, file: str = "<string>") -> None:
        self.text = text
        self.file = file
        self.position = 0
        self._depth = 0
        self._skip_blank()

    def at_end(self) -> bool:
        return self.position >= len(self.text)

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The pattern's match here, without moving."""
        return pattern.match(self.text, self.position)

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The pattern's match here; moves behind it and the white space that follows."""
        found = pattern.match(self.text, self.position)
        if found:
            self.move_to(found.end())
        return found

    def accept(self, symbol: str) -> bool:
        """Moves over the symbol if it stands here."""
        if not self.text.startswith(symbol, self.position):
            return False
        self.move_to(self.position + len(symbol))
        return True

    def expect(self, symbol: str, where: str) -> None:
        """Moves over the symbol; an error where it is not here. `where`: "after the name"."""
        if not self.accept(symbol):
            raise self.expected(f"'{symbol}' {where}")

    def expect_match(self, pattern: re.Pattern[str], what: str) -> re.Match[str]:
        found = self.take(pattern)
        if not found:
            raise self.expected(what)
        return found

    def name(self, what: str) -> str:
        """An identifier, without the optional `%`."""
        return self.expect_match(NAME, what)[1]

    def integer(self, what: str = "an integer") -> int:
        at = self.position
        digits = self.expect_match(INTEGER, what)[0]
        if len(digits) > _MAX_DIGITS:
            raise self.error("the number is too large", at)
        return int(digits)

    def raw(self) -> str:
        """A value of any kind: one balanced group or string, or all until a comma or a line's end.

        White space outside strings becomes one space, comments vanish.
        """
        start = self.position
        self.move_to(self._raw_end())
        value = _BLANK_OR_STRING.sub(_one_space, self.text[start : self.position]).strip()
        if not value:
            raise self.expected("a value", start)
        return value

    def _raw_end(self) -> int:
        is_single = self.text.startswith(("{", '"'), self.position)
        open_groups: list[str] = []
        for found in _STRUCTURE.finditer(self.text, self.position):
            token = found[0]
            if token == '"':
                raise self.error("the string is never closed", found.start())
            if token in _CLOSING:
                open_groups.append(_CLOSING[token])
                self._check_depth(len(open_groups), found.start())
            elif open_groups and token == open_groups[-1]:
                open_groups.pop()
            elif token in _CLOSERS and open_groups:
                raise self.expected(f"'{open_groups[-1]}'", found.start())
            elif not open_groups and (token in _CLOSERS or token in ",\n"):
                return found.start()
            if is_single and not open_groups:
                return found.end()
        if open_groups:
            raise self.expected(f"'{open_groups[-1]}'", len(self.text))
        return len(self.text)

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Guards recursion: an error where MAX_NESTING of these are open."""
        self._depth += 1
        self._check_depth(self._depth, self.position)
        yield
        self._depth -= 1

    def _check_depth(self, depth: int, at: int) -> None:
        if depth > MAX_NESTING:
            hint = "give the inner parts names of their own"
            raise self.error(f"nested more than {MAX_NESTING} deep", at, hint)

    def move_to(self, offset: int) -> None:
        """Goes to this offset and over the white space that follows."""
        self.position = offset
        self._skip_blank()

    def _skip_blank(self) -> None:
        if self.text[self.position : self.position + 1] not in _BLANK_START:
            return
        self.position = _BLANK.match(self.text, self.position).end()  # type: ignore[union-attr]
        if self.text.startswith("/*", self.position):
            raise self.error("the comment is never closed", hint="close it with */")

    def expected(self, what: str, at: int | None = None) -> InputError:
        """The error that something else stands here (or at the offset)."""
        at = self.position if at is None else at
        token = _TOKEN.match(self.text, at)
        if not token:
            hint = "is the file cut off?"
            return self.error(f"expected {what}, but the text ends here", at, hint)
        return self.error(f"expected {what}, found '{token[0][:60]}'", at)

    def error(self, message: str, at: int | None = None, hint: str = "") -> InputError:
        return InputError(message, self.location(self.position if at is None else at), hint)

    def location(self, offset: int) -> Location:
        """Line and column of an offset, with the line's text (cut where it is very long)."""
        line = bisect_right(self._line_starts, offset)
        start = self._line_starts[line - 1]
        end = self.text.find("\n", offset)
        end = len(self.text) if end < 0 else end
        excerpt = self.text[start : min(end, offset + _MAX_EXCERPT)]
        return Location(self.file, line, offset - start + 1, excerpt)

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(found.end() for found in re.finditer("\n", self.text))]


def _one_space(found: re.Match[str]) -> str:
    return found[1] or " "
