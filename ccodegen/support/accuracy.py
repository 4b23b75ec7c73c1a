"""The error bounds of runtime_c's math functions, as the comments in front of them state them."""

from __future__ import annotations

import functools
import re

from ccodegen.support.immutable import frozen
from ccodegen.support.runtime_c import header_dir

_BOUND = r"At most ([\d.]+)(?: \(strict ([\d.]+)\))? ulp\. \*/\n"
_REAL = re.compile(_BOUND + r".* ccg_(\w+)_(f32|f64)\(")
_COMPLEX = re.compile(_BOUND + r"(?:CCG_UNARY|CCG_BINARY|.* CCG_F)\((\w+)\)")


@frozen
class Bound:
    """The largest error of a function's result, in default and in strict mode: in ulp of it, or for
    complex numbers of its larger part."""

    default: float
    strict: float


@functools.cache
def stated_bounds() -> dict[tuple[str, str], Bound]:
    """The bound by runtime_c's name of the function and type (f32 f64 c64 c128): ("exp", "f32")."""
    found = {}
    for header in sorted(header_dir().glob("*.h")):
        for default, strict, name, kind in _REAL.findall(header.read_text(encoding="utf-8")):
            found[name, kind] = Bound(float(default), float(strict or default))
    for body in ("ccg_complex.inc", "ccg_math_complex.inc"):
        text = (header_dir() / body).read_text(encoding="utf-8")
        for default, strict, name in _COMPLEX.findall(text):
            for kind in ("c64", "c128"):
                found[name, kind] = Bound(float(default), float(strict or default))
    return found
