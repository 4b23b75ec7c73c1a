"""Runs a program where its target lives: here, or under the target's emulator."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from ccodegen.support.errors import InputError
from ccodegen.support.immutable import frozen
from ccodegen.target import Target


@frozen
class Finished:
    """`output`: what the program printed, wherever to."""

    code: int
    output: str


def run_program(program: Path, target: Target) -> Finished:
    """Runs it to its end. Raises InputError where the emulator is missing or time runs out."""
    command = [word.replace("{program}", str(program)) for word in target.runner.command]
    if shutil.which(command[0]) is None:
        message = f"programs for {target.name} run by {command[0]}, which is not installed"
        hint = f"install it: {target.runner.install}" if target.runner.install else ""
        raise InputError(message, hint=hint)
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=target.runner.timeout,
        )
    except subprocess.TimeoutExpired:
        raise InputError(f"the program ran longer than {target.runner.timeout} s") from None
    return Finished(done.returncode, done.stdout)
