"""Finds the shared test data: beside the checkout, or where CCODEGEN_SHARED points."""

from __future__ import annotations

import functools
import os
import tarfile
import tempfile
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent


def shared_dir() -> Path:
    """The folder of shared data; skips the test where there is none."""
    path = Path(os.environ.get("CCODEGEN_SHARED", CHECKOUT.parent / "shared"))
    if not path.is_dir():
        pytest.skip("no shared test data: put it beside the checkout or set CCODEGEN_SHARED")
    return path


@functools.cache
def corpus_dir() -> Path:
    """The unpacked HLO corpus: index.jsonl and a folder per suite. Unpacked once per machine."""
    archive = shared_dir() / "corpus" / "hlo_dev.tar.xz"
    stamp = int(archive.stat().st_mtime)
    cache = Path(tempfile.gettempdir()) / f"ccodegen-corpus-{os.getuid()}-{stamp}"
    if not cache.is_dir():
        unpacking = Path(tempfile.mkdtemp(dir=cache.parent))
        with tarfile.open(archive) as tar:
            tar.extractall(unpacking, filter="data")
        try:
            unpacking.rename(cache)
        except OSError:  # another process was faster
            assert cache.is_dir()
    return cache / "dev"
