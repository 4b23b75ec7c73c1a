"""Programs and calls that are refused, by kind, and what is said about each.

    python -m tests.errors.refusals        the table, in Markdown

The programs stand in refused_programs.txt, each under a line `# kind: error: part of the message`.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import ccodegen
from ccodegen.support.errors import CcodegenError

Attempt = Callable[[Path], Any]

_PROGRAMS = Path(__file__).with_name("refused_programs.txt")
_HEADING = re.compile(r"^# (.*): (InputError|UnsupportedError): (.*)$", re.M)
_NEGATE = "ENTRY e {\n  x = f32[4] parameter(0)\n  ROOT r = f32[4] negate(x)\n}"
_HALF = "ENTRY e {\n  x = f32[4] parameter(0)\n  ROOT r = f32[2] slice(x), slice={[0:2]}\n}"


@dataclass(frozen=True)
class Refusal:
    """What is tried in a folder, the class of the error, and a part of its message.
    `has_place`: it names line and column."""

    kind: str
    error: str
    message: str
    attempt: Attempt
    has_place: bool = False

    def seen(self, folder: Path) -> CcodegenError | None:
        """The error that the attempt ends with."""
        try:
            self.attempt(folder)
        except CcodegenError as error:
            return error
        return None


def all_refusals() -> list[Refusal]:
    misuse = (Refusal(kind, "InputError", *rest) for kind, *rest in _misuse())
    files = (Refusal(kind, "InputError", "", _file(*rest)) for kind, *rest in _FILES)
    return [*_programs(), *files, *misuse]


def table() -> str:
    """Kind, class of the error and message."""
    lines = ["| tried | error | message |", "|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        for refusal in all_refusals():
            error = refusal.seen(Path(folder))
            text = str(error).replace(folder + "/", "").replace("\n", "<br>").replace("|", "\\|")
            lines.append(f"| {refusal.kind} | {type(error).__name__} | {text} |")
    return "\n".join(lines)


def _programs() -> Iterator[Refusal]:
    parts = _HEADING.split(_PROGRAMS.read_text())[1:]
    for kind, error, message, text in zip(*(iter(parts),) * 4, strict=True):
        yield Refusal(kind, error, message, _compiled(text.strip()), has_place=True)


def _compiled(text: str, **options: Any) -> Attempt:
    """Compiles, and runs where the program takes nothing."""

    def attempt(folder: Path) -> Any:
        path = folder / "program.hlo"
        path.write_text(text)
        executable = ccodegen.compile(path, **options)
        return None if "parameter(" in text else executable()

    return attempt


def _called(text: str, *arrays: Any, **options: Any) -> Attempt:
    return lambda folder: ccodegen.compile(text)(*arrays, **options)


def _file(name: str, data: bytes) -> Attempt:
    def attempt(folder: Path) -> Any:
        (folder / name).write_bytes(data)
        return ccodegen.compile(folder / name)

    return attempt


def _exported(**options: Any) -> Attempt:
    return lambda folder: ccodegen.export(_NEGATE, **{"directory": folder / "out", **options})


_FILES = (
    ("an empty file", "p.hlo", b""),
    ("text that is not UTF-8", "p.hlo", _NEGATE.replace("x", "\xe9").encode("latin-1")),
    ("text in UTF-16", "p.hlo", _NEGATE.encode("utf-16")),
    ("bytes that are nothing", "p.hlo", bytes(range(256))),
    ("a proto that is cut off", "p.pb", b"\x0a\x05hello\x12\x99"),
    ("a kind of file that is not known", "p.xyz", b"\x00\x01\x02"),
    ("StableHLO that does not parse", "p.mlir", b"func.func @main( {"),
)


def _misuse() -> Iterator[tuple[str, str, Attempt]]:
    """Options and arguments that do not fit the program."""
    row, short = np.zeros(4, np.float32), np.zeros(3, np.float32)
    wrong = "expected f32[4], got"
    yield "a file that is not there", "none.hlo", lambda f: ccodegen.compile(f / "none.hlo")
    yield "a folder", "Is a directory", lambda f: ccodegen.compile(f)
    yield "an object that is no program", "from a int", lambda f: ccodegen.compile(42)
    yield "too few arguments", "expected 1 argument (x), got 0", _called(_NEGATE)
    yield "an argument of another shape", f"{wrong} f32[3]", _called(_NEGATE, short)
    yield "an argument of another type", f"{wrong} f64[4]", _called(_NEGATE, np.zeros(4))
    yield "an argument that is no array", wrong, _called(_NEGATE, "x")
    yield "a result of another shape", f"{wrong} f32[3]", _called(_NEGATE, row, out=short)
    yield "an unknown target", "unknown target 'z80'", _compiled(_NEGATE, target="z80")
    yield "a target elsewhere", "not run in this process", _compiled(_NEGATE, target="cortex-m4")
    yield "no thread", "threads must be 1 to 64, not 0", _compiled(_NEGATE, threads=0)
    yield "donating what is not there", "no parameter 'y'", _compiled(_NEGATE, donate=["y"])
    yield "donating what no result takes", "cannot be donated", _compiled(_HALF, donate=[0])
    yield "donating no list", "donate=['x']", _compiled(_NEGATE, donate="x")
    yield "constants without names", "expected a dict", _compiled(_NEGATE, constants=[row])
    yield "a target that is no name", "target: expected", _compiled(_NEGATE, target=3)
    yield "threads that are no number", "threads must be", _compiled(_NEGATE, threads="2")
    yield "hooks that are no IO", "expected a ccodegen.IO", _compiled(_NEGATE, io={})
    yield "a hook that is no function", "infeed must be", lambda f: ccodegen.IO(infeed=3)
    yield "jit of no function", "takes a function", lambda f: ccodegen.jit(3)
    yield "a seed below 0", "seed", _exported(seed=-1)
    yield "a constant of another shape", "f32[3]", _compiled(_NEGATE, constants={"x": short})
    yield "a constant for no parameter", "no parameter 7", _compiled(_NEGATE, constants={7: row})
    yield "a prefix that C does not take", "'1st'", _exported(name="1st")
    yield "a prefix that is no text", "7", _exported(name=7)
    yield "a folder that cannot be", "cannot write", _exported(directory="/dev/null/out")
    yield "an unknown stage", "stage 'llvm'", lambda f: ccodegen.compile(_NEGATE).as_text("llvm")


if __name__ == "__main__":
    print(table())
