"""A worker from outside: started, asked, and stopped while others run."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_START = 120  # seconds that a peer may take to be imported
_CHECKOUT = Path(__file__).resolve().parents[2]
_THREADS = ("OMP", "MKL", "OPENBLAS")  # read when the libraries are loaded


class PeerProcess:
    """A peer in a process of its own, which only runs while it is asked something."""

    def __init__(self, peer: str, threads: int, interpreter: str, scratch: Path) -> None:
        """`scratch`: a folder for temporary files and the log."""
        counts = {f"{name}_NUM_THREADS": str(threads) for name in _THREADS}
        command = [interpreter, "-m", "tests.benchmarks.worker", peer, str(threads), str(scratch)]
        with (scratch / f"{peer}.log").open("a", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                command,
                cwd=_CHECKOUT,
                env={**os.environ, **counts},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,  # a group to be signalled, with compilers that it runs
            )
        self.started = self._read(_START)
        self._signal(signal.SIGSTOP)

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, request: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        """The answer; one with "failed" where the process died or took more seconds than that."""
        assert self._process.stdin
        self._signal(signal.SIGCONT)
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return {"failed": "the process had ended"}
        answer = self._read(timeout)
        self._signal(signal.SIGSTOP)
        return answer

    def end(self) -> None:
        self._signal(signal.SIGKILL)
        self._process.wait()

    def _read(self, timeout: float) -> dict[str, Any]:
        assert self._process.stdout
        ready, _, _ = select.select([self._process.stdout], [], [], timeout)
        if not ready:
            self.end()
            return {"failed": f"no answer in {timeout:.0f} s"}
        line = self._process.stdout.readline()
        if not line:
            return {"failed": f"the process ended with code {self._process.wait()}"}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _signal(self, number: signal.Signals) -> None:
        if self.alive:
            os.killpg(self._process.pid, number)
