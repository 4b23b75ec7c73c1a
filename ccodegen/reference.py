"""`evaluate`: a program run by the NumPy reference."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ccodegen.frontends import jax_lowered
from ccodegen.frontends.read import read
from ccodegen.hlo import evaluate as hlo_evaluate
from ccodegen.ops.custom_call import with_hosts
from ccodegen.support.hooks import IO, NO_IO


def evaluate(source: Any, *arrays: Any, io: IO = NO_IO) -> Any:
    """The results of a program, in whatever form `read` takes it, for these arguments.

    `io` answers what the program asks of its caller, as for `compile`. Obviously right rather than
    fast: strict mode's bits. Raises InputError for arguments that do not fit, UnsupportedError for
    an op that has no reference.
    """
    io = replace(io, calls={**jax_lowered.callbacks(source), **io.calls})
    return hlo_evaluate.evaluate(read(source), *arrays, io=with_hosts(io))
