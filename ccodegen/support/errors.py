"""The three kinds of failure: the user's, a limit of ours, a bug of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ccodegen.support.location import Location


class CcodegenError(Exception):
    """A failure with a message for people, and where it is in the source, if anywhere.

    `hint` says what to do about it. `str(error)` has all of it: `file:line:column: error: message`,
    the source line with a caret where it is known, and the hint.
    """

    label = "error"

    def __init__(self, message: str, location: Location | None = None, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.location = location
        self.hint = hint

    def __str__(self) -> str:
        where = f"{self.location}: " if self.location else ""
        text = f"{where}{self.label}: {self.message}"
        if self.location and self.location.excerpt:
            text += "\n" + self.location.underline()
        return f"{text}\nhint: {self.hint}" if self.hint else text


class InputError(CcodegenError):
    """The input, an option or an argument is wrong: the user can mend it."""


class UnsupportedError(CcodegenError):
    """The input is valid, and we cannot compile it yet. Says what and where."""

    label = "unsupported"


class InternalError(CcodegenError):
    """A bug of ours."""

    label = "internal error"

    def __init__(self, message: str, location: Location | None = None) -> None:
        hint = "this is a bug in ccodegen; please report it with the output of --dump-dir"
        super().__init__(message, location, hint)


@contextmanager
def unexpected_are_bugs() -> Iterator[None]:
    """Exceptions that are not of our kinds leave as InternalError; CCODEGEN_DEBUG's traceback, and
    Python's chain of causes, still say where they began."""
    try:
        yield
    except (CcodegenError, MemoryError, OSError):
        raise
    except Exception as error:
        raise InternalError(f"{type(error).__name__}: {error}") from error
