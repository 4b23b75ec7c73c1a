"""The actual sizes of a reshape's result.

At the bounds a reshape splits and merges dimensions: runs of neighbouring dimensions of the operand
become runs of the result with as many elements (`f32[6,4] → f32[2,3,4]`: 6 → 2·3 and 4 → 4). The
same runs have equally many elements at the actual sizes, so one dynamic dimension in a run of the
result follows from the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

from ccodegen.hlo.dynamic import dynamic_flags
from ccodegen.hlo.ir import Instruction
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.movement import Reshape
from ccodegen.support.errors import UnsupportedError
from ccodegen.support.immutable import immutable


@immutable
class Run:
    """Dimensions of the operand that become dimensions of the result."""

    source: tuple[int, ...]
    target: tuple[int, ...]


def runs(source: Sequence[int], target: Sequence[int]) -> tuple[Run, ...]:
    """The shortest runs; all is one run where a dimension is empty."""
    if 0 in source:
        return (Run(tuple(range(len(source))), tuple(range(len(target)))),)
    found: list[Run] = []
    i = j = 0
    while i < len(source) and j < len(target):
        first, left, right = (i, j), source[i], target[j]
        i, j = i + 1, j + 1
        while left != right:
            if left < right:
                left, i = left * source[i], i + 1
            else:
                right, j = right * target[j], j + 1
        found.append(Run(tuple(range(first[0], i)), tuple(range(first[1], j))))
    last = found.pop() if found else Run((), ())
    ones = tuple(range(i, len(source))), tuple(range(j, len(target)))
    return (*found, Run(last.source + ones[0], last.target + ones[1]))


def derived_dimension(instruction: Instruction, run: Run, dynamic: Sequence[bool]) -> int | None:
    """The dimension of the run's target whose size follows from the actual sizes of its source, of
    which `dynamic` says which are; None: no size of the run does."""
    if not any(dynamic[d] for d in run.source):
        return None
    shape = instruction.array_shape
    candidates = [d for d in run.target if shape.dimensions[d] > 1] or list(run.target)
    flags = dynamic_flags(shape)
    marked = [d for d in run.target if flags[d]]
    inferred = attributes_of(instruction, Reshape).inferred_dimension
    if len(marked) == 1:
        return marked[0]
    if inferred in run.target:
        return inferred
    if len(candidates) != 1:
        operand = instruction.operands[0].array_shape
        message = f"reshape '{instruction.name}' of {operand} to {shape}, whose sizes are unclear"
        raise UnsupportedError(message, instruction.location)
    return candidates[0]
