"""Parses kernels: statements and expressions."""

from __future__ import annotations

from typing import Any

from ccodegen.loop.ir import (
    INDEX,
    Alloc,
    Apply,
    Buffer,
    CallC,
    Const,
    Expr,
    For,
    If,
    Kernel,
    Let,
    Load,
    LoopKind,
    Note,
    Space,
    Stmt,
    Store,
    Var,
)
from ccodegen.loop.literals import value_of_bits
from ccodegen.loop.text.cursor import Cursor
from ccodegen.loop.text.lexer import Token, TokenKind
from ccodegen.loop.text.symbols import BINDING, OPERATORS, usual_type
from ccodegen.support.element_type import ElementType


class ValueParser:
    """Parses constants, with the type that is already known or that follows them."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor

    def value(self, element_type: ElementType | None) -> Any:
        """A value as `value_text` writes it. Bits of no known type stay a token."""
        cursor = self.cursor
        if cursor.next.kind is TokenKind.BITS:
            token = cursor.take()
            return token if element_type is None else self.bits(token, element_type)
        if cursor.accept("true"):
            return True
        if cursor.accept("false"):
            return False
        if cursor.accept("pair"):
            cursor.expect("(")
            real, imag = cursor.listed(self._number, ")")
            return complex(real, imag)
        return self._number()

    def bits(self, token: Token, element_type: ElementType) -> Any:
        if len(token.text) != 2 * element_type.bytes:
            self.cursor.fail(f"{element_type.text} has {element_type.bytes} bytes of bits", token)
        return value_of_bits(element_type, token.text)

    def _number(self) -> int | float:
        sign = -1 if self.cursor.accept("-") else 1
        if self.cursor.accept("inf"):
            return sign * float("inf")
        text = self.cursor.of_kind(TokenKind.NUMBER).text
        return sign * (int(text) if text.isdigit() else float(text))


class KernelParser:
    """Parses one kernel; knows the names in scope."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._values = ValueParser(cursor)
        self._buffers: dict[str, Buffer] = {}
        self._vars: dict[str, Var] = {}

    def kernel(self) -> Kernel:
        cursor = self._cursor
        cursor.expect("kernel")
        name = cursor.name().text
        cursor.expect("(")
        buffers = tuple(cursor.listed(self._parameter, ")"))
        origin = cursor.string_or_empty()
        return Kernel(name, buffers, self._body(), origin)

    def _parameter(self) -> Buffer:
        label = self._cursor.name()
        element_type, dimensions = shape(self._cursor)
        word = self._cursor.name()
        if word.text.upper() not in Space.__members__:
            self._cursor.fail(f"there is no memory called '{word.text}'", word)
        offset = self._cursor.integer() if self._cursor.accept("@") else 0
        space = Space[word.text.upper()]
        return self._declared(label, Buffer(label.text, element_type, dimensions, space, offset))

    def _declared(self, label: Token, buffer: Buffer) -> Buffer:
        if label.label in self._buffers:
            self._cursor.fail(f"'{label.label}' is declared twice", label)
        self._buffers[label.label] = buffer
        return buffer

    def _buffer(self) -> Buffer:
        token = self._cursor.name()
        if token.label not in self._buffers:
            self._cursor.fail(f"there is no buffer '{token.label}'", token)
        return self._buffers[token.label]

    def _bound(self, element_type: ElementType, name: str) -> Var:
        self._vars[name] = Var(name, element_type)
        return self._vars[name]

    def _body(self) -> tuple[Stmt, ...]:
        return self._cursor.block(self._statement)

    def _statement(self) -> Stmt:
        cursor = self._cursor
        if cursor.next.kind is TokenKind.NOTE:
            return Note(cursor.take().text)
        for word, parse in (
            ("for", self._loop),
            ("if", self._branch),
            ("let", self._let),
            ("local", self._local),
            ("call", self._call),
        ):
            if cursor.accept(word):
                return parse()
        buffer, indices = self._element()
        cursor.expect("=")
        return Store(buffer, indices, self._expr())

    def _loop(self) -> For:
        name = self._cursor.name().text
        self._cursor.expect("<")
        is_number = not self._cursor.sees("(")
        extent: int | Expr = self._expr()
        if isinstance(extent, Const) and is_number:
            extent = int(extent.value)
        var = self._bound(INDEX, name)
        kind = LoopKind.SERIAL
        for option in LoopKind:
            if self._cursor.accept(option.name.lower()):
                kind = option
        return For(var, extent, self._body(), kind)

    def _branch(self) -> If:
        condition, then = self._expr(), self._body()
        return If(condition, then, self._body() if self._cursor.accept("else") else ())

    def _let(self) -> Let:
        name = self._cursor.name().text
        self._cursor.expect(":")
        element_type = self._cursor.type()
        self._cursor.expect("=")
        value = self._expr()
        return Let(self._bound(element_type, name), value)

    def _local(self) -> Alloc:
        label = self._cursor.name()
        element_type, dimensions = shape(self._cursor)
        return Alloc(self._declared(label, Buffer(label.text, element_type, dimensions)))

    def _call(self) -> CallC:
        cursor = self._cursor
        function = cursor.name().text
        cursor.expect("from")
        header = cursor.string()
        cursor.expect("(")
        buffers = tuple(cursor.listed(self._buffer, ";"))
        scalars = tuple(cursor.listed(self._expr, ")"))
        cursor.expect("writes")
        cursor.expect("(")
        return CallC(function, header, buffers, scalars, tuple(cursor.listed(cursor.integer, ")")))

    def _element(self) -> tuple[Buffer, tuple[Expr, ...]]:
        buffer = self._buffer()
        self._cursor.expect("[")
        return buffer, tuple(self._cursor.listed(self._expr, "]"))

    def _expr(self, least: int = 1) -> Expr:
        """An expression of operators that bind at least so tightly."""
        left = self._primary()
        while True:
            symbol = self._cursor.next
            level = BINDING.get(symbol.text, 0) if symbol.is_word else 0
            if level < least:
                return left
            self._cursor.take()
            operator = OPERATORS[symbol.text]
            arguments = (left, self._expr(level + 1))
            left = Apply(operator, arguments, usual_type(operator, arguments))

    def _primary(self) -> Expr:
        cursor = self._cursor
        if cursor.accept("("):
            inner = self._expr()
            cursor.expect(")")
            return inner
        if self._starts_constant():
            return self._constant()
        if cursor.next.kind is not TokenKind.NAME:
            cursor.fail(f"expected an expression, found '{cursor.next.text}'")
        if cursor.next_but_one("["):
            return Load(*self._element())
        if cursor.next_but_one("(", ":"):
            return self._operator()
        token = cursor.name()
        if token.text not in self._vars:
            cursor.fail(f"there is no variable '{token.text}'", token)
        return self._vars[token.text]

    def _starts_constant(self) -> bool:
        cursor = self._cursor
        if cursor.sees("pair"):
            return cursor.next_but_one("(")
        if cursor.sees("inf"):
            return cursor.next_but_one(":")
        words = ("true", "false", "-")
        numeric = cursor.next.kind in (TokenKind.NUMBER, TokenKind.BITS)
        return numeric or any(map(cursor.sees, words))

    def _constant(self) -> Const:
        value = self._values.value(None)
        if isinstance(value, bool):
            return Const(ElementType.PRED, value)
        if not self._cursor.accept(":"):
            return Const(INDEX, value)
        element_type = self._cursor.type()
        if isinstance(value, Token):
            value = self._values.bits(value, element_type)
        return Const(element_type, value)

    def _operator(self) -> Apply:
        cursor = self._cursor
        operator = cursor.name().text
        element_type = cursor.type() if cursor.accept(":") else None
        cursor.expect("(")
        arguments = tuple(cursor.listed(self._expr, ")"))
        return Apply(operator, arguments, element_type or usual_type(operator, arguments))


def shape(cursor: Cursor) -> tuple[ElementType, tuple[int, ...]]:
    """`: f32[4,8]`"""
    cursor.expect(":")
    element_type = cursor.type()
    cursor.expect("[")
    return element_type, tuple(cursor.listed(cursor.integer, "]"))
