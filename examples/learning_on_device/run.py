"""Exports the training step for a target, compiles it with main.c, and runs it there.

usage: python run.py [target]    default: cortex-m4, in an emulator
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import ccodegen
from ccodegen.backend.runner import run_program
from ccodegen.backend.toolchain import build_program
from ccodegen.target import load

HERE = Path(__file__).resolve().parent
WEIGHTS = ("w1", "b1", "w2", "b2")


def main(target_name: str = "cortex-m4") -> int:
    target = load(target_name)
    with tempfile.TemporaryDirectory() as folder:
        package, program = Path(folder) / "learn", Path(folder) / "program"
        ccodegen.export(HERE / "train_step.hlo", target, "learn", package, donate=WEIGHTS)
        sources = [package / "src" / "learn.c", HERE / "main.c"]
        include = [package / "include", package / "runtime"]
        build_program(sources, program, target, include=include)
        done = run_program(program, target)
    print(done.output, end="")
    return done.code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
