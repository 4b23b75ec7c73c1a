"""The error bounds of runtime_c's math functions, as the comments in front of them state them."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from ccodegen.support.runtime_c import header_dir

_STATED = re.compile(
    r"At most ([\d.]+)(?: \(strict ([\d.]+)\))? ulp\. \*/\n.* ccg_(\w+)_(f32|f64)\("
)


@dataclass(frozen=True)
class Bound:
    """The largest error of a function's result in ulp of it, in default and in strict mode."""

    default: float
    strict: float


@functools.cache
def stated_bounds() -> dict[tuple[str, str], Bound]:
    """The bound by runtime_c's name of the function and type (f32 or f64): ("expm1", "f32")."""
    found = {}
    for header in sorted(header_dir().glob("*.h")):
        for default, strict, name, kind in _STATED.findall(header.read_text(encoding="utf-8")):
            found[name, kind] = Bound(float(default), float(strict or default))
    return found
