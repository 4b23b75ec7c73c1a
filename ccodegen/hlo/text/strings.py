"""Quoted strings of HLO text: C escapes, every byte outside printable ASCII as three octal digits.

Bytes that are not UTF-8 become lone surrogates in the `str`, and the same bytes again in the text.
"""

from __future__ import annotations

import re

from ccodegen.hlo.text.cursor import STRING, Cursor
from ccodegen.support.pattern import pattern

_ESCAPE = pattern(rb"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|u[0-9a-fA-F]{4}|.)", re.DOTALL)
_SIMPLE = {
    b"n": b"\n", b"r": b"\r", b"t": b"\t", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v",
}  # fmt: skip
_ESCAPED = {
    ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t",
    ord('"'): '\\"', ord("'"): "\\'", ord("\\"): "\\\\",
}  # fmt: skip
_PLAIN = pattern(r"[ !#-&(-\[\]-~]*")


def parse_string(cursor: Cursor) -> str:
    """A quoted string's value."""
    at = cursor.position
    found = cursor.take(STRING)
    if not found:
        if cursor.text.startswith('"', at):
            raise cursor.error("the string is never closed", at)
        raise cursor.expected("a quoted string", at)
    return unescape(found[0][1:-1])


def unescape(text: str) -> str:
    """The value of what stands between the quotes."""
    if "\\" not in text:
        return text
    data = _ESCAPE.sub(_unescaped, text.encode("utf-8", "surrogateescape"))
    return data.decode("utf-8", "surrogateescape")


def _unescaped(found: re.Match[bytes]) -> bytes:
    code = found[1]
    if code[:1] == b"u" and len(code) == 5:
        return chr(int(code[1:], 16)).encode("utf-8", "surrogatepass")
    if code[:1] == b"x" and len(code) > 1:
        return bytes([int(code[1:], 16)])
    if code[:1] in b"01234567":
        return bytes([int(code, 8) & 255])
    return _SIMPLE.get(code, code)


def quoted(value: str) -> str:
    """The value as a quoted string of printable ASCII."""
    if _PLAIN.fullmatch(value):
        return f'"{value}"'
    data = value.encode("utf-8", "surrogateescape")
    return '"' + "".join(map(_escaped, data)) + '"'


def _escaped(byte: int) -> str:
    if byte in _ESCAPED:
        return _ESCAPED[byte]
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"
