"""Translation units, and those that programs for this process have in common.

Apart from what prints the others: compilers begin with these before the passes are imported.
"""

from __future__ import annotations

from ccodegen.emit.effort import Effort
from ccodegen.support.immutable import immutable


@immutable
class Unit:
    """One translation unit."""

    name: str
    text: str
    effort: Effort


PYTHON = Unit("python.c", '#include "ccg_python.h"\n', Effort.LITTLE)
POOL_HEADER = "ccg_own_pool.h"


def pool(threads: int) -> Unit:
    """The threads of a program that shares its loops."""
    text = f'#define CCG_THREADS {threads}\n#include "{POOL_HEADER}"\n'
    return Unit("pool.c", text, Effort.LITTLE)


def common_units(threads: int) -> tuple[Unit, ...]:
    """What most programs have: `PYTHON`, which one with hooks does not need, and the pool, which
    one without large loops does not."""
    return (PYTHON, pool(threads)) if threads > 1 else (PYTHON,)
