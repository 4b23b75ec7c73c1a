"""The C of runtime_c over NumPy arrays: the functions of `c_function` and `c_routine`.

Those, and the parser of C that they need, are imported by the first call: few programs that are
compiled make one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def call_function(name: str, *arguments: Any) -> Any:
    """See `c_function.call`."""
    from ccodegen.support import c_function

    return c_function.call(name, *arguments)


def call_routine(name: str, arrays: Sequence[Any], scalars: Sequence[Any]) -> None:
    """See `c_routine.call`."""
    from ccodegen.support import c_routine

    c_routine.call(name, arrays, scalars)


def is_routine(name: str) -> bool:
    from ccodegen.support import c_routine

    return c_routine.is_routine(name)
