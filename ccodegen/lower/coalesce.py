"""Which values share one piece of memory: copies that are none, and results over dead operands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ccodegen.lower.liveness import Life, Lives
from ccodegen.lower.steps import Compute, Copy, Step, StepProgram, Value, walk
from ccodegen.support.errors import InternalError


@dataclass(eq=False)
class Storage:
    """One piece of memory and the values that lie in it, one after the other.

    At most one of `parameter`, `output` (or both, for a donated parameter) and `constant` is set;
    otherwise it is in the arena.
    """

    values: list[Value] = field(default_factory=list)

    @property
    def parameter(self) -> int | None:
        return next((v.parameter for v in self.values if v.parameter is not None), None)

    @property
    def output(self) -> int | None:
        return next((v.output for v in self.values if v.output is not None), None)

    @property
    def is_constant(self) -> bool:
        return any(v.constant is not None for v in self.values)

    @property
    def in_arena(self) -> bool:
        return self.parameter is None and self.output is None and not self.is_constant

    @property
    def interface(self) -> Value:
        """The value that gives the memory its name and shape: a parameter, output or constant
        where there is one."""
        outside = [v for v in self.values if v.parameter is not None or v.constant is not None]
        outside += [v for v in self.values if v.output is not None]
        return (outside or self.values)[0]

    @property
    def bytes(self) -> int:
        return max(v.shape.bytes for v in self.values)


def coalesce(program: StepProgram, lives: Lives) -> dict[Value, Storage]:
    """The storage of every value. What must share does; then, dearest copies first, what may."""
    steps = tuple(walk(program.steps))
    memory = _Memory(lives, _handovers(steps, lives))
    for value in lives.of:
        memory.of[value] = Storage([value])
    for values in program.together:
        for value in values[1:]:
            memory.join(values[0], value)
    for step in sorted(steps, key=lambda s: -_weight(s, lives)):
        if isinstance(step, Copy):
            memory.try_to_join(step.source, step.target)
    for step in steps:
        if isinstance(step, Compute):
            for source, target in step.in_place:
                memory.try_to_join(source, target)
    return memory.of


def _handovers(steps: Sequence[Step], lives: Lives) -> set[tuple[Value, Value]]:
    """Pairs of values of which the one may end in the very step in which the other begins, in
    the same memory: the ends of a copy, and what is computed in place."""
    found: set[tuple[Value, Value]] = set()
    for step in steps:
        if isinstance(step, Copy | Compute):
            pairs = ((step.source, step.target),) if isinstance(step, Copy) else step.in_place
            at = lives.numbers[step]
            found.update(p for p in pairs if lives.of[p[0]].last == at == lives.of[p[1]].first)
    return found


def _weight(step: Step, lives: Lives) -> int:
    """What a copy costs: its bytes, a thousandfold for each loop around it."""
    return step.source.shape.bytes * 1000 ** lives.depth[step] if isinstance(step, Copy) else 0


class _Memory:
    def __init__(self, lives: Lives, handovers: set[tuple[Value, Value]]) -> None:
        self.of: dict[Value, Storage] = {}
        self._lives = lives
        self._handovers = handovers

    def join(self, a: Value, b: Value) -> None:
        first, second = self.of[a], self.of[b]
        if first is second:
            return
        first.values += second.values
        for value in second.values:
            self.of[value] = first

    def try_to_join(self, source: Value, target: Value) -> None:
        """Joins them where no two values would be alive in the same memory at the same time."""
        a, b = self.of[source], self.of[target]
        if a is b or not _same_kind(source, target) or not _may_share(a, b):
            return
        if all(self._apart(x, y) for x in a.values for y in b.values):
            self.join(source, target)

    def _apart(self, x: Value, y: Value) -> bool:
        if not self._life(x).overlaps(self._life(y)):
            return True
        return (x, y) in self._handovers or (y, x) in self._handovers

    def _life(self, value: Value) -> Life:
        return self._lives.of[value]


def _same_kind(a: Value, b: Value) -> bool:
    return a.shape.element_type is b.shape.element_type and a.shape.size == b.shape.size


def _may_share(a: Storage, b: Storage) -> bool:
    """Not the caller's inputs or constants, which are read-only, nor two outputs."""
    if a.is_constant or b.is_constant:
        return False
    if any(s.parameter is not None and s.output is None for s in (a, b)):
        return False
    return a.output is None or b.output is None


def check(memory: dict[Value, Storage], lives: Lives) -> None:
    """Raises InternalError where two values that must share memory are alive at once."""
    for storage in set(memory.values()):
        ordered = sorted(storage.values, key=lambda v: (lives.of[v].first, lives.of[v].last))
        for a, b in pairwise(ordered):
            if lives.of[a].last > lives.of[b].first:
                raise InternalError(f"{a} and {b} overlap in memory")
