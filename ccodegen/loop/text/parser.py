"""Parses loop programs and kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from ccodegen.loop.ir import (
    Argument,
    Buffer,
    BufferLife,
    CallHook,
    CallKernel,
    ConstantData,
    Handed,
    Kernel,
    Program,
    Space,
    Step,
    Switch,
    While,
)
from ccodegen.loop.literals import array_of_base64, array_of_values
from ccodegen.loop.text.cursor import Cursor
from ccodegen.loop.text.kernel_parser import KernelParser, ValueParser, shape
from ccodegen.loop.text.lexer import TokenKind
from ccodegen.support.element_type import ElementType
from ccodegen.support.hooks import Hook, Request

_HOOKS = {hook.value: hook for hook in Hook}


def parse(text: str, file: str = "<text>") -> Program:
    """The program that `to_text` has printed. Raises InputError at what does not fit."""
    return _ProgramParser(Cursor(text, file)).program()


def parse_kernel(text: str, file: str = "<text>") -> Kernel:
    """The kernel that `to_text` has printed. Raises InputError at what does not fit."""
    cursor = Cursor(text, file)
    kernel = KernelParser(cursor).kernel()
    cursor.of_kind(TokenKind.END)
    return kernel


class _ProgramParser:
    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._buffers: dict[str, Buffer] = {}
        self._kernels: dict[str, Kernel] = {}
        self._arguments: list[Argument] = []
        self._constants: list[ConstantData] = []
        self._lives: list[BufferLife] = []

    def program(self) -> Program:
        cursor = self._cursor
        cursor.expect("program")
        name, signature = cursor.name().text, cursor.string_or_empty()
        cursor.expect("arena")
        arena_size = cursor.integer()
        cursor.expect("align")
        alignment = cursor.integer()
        while not cursor.sees("steps"):
            self._item()
        cursor.expect("steps")
        steps = cursor.block(self._step)
        cursor.of_kind(TokenKind.END)
        return Program(
            name=name,
            arguments=tuple(self._arguments),
            constants=tuple(self._constants),
            arena_size=arena_size,
            alignment=alignment,
            kernels=tuple(self._kernels.values()),
            steps=steps,
            signature=signature,
            arena_buffers=tuple(self._lives),
        )

    def _item(self) -> None:
        cursor = self._cursor
        if cursor.sees("kernel"):
            kernel = KernelParser(cursor).kernel()
            self._kernels[kernel.name] = kernel
        elif cursor.accept("argument"):
            self._argument()
        elif cursor.accept("constant"):
            self._constant()
        elif cursor.accept("scratch"):
            self._scratch()
        else:
            cursor.fail(f"expected a declaration, a kernel or steps, found '{cursor.next.text}'")

    def _declared(self, space: Space, placed: bool = False) -> Buffer:
        cursor = self._cursor
        token = cursor.name()
        if token.label in self._buffers:
            cursor.fail(f"'{token.label}' is declared twice", token)
        element_type, dimensions = shape(cursor)
        if placed:
            cursor.expect("@")
        offset = cursor.integer() if placed else 0
        buffer = Buffer(token.text, element_type, dimensions, space, offset)
        self._buffers[token.label] = buffer
        return buffer

    def _argument(self) -> None:
        buffer = self._declared(Space.ARGUMENT)
        parameter = self._cursor.integer() if self._cursor.accept("parameter") else None
        output = self._cursor.integer() if self._cursor.accept("output") else None
        name = self._cursor.string()
        logical = self._cursor.string() if self._cursor.accept("as") else ""
        is_state = self._cursor.accept("initial")
        count = buffer.size if is_state else 0
        initial = tuple(self._cursor.integer() for _ in range(count))
        is_size = self._cursor.accept("size")
        size_of = (self._cursor.integer(), self._cursor.integer()) if is_size else ()
        self._arguments.append(Argument(name, buffer, parameter, output, logical, initial, size_of))

    def _constant(self) -> None:
        buffer = self._declared(Space.CONSTANT)
        self._cursor.expect("=")
        start = self._cursor.next
        array = self._data(buffer.type)
        if array.size != buffer.size:
            self._cursor.fail(f"{array.size} values for {buffer.size} elements", start)
        self._constants.append(ConstantData(buffer, array.reshape(buffer.dimensions)))

    def _data(self, element_type: ElementType) -> np.ndarray[Any, Any]:
        cursor = self._cursor
        if cursor.accept("base64"):
            token = cursor.next
            try:
                return array_of_base64(cursor.string(), element_type)
            except ValueError as error:
                cursor.fail(f"this is no array: {error}", token)
        cursor.expect("[")
        values = ValueParser(cursor)
        return array_of_values(cursor.listed(lambda: values.value(element_type), "]"), element_type)

    def _scratch(self) -> None:
        buffer = self._declared(Space.ARENA, placed=True)
        cursor = self._cursor
        while cursor.accept("life"):
            first = cursor.integer()
            cursor.expect("to")
            last = cursor.integer()
            self._lives.append(BufferLife(buffer, first, last, cursor.string_or_empty()))

    def _buffer(self) -> Buffer:
        token = self._cursor.name()
        if token.label not in self._buffers:
            self._cursor.fail(f"there is no buffer '{token.label}'", token)
        return self._buffers[token.label]

    def _step(self) -> Step:
        cursor = self._cursor
        if cursor.accept("while"):
            return self._while()
        if cursor.accept("switch"):
            selector, origin = self._buffer(), cursor.string_or_empty()
            return Switch(selector, cursor.block(lambda: self._part("branch")), origin)
        if cursor.accept("hook"):
            return self._hook()
        cursor.expect("call")
        token = cursor.name()
        if token.text not in self._kernels:
            cursor.fail(f"there is no kernel '{token.text}'", token)
        cursor.expect("(")
        buffers = tuple(cursor.listed(self._buffer, ")"))
        return CallKernel(self._kernels[token.text], buffers, cursor.string_or_empty())

    def _hook(self) -> CallHook:
        cursor = self._cursor
        token = cursor.name()
        if token.text not in _HOOKS:
            cursor.fail(f"there is no hook '{token.text}'", token)
        text, config = cursor.string(), cursor.string()
        cursor.expect("channel")
        request = Request(_HOOKS[token.text], text, config, cursor.integer())
        cursor.expect("(")
        reads = tuple(cursor.listed(self._handed, ")"))
        cursor.expect("writes")
        cursor.expect("(")
        writes = tuple(cursor.listed(self._buffer, ")"))
        return CallHook(request, reads, writes, cursor.string_or_empty())

    def _handed(self) -> Handed:
        buffer = self._buffer()
        start = self._cursor.next
        element_type, dimensions = shape(self._cursor)
        if element_type is not buffer.type:
            self._cursor.fail(f"{buffer.name} is of {buffer.type.text}", start)
        return Handed(buffer, dimensions)

    def _while(self) -> While:
        predicate, origin = self._buffer(), self._cursor.string_or_empty()
        self._cursor.expect("{")
        condition, body = self._part("condition"), self._part("body")
        self._cursor.expect("}")
        return While(condition, predicate, body, origin)

    def _part(self, word: str) -> tuple[Step, ...]:
        self._cursor.expect(word)
        return self._cursor.block(self._step)
