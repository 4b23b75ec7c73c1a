"""What a comparator orders by: keys of one element, where it compares those of two.

    f(a) < f(b)                                by f, ascending
    f(a) > f(b) or f(a) == f(b) and rest       by f, descending, then by the rest
"""

from __future__ import annotations

from itertools import permutations
from typing import TypeAlias

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.ops.creation import Parameter
from ccodegen.ops.elementwise import Compare
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable

_SWAPPED = {"LT": "GT", "GT": "LT", "EQ": "EQ"}

_EXACT = frozenset(
    (
        *("abs", "bitcast-convert", "compare", "constant", "convert", "copy", "imag", "is-finite"),
        *("negate", "real", "reduce-precision", "select"),
    )
)

_Map: TypeAlias = dict[Instruction, Instruction]


@immutable
class Key:
    """A scalar computed from the values of one element. Floats count in their total order, or, if
    `partial`, as numbers: zeros are equal, and there is no order with NaN among them."""

    computation: Computation
    descending: bool
    partial: bool = False


def sort_keys(comparator: Computation) -> tuple[Key, ...]:
    """The keys by which the comparator of a sort orders elements, the first one foremost.

    Empty where it may order them by something else, or be no order at all.
    """
    keys: list[Key] = []
    less = comparator.root
    while True:
        key = _compared(less, comparator, ("LT", "GT"))
        if key is not None:
            return (*keys, key)
        found = _first_and_rest(less, comparator)
        if found is None:
            return ()
        keys.append(found[0])
        less = found[1]


def _first_and_rest(
    less: Instruction, comparator: Computation
) -> tuple[Key, Instruction] | None:
    """The key f and the rest of `f(a) < f(b) or f(a) == f(b) and rest`."""
    if less.op != "or":
        return None
    own = {p: p for p in comparator.parameters}
    for before, tie in permutations(less.operands):
        for equal, rest in permutations(tie.operands) if tie.op == "and" else ():
            first = _compared(before, comparator, ("LT", "GT"))
            same = _compared(equal, comparator, ("EQ",))
            if first and same and _agree(first, same, own):
                return first, rest
    return None


def _agree(less: Key, equal: Key, own: _Map) -> bool:
    """Whether what is not less either way by the one key is equal by the other."""
    same_order = less.partial == equal.partial
    return same_order and _alike(less.computation.root, equal.computation.root, own)


def _compared(
    compare: Instruction, comparator: Computation, directions: tuple[str, ...]
) -> Key | None:
    """The key f of a comparison of f(a) with f(b), or f(b) with f(a), in one of the directions."""
    attributes = compare.attributes
    if not isinstance(attributes, Compare) or attributes.direction not in directions:
        return None
    left, right = compare.operands
    element_type = left.array_shape.element_type
    if element_type.is_complex:
        return None
    partial = element_type.is_float and attributes.type != "TOTALORDER"
    firsts, seconds = comparator.parameters[::2], comparator.parameters[1::2]
    direction, second = attributes.direction, dict(zip(firsts, seconds, strict=True))
    for value, other in ((left, right), (right, left)):
        if _alike(value, other, second):
            key = Computation(f"{comparator.name}_key", firsts, value)
            return Key(key, direction == "GT", partial)
        direction = _SWAPPED[direction]
    return None


def _alike(a: Instruction, b: Instruction, counterpart: _Map) -> bool:
    """Whether b is computed from the counterparts of parameters as a is from the parameters."""
    pairs, seen = [(a, b)], set()
    while pairs:
        pair = a, b = pairs.pop()
        if pair in seen:
            continue
        seen.add(pair)
        if isinstance(a.attributes, Parameter):
            if counterpart.get(a) is not b:
                return False
        elif not _same_function(a, b):
            return False
        else:
            pairs += zip(a.operands, b.operands, strict=True)
    return True


def _same_function(a: Instruction, b: Instruction) -> bool:
    """Whether they do the same to their operands, and each time the same."""
    same = (a.op, a.shape, a.attributes) == (b.op, b.shape, b.attributes)
    return same and len(a.operands) == len(b.operands) and _is_exact(a)


def _is_exact(instruction: Instruction) -> bool:
    """Whether it has one result in all places: float arithmetic may be contracted in one of them,
    and an element that had two keys would be lost."""
    if instruction.op in _EXACT:
        return True
    values = (instruction, *instruction.operands)
    integers = not any(_is_inexact(v.array_shape.element_type) for v in values)
    return integers and opdef.get(instruction.op).elementwise


def _is_inexact(element_type: ElementType) -> bool:
    return element_type.is_float or element_type.is_complex
