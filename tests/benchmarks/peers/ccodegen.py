"""ccodegen: a compiled program, loaded in a process that has no JAX.

As a script it is the process with JAX that lowers the workload and compiles it with nothing in the
cache: `python -m tests.benchmarks.peers.ccodegen WORKLOAD FOLDER THREADS PROGRAM` prints the
seconds, and saves the compiled program as PROGRAM.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import ccodegen
from tests.benchmarks import formats
from tests.benchmarks.peers.peer import Job, Prepared, flat
from tests.benchmarks.workload import all_workloads


class Peer:
    channels_first = False

    def __init__(self, threads: int) -> None:
        self.version = ccodegen.__version__
        self._threads = threads

    def prepare(self, job: Job) -> Prepared:
        with tempfile.TemporaryDirectory(dir=job.scratch) as folder:
            program = Path(folder) / "program"
            compiled = self._compile_elsewhere(job, program)
            start = time.perf_counter()
            executable = ccodegen.load(program)
            restored = time.perf_counter() - start
        inputs = [np.array(array) for array in formats.inputs(job.folder)]
        out = executable(*inputs)
        return Prepared(
            call=functools.partial(executable.run, *inputs, out=out),
            results=lambda: flat(executable(*inputs, out=out)),
            compiled=compiled,
            restored=restored,
        )

    def _compile_elsewhere(self, job: Job, program: Path) -> float:
        script = [sys.executable, "-m", __name__]
        command = [*script, job.name, str(job.folder), str(self._threads), str(program)]
        done = subprocess.run(
            command,
            env={**os.environ, "CCODEGEN_CACHE_DIR": str(program.with_name("cache"))},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(formats.error_of(done.stderr))
        return float(done.stdout.split()[-1])


def compile_cold(name: str, folder: Path, threads: int, program: Path) -> float:
    """Seconds that a program takes which JAX has lowered."""
    import ccodegen.compiling  # which is no part of the time, as with the other peers

    workload = all_workloads()[name]
    arguments, count = formats.arguments(folder), len(workload.inputs)
    lowered = formats.lower(workload, arguments)
    constants: dict[int | str, Any] = dict(enumerate(arguments[count:], count))
    start = time.perf_counter()
    compiled = ccodegen.compile(lowered, threads=threads, constants=constants)
    seconds = time.perf_counter() - start
    compiled.save(program)
    return seconds


if __name__ == "__main__":
    name, folder, threads, program = sys.argv[1:]
    print(compile_cold(name, Path(folder), int(threads), Path(program)))
