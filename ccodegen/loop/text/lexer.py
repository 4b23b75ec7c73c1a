"""Cuts the text of loop programs into tokens."""

from __future__ import annotations

import enum
import json
import re

from ccodegen.support.errors import InputError
from ccodegen.support.immutable import immutable
from ccodegen.support.location import Location
from ccodegen.support.pattern import pattern

NAME = r"[A-Za-z_][\w.]*(?:-[A-Za-z_][\w.]*)*(?:\#\d+)?"

_TOKEN = pattern(
    rf"""
    (?P<note>\#\ .*|\#$)
  | (?P<string>"(?:[^"\\]|\\.)*"(?:\#\d+)?)
  | (?P<bits>bits\([0-9a-f]*\))
  | (?P<number>\d+(?:\.\d+)?(?:e[+-]?\d+)?)
  | (?P<name>{NAME})
  | (?P<symbol><=|>=|==|!=|[-+*/%<>=()\[\]{{}},;:@])
  | (?P<space>\s+)
    """,
    re.VERBOSE,
)


class TokenKind(enum.Enum):
    NAME = enum.auto()  # a plain or a quoted one; `text` without quotes
    NUMBER = enum.auto()
    BITS = enum.auto()  # hexadecimal digits
    SYMBOL = enum.auto()
    NOTE = enum.auto()
    END = enum.auto()


@immutable
class Token:
    """`label`: what tells buffers of one name apart. `quoted`: the text stood in quotes."""

    kind: TokenKind
    text: str
    location: Location
    label: str = ""
    quoted: bool = False

    @property
    def is_word(self) -> bool:
        """Whether it may be a keyword or a symbol."""
        return self.kind in (TokenKind.NAME, TokenKind.SYMBOL) and not self.quoted


def tokens(text: str, file: str) -> list[Token]:
    """All tokens and an END. Raises InputError at a character that starts none."""
    result: list[Token] = []
    for number, line in enumerate(text.split("\n"), 1):
        position = 0
        while position < len(line):
            location = Location(file, number, position + 1, line)
            match = _TOKEN.match(line, position)
            if match is None:
                raise InputError(f"unexpected character {line[position]!r}", location)
            if match.lastgroup != "space":
                result.append(_token(match.lastgroup or "", match.group(), location))
            position = match.end()
    end = Location(file, text.count("\n") + 1, 1)
    return [*result, Token(TokenKind.END, "the end", end)]


def _token(group: str, text: str, location: Location) -> Token:
    match group:
        case "note":
            note = text[2:].replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\")
            return Token(TokenKind.NOTE, note, location)
        case "string":
            quoted = text[: text.rindex('"') + 1]
            return Token(TokenKind.NAME, json.loads(quoted), location, text, quoted=True)
        case "name":
            return Token(TokenKind.NAME, text.partition("#")[0], location, text)
        case "bits":
            return Token(TokenKind.BITS, text[5:-1], location)
    return Token(TokenKind[group.upper()], text, location)
