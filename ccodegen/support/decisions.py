"""What a cost model decided and why, told on stderr to who asks by CCODEGEN_DEBUG=2."""

from __future__ import annotations

import os
import sys


def debug_level() -> int:
    """CCODEGEN_DEBUG as a number from 0 to 5; 0 where it is not set."""
    text = os.environ.get("CCODEGEN_DEBUG", "")
    return int(text) if text.isdigit() else 0


def decided(subject: str, choice: str, why: str) -> None:
    """`subject`: the name of an instruction or a kernel."""
    if debug_level() >= 2:
        print(f"{subject}: {choice}: {why}", file=sys.stderr)
