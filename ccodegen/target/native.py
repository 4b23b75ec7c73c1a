"""The processor we run on: what the `host` target cannot know before."""

from __future__ import annotations

import functools
import platform
import re
from collections.abc import Mapping
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_MATRIX_FEATURES = {"amx_tile", "amx_int8", "amx_bf16"}
_ARCH_PRCTL, _REQUEST_PERMISSION, _TILE_DATA = 158, 0x1023, 18  # of Linux on x86-64
_VECTORS = (("avx512f", 64, 32), ("avx", 32, 16), ("sse2", 16, 16), ("asimd", 16, 32))


@functools.cache
def features() -> frozenset[str]:
    """The processor's feature names as Linux lists them; empty elsewhere."""
    said = processor()
    return frozenset((said.get("flags") or said.get("Features", "")).split())


@functools.cache
def processor() -> Mapping[str, str]:
    """What Linux says of the first processor, by key; nothing elsewhere."""
    first, _, _ = _said(CPUINFO).partition("\n\n")
    pairs = (line.partition(":") for line in first.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def vector_unit() -> tuple[int, int]:
    """Bytes of a vector register, and how many there are; the least of all where unknown."""
    for feature, width, registers in _VECTORS:
        if feature in features():
            return width, registers
    return 16, 32 if platform.machine() in ("arm64", "aarch64") else 16


def fetches_ahead() -> bool:
    """See `Machine`: so it is on AMD's fourth Zen generation, whose family the third one shares."""
    said = processor()
    return said.get("vendor_id") == "AuthenticAMD" and said.get("cpu family") == "25"


def converts_f16() -> bool:
    """Whether instructions convert vectors of f16, those of F16C or of 64-bit Arm."""
    return not features().isdisjoint({"f16c", "asimd"})


def computes_f16() -> bool:
    """Whether instructions compute with vectors of f16, those of AVX512-FP16 or of Armv8.2."""
    return not features().isdisjoint({"avx512_fp16", "asimdhp"})


def multiplies_bf16_pairs() -> bool:
    """Whether an instruction adds products of pairs of bf16 to vectors as wide as the widest."""
    return "avx512_bf16" in features()


@functools.cache
def cache_bytes() -> int:
    """Of the first-level data cache, as Linux tells; 0 where it does not."""
    for cache in sorted(CACHES.glob("index*")):
        level, kind, size = (_said(cache / name) for name in ("level", "type", "size"))
        if level == "1" and kind in ("Data", "Unified") and re.fullmatch(r"[0-9]+K", size):
            return int(size[:-1]) << 10
    return 0


def _said(file: Path) -> str:
    try:
        return file.read_text(errors="replace").strip()
    except OSError:
        return ""


@functools.cache
def has_matrix_registers() -> bool:
    """Whether this process may use AMX for bytes and bf16: Linux wants to be asked, once."""
    if not features() >= _MATRIX_FEATURES:
        return False
    import ctypes  # where it is needed: it takes some milliseconds

    ask = ctypes.CDLL(None).syscall
    return bool(ask(_ARCH_PRCTL, _REQUEST_PERMISSION, _TILE_DATA) == 0)


def identity() -> str:
    """Tells two machines apart whose -march=native differs, or what a process may use of them."""
    known = sorted(features()) or [platform.processor()]  # on Linux it starts a program
    matrix = ["matrix"] if has_matrix_registers() else []
    return " ".join([platform.machine(), *known, *matrix])
