"""What this machine can do at most, measured there and then by peak.c and bandwidth.c: machines are
quicker at one moment than at another, so that what is compared is to be measured beside it."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ccodegen.backend.compilers import find_compiler
from ccodegen.target import load

_HERE = Path(__file__).resolve().parent
_FLAGS = ("-std=gnu11", "-pthread")
_READS_ONLY = 1 / 64  # of what is moved: results so small do not make a copy of a reduction
_MOST_BYTES = 1 << 30  # larger ones are no slower


@dataclass(frozen=True)
class Limit:
    """The least seconds of a call, and what it is that takes them, such as "f32" or "copy"."""

    seconds: float
    bound: str


class Machine:
    """Measures what it is asked for, each time."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="ccodegen-benchmarks-")

    def close(self) -> None:
        self._folder.cleanup()

    def limit(
        self, flops: float, arithmetic: str, read: int, written: int, turns: int, threads: int
    ) -> Limit | None:
        """Of a call that computes so many operations, and reads and writes so many bytes in each
        of its turns. None where the machine lacks the arithmetic."""
        moved = read + written
        kind = _kind(read, written)
        speed = self._bandwidth(kind, threads, moved)
        bounds = [Limit(moved * turns / speed, kind)]
        if flops:
            peak = self._peak(arithmetic, threads)
            if not peak:
                return None
            bounds.append(Limit(flops / peak, arithmetic))
        return max(bounds, key=lambda bound: bound.seconds)

    def _peak(self, arithmetic: str, threads: int) -> float:
        """Operations a second; 0 where the processor has none of that kind."""
        return self._run("peak", arithmetic, str(threads))

    def _bandwidth(self, kind: str, threads: int, size: int) -> float:
        """Bytes a second."""
        return self._run("bandwidth", kind, str(threads), str(min(size, _MOST_BYTES)))

    def _run(self, program: str, *arguments: str) -> float:
        command = [str(self._program(program)), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return float(done.stdout)

    def _program(self, name: str) -> Path:
        path, target = Path(self._folder.name) / name, load("host")
        if not path.exists():
            flags = [*target.compile_flags(strict=False), *_FLAGS]
            words = find_compiler(target).words
            source = str(_HERE / f"{name}.c")
            subprocess.run([*words, *flags, source, "-o", str(path)], check=True)
        return path


def _kind(read: int, written: int) -> str:
    if written < read * _READS_ONLY:
        return "read"
    return "write" if read < written * _READS_ONLY else "copy"
