"""StableHLO text, MLIR bytecode and portable artifacts → HLO, by way of jaxlib."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from ccodegen.frontends import _jaxlib
from ccodegen.frontends.installed import require
from ccodegen.hlo import proto
from ccodegen.hlo.ir import Module
from ccodegen.passes.settle_entry_layout import with_row_major_interface
from ccodegen.support.errors import InputError
from ccodegen.support.location import Location
from ccodegen.support.pattern import pattern

MAGIC = b"ML\xefR"  # of MLIR bytecode; a portable artifact goes on with StableHLO_v…

_SECONDS = 60.0  # that a conversion may take, and
_SECONDS_PER_BYTE = 20e-6
_DIAGNOSTIC = pattern(r"(?:^|\s)(\S+?):(\d+):(\d+): error: (.*)")
_STATUS = pattern(r"^[A-Z_]+: ")  # XLA's error code in front of its message


def read(code: str | bytes, file: str = "<stablehlo>") -> Module:
    """The module of a StableHLO program, whose `main` becomes the entry.

    The conversion runs in a process of its own, which finds what this one does. Raises InputError
    where jaxlib is missing, where it rejects the program, and where it does not survive it.
    """
    data = code.encode("utf-8", "surrogateescape") if isinstance(code, str) else code
    return with_row_major_interface(proto.read(_converted(data, file), file))


def _converted(data: bytes, file: str) -> bytes:
    require("jaxlib")
    # -P: the folder of the script, which has front ends named after packages, is not searched.
    command = [sys.executable, "-P", str(Path(_jaxlib.__file__))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    seconds = _SECONDS + _SECONDS_PER_BYTE * len(data)
    try:
        done = subprocess.run(
            command, input=data, capture_output=True, timeout=seconds, env=environment
        )
    except subprocess.TimeoutExpired:
        message = f"jaxlib has not converted this StableHLO program after {seconds:.0f} seconds"
        raise InputError(message, Location(file)) from None
    if done.returncode == 0:
        return done.stdout
    if done.returncode == 1:
        raise conversion_error(done.stderr.decode("utf-8", "replace"), data, file)
    hint = "the program is invalid in a way that jaxlib does not check, such as a recursive call"
    raise InputError("jaxlib crashed on this StableHLO program", Location(file), hint)


def conversion_error(message: str, data: bytes, file: str) -> InputError:
    """jaxlib's diagnostics as an error at the place that the first of them names."""
    found = _DIAGNOSTIC.search(message)
    if not found:
        first_line = _STATUS.sub("", message.strip()).split("\n")[0]
        return InputError(f"jaxlib rejects this StableHLO program: {first_line}", Location(file))
    source, line, column, text = found[1], int(found[2]), int(found[3]), found[4]
    if source != "-":  # a location that the program itself names
        return InputError(text, Location(source, line, column))
    excerpt = "" if data.startswith(MAGIC) else _line(data, line)
    return InputError(text, Location(file, line, column if excerpt else 0, excerpt))


def _line(data: bytes, number: int) -> str:
    lines = data.decode("utf-8", "replace").split("\n")
    return lines[number - 1] if 1 <= number <= len(lines) else ""
