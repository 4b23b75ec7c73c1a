"""Prints the calls of hooks: through the caller's `ccg_io`, see runtime_c/ccg_io.h."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized

from ccodegen.emit.lines import indented
from ccodegen.loop.ir import Buffer, CallHook, Program
from ccodegen.loop.steps import hook_calls
from ccodegen.support.errors import UnsupportedError
from ccodegen.support.hooks import Hook

HEADER = "ccg_io.h"
NAMES = ("io", "reads", "writes", "status")
_LONGEST = 4000  # C99 promises room for 4095 characters


def members(program: Program) -> list[str]:
    """The members of `ccg_io` that the program asks for, in the order of the struct."""
    needed = {call.request.hook for call in hook_calls(program.steps)}
    return [hook.value for hook in Hook if hook in needed]


def print_hook(call: CallHook, name: Callable[[Buffer], str]) -> list[str]:
    """A block that calls the hook and leaves the function with what it returns if that is not 0."""
    request = call.request
    if request.hook is Hook.CALL:
        what = [c_string(request.text), c_string(request.config)]
        arrays = [*_pair("reads", call.reads), *_pair("writes", call.writes)]
    else:
        is_channel = request.hook in (Hook.SEND, Hook.RECV)
        what = [str(request.channel) if is_channel else c_string(request.text)]
        takes = request.hook in (Hook.OUTFEED, Hook.SEND)
        arrays = _pair("reads", call.reads) if takes else _pair("writes", call.writes)
    arguments = ", ".join(["io->context", *what, *arrays])
    lines = [
        *_table("ccg_input", "reads", [_row(name, h.buffer, h.shape) for h in call.reads]),
        *_table("ccg_output", "writes", [_row(name, b, b.shape) for b in call.writes]),
        f"const int status = io->{request.hook.value}({arguments});",
        "if (status != 0) {",
        "    return status;",
        "}",
    ]
    return ["{", *indented(lines), "}"]


def _table(kind: str, table: str, rows: Sequence[str]) -> list[str]:
    return [f"const {kind} {table}[] = {{", *indented(rows), "};"] if rows else []


def _row(name: Callable[[Buffer], str], buffer: Buffer, shape: str) -> str:
    return f'{{{name(buffer)}, {buffer.bytes}, "{shape}"}},'


def _pair(table: str, arrays: Sized) -> list[str]:
    return [table, str(len(arrays))] if arrays else ["NULL", "0"]


def c_string(text: str) -> str:
    """A C string with the text's UTF-8; what is not printable ASCII becomes octal."""
    data = text.encode("utf-8", "surrogateescape")
    if len(data) > _LONGEST:
        raise UnsupportedError(f"a text of {len(data)} bytes for a hook: {text[:60]!r}")
    return '"' + "".join(map(_character, data)) + '"'


def _character(byte: int) -> str:
    character = chr(byte)
    if character in '"\\?':  # `??` would begin a trigraph
        return f"\\{character}"
    return character if 32 <= byte < 127 else f"\\{byte:03o}"
