"""Runs program.hlo here, over a vibration that grows, and writes it as firmware."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np

import ccodegen

HERE = Path(__file__).resolve().parent


def report(config: str, *arrays: Any) -> None:
    print(f"{config}: {float(arrays[0]):.1f} dB")


def ignore(config: str, *arrays: Any) -> None:
    """For the reference, which reports too."""


def main(firmware: Path = HERE / "firmware") -> None:
    runpy.run_path(str(HERE / "plugin.py"))
    io = ccodegen.IO(outfeed=report)
    vibration = ccodegen.compile(HERE / "program.hlo", io=io)
    samples = np.arange(256) / 64
    signal = (samples * np.sin(2 * np.pi * 4 * samples)).astype(np.float32)

    state = np.zeros(2, np.float32)
    for block in signal.reshape(-1, 64):
        silent = ccodegen.IO(outfeed=ignore)
        expected, _ = ccodegen.evaluate(HERE / "program.hlo", block, state, io=silent)
        filtered, state = vibration(block, state)
        assert np.allclose(filtered, expected, atol=1e-5)

    made = ccodegen.export(HERE / "program.hlo", name="vibration", directory=firmware)
    print(f"{len(made.files)} files in {firmware.name}: {made.notes[0]}")


if __name__ == "__main__":
    main()
