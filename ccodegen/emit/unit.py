"""Translation units, and what programs for this process have in common.

Apart from what prints the others: compilers begin with that before the passes are imported.
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


POOL_HEADER = "ccg_own_pool.h"


def python_unit(threads: int) -> Unit:
    """What Python calls, of a program without hooks; if there are threads, with the pool that its
    loops may share: alone it would take a compiler as long to begin as to compile."""
    return Unit("python.c", f'{_pool(threads)}#include "ccg_python.h"\n', Effort.LITTLE)


def pool_unit(threads: int) -> Unit:
    """The pool of a program with hooks."""
    return Unit("pool.c", _pool(threads), Effort.LITTLE)


def _pool(threads: int) -> str:
    return f'#define CCG_THREADS {threads}\n#include "{POOL_HEADER}"\n' if threads > 1 else ""
