"""When each value is alive, as intervals over the numbered steps."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.lower.steps import Branch, Compute, Copy, Exchange, Loop, Step, StepProgram, Value


@dataclass
class Life:
    """First and last step at which a value's memory is needed, both included."""

    first: int
    last: int

    def overlaps(self, other: Life) -> bool:
        return self.first <= other.last and other.first <= self.last


@dataclass
class Lives:
    """`of`: the life of every value. `numbers`: the number of every step. `depth`: how many loops
    a step is in. `end`: the number after the last step."""

    of: dict[Value, Life]
    numbers: dict[Step, int]
    depth: dict[Step, int]
    end: int


def lives(program: StepProgram) -> Lives:
    """Parameters and constants live throughout; outputs until the end."""
    walker = _Walker()
    for parameter in program.parameters:
        walker.define(parameter)
    walker.run(program.steps)
    for output in program.outputs:
        walker.use(output)
    return Lives(walker.of, walker.numbers, walker.depths, walker.now)


class _Walker:
    def __init__(self) -> None:
        self.now = 0
        self.of: dict[Value, Life] = {}
        self.numbers: dict[Step, int] = {}
        self.depths: dict[Step, int] = {}
        self._depth = 0

    def define(self, value: Value) -> None:
        self.of.setdefault(value, Life(self.now, self.now))

    def use(self, value: Value) -> None:
        life = self.of.setdefault(value, Life(0, self.now))
        life.last = max(life.last, self.now)

    def run(self, steps: tuple[Step, ...]) -> None:
        for step in steps:
            self.now += 1
            self.numbers[step] = self.now
            self.depths[step] = self._depth
            self._step(step)

    def _step(self, step: Step) -> None:
        if isinstance(step, Compute):
            for values in step.inputs:
                for value in values:
                    self.use(value)
            for value in step.outputs:
                self.define(value)
        elif isinstance(step, Copy):
            self.use(step.source)
            self.define(step.target)
        elif isinstance(step, Exchange):
            for value in step.reads:
                self.use(value)
            for value in step.writes:
                self.define(value)
        elif isinstance(step, Loop):
            self._loop(step)
        else:
            self._branch(step)

    def _loop(self, loop: Loop) -> None:
        """State is needed until the condition is done, as it may be the result; what the body
        does not change is needed in every turn."""
        for value in loop.state:
            self.use(value)
        self._depth += 1
        self.run(loop.condition)
        self.now += 1
        self.use(loop.predicate)
        for value in loop.state:
            self.use(value)
        self.run(loop.body)
        self._depth -= 1
        self.now += 1
        for value in loop.next_state:
            self.use(value)
        for value in loop.result:
            self.define(value)

    def _branch(self, branch: Branch) -> None:
        self.use(branch.selector)
        for steps, ends in zip(branch.branches, branch.ends, strict=True):
            self.run(steps)
            self.now += 1
            for value in ends:
                self.use(value)
        self.now += 1
        for value in branch.result:
            self.define(value)
