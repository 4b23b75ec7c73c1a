"""Shrinks a module that shows a fault to a few lines that still show it.

    smaller = reduce(module, fails)

`fails(module)` says whether a module shows the fault. What is tried stands in `cuts` (fewer
instructions) and `shrinks` (smaller ones); a candidate counts only if it is valid and simpler.
"""

from __future__ import annotations

from collections.abc import Callable

from ccodegen.hlo.ir import Module
from ccodegen.hlo.verify import verify
from ccodegen.passes.reducing import cuts, shrinks
from ccodegen.passes.reducing.tidy import cost, tidy
from ccodegen.support.errors import CcodegenError

Fails = Callable[[Module], bool]

# The largest steps first; what they leave is small enough to try all the rest on.
_STAGES = (
    cuts.other_roots,
    cuts.parameters_instead,
    cuts.simplified,
    cuts.called_in_place,
    cuts.operands_instead,
    cuts.constants_instead,
    cuts.fewer_results,
    shrinks.smaller_sizes,
    shrinks.plainer_attributes,
    shrinks.plainer_literals,
    shrinks.commoner_types,
)


def reduce(
    module: Module, fails: Fails, accepted: Callable[[Module], None] | None = None
) -> Module:
    """The smallest module found for which `fails` holds, as it does for the one given.

    The same module gives the same result. `accepted` is told of each step.
    """
    search = _Search(module, fails, accepted)
    search.attempt(lambda: module)
    while True:
        before = search.best
        for stage in _STAGES:
            search.run(stage)
        if search.best is before:
            return before


class _Search:
    """The best module so far, and all texts that have been tried."""

    def __init__(
        self, module: Module, fails: Fails, accepted: Callable[[Module], None] | None
    ) -> None:
        self.best = module
        self._fails, self._accepted = fails, accepted
        self._tried: set[str] = set()
        self._cost: tuple[int, ...] | None = None

    def run(self, stage: cuts.Stage) -> None:
        """Tries the stage's candidates; after a success, those of the new module at that place."""
        place = 0
        while True:
            candidates = list(stage(self.best))[place:]
            found = next((n for n, c in enumerate(candidates) if self.attempt(c)), None)
            if found is None:
                return
            place += found

    def attempt(self, candidate: cuts.Candidate) -> bool:
        """Takes the candidate if it is valid, simpler than the best, and fails."""
        try:
            tidied = tidy(candidate())
            size, text = cost(tidied), tidied.to_text()
            if text in self._tried or (self._cost is not None and size >= self._cost):
                return False
            verify(tidied)
        except (CcodegenError, AssertionError, ValueError, IndexError):
            return False  # a step that does not go with this module
        self._tried.add(text)
        if not self._fails(tidied):
            return False
        self.best, self._cost = tidied, size
        if self._accepted is not None:
            self._accepted(tidied)
        return True
