"""Walks over tokens, with errors at the token that does not fit."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn, TypeVar

from ccodegen.loop.text.lexer import Token, TokenKind, tokens
from ccodegen.support.element_type import ElementType
from ccodegen.support.errors import InputError

T = TypeVar("T")

TYPES = {t.text: t for t in ElementType}


class Cursor:
    """The tokens of a text, and a position among them."""

    def __init__(self, text: str, file: str) -> None:
        self._tokens = tokens(text, file)
        self._position = 0

    @property
    def next(self) -> Token:
        return self._tokens[self._position]

    def next_but_one(self, *symbols: str) -> bool:
        """Whether one of these symbols stands behind the next token."""
        token = self._tokens[min(self._position + 1, len(self._tokens) - 1)]
        return token.kind is TokenKind.SYMBOL and token.text in symbols

    def take(self) -> Token:
        token = self.next
        if token.kind is not TokenKind.END:
            self._position += 1
        return token

    def fail(self, message: str, token: Token | None = None) -> NoReturn:
        raise InputError(message, (token or self.next).location)

    def sees(self, text: str) -> bool:
        """Whether the next token is this word or symbol."""
        return self.next.text == text and self.next.is_word

    def accept(self, text: str) -> bool:
        seen = self.sees(text)
        if seen:
            self.take()
        return seen

    def expect(self, text: str) -> None:
        if not self.accept(text):
            self.fail(f"expected '{text}', found '{self.next.text}'")

    def of_kind(self, kind: TokenKind) -> Token:
        if self.next.kind is not kind:
            self.fail(f"expected a {kind.name.lower()}, found '{self.next.text}'")
        return self.take()

    def name(self) -> Token:
        return self.of_kind(TokenKind.NAME)

    def integer(self) -> int:
        sign = -1 if self.accept("-") else 1
        token = self.of_kind(TokenKind.NUMBER)
        if not re.fullmatch(r"\d+", token.text):
            self.fail(f"expected an integer, found '{token.text}'", token)
        return sign * int(token.text)

    def string(self) -> str:
        """Text in quotes."""
        if not self.next.quoted:
            self.fail(f"expected text in quotes, found '{self.next.text}'")
        return self.take().text

    def string_or_empty(self) -> str:
        return self.string() if self.next.quoted else ""

    def type(self) -> ElementType:
        token = self.name()
        if token.text not in TYPES:
            self.fail(f"there is no element type '{token.text}'", token)
        return TYPES[token.text]

    def listed(self, item: Callable[[], T], end: str) -> list[T]:
        """Items between commas, up to the end symbol, which is taken."""
        items: list[T] = []
        while not self.accept(end):
            if items:
                self.expect(",")
            items.append(item())
        return items

    def block(self, item: Callable[[], T]) -> tuple[T, ...]:
        """Items in braces."""
        self.expect("{")
        items: list[T] = []
        while not self.accept("}"):
            items.append(item())
        return tuple(items)
