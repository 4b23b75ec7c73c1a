"""Filters a noisy sine block by block; the filter's state lives in one array, updated in place."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import ccodegen

HERE = Path(__file__).resolve().parent


def main() -> None:
    fir = ccodegen.compile(HERE / "fir.hlo")
    time = np.arange(1024)
    clean = np.sin(2 * np.pi * time / 200).astype(np.float32)
    noisy = clean + np.random.default_rng(0).normal(0, 0.3, time.size).astype(np.float32)

    state = np.zeros(15, np.float32)
    blocks = [fir(state, block)[1] for block in noisy.reshape(-1, 64)]
    filtered = np.concatenate(blocks)

    delay = 8
    for name, signal in (("noisy", noisy), ("filtered", filtered[delay:])):
        error = signal - clean[: signal.size]
        print(f"{name:9s} error {np.sqrt(np.mean(error**2)):.3f}")


if __name__ == "__main__":
    main()
