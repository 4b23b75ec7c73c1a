"""Lines of C: one level in, and no longer than 100 columns.

Long ones are broken after a comma or around an operator, as far outside of brackets as it goes:

    static void scale(const float *x, float *y)   →   static void scale(const float *x,
                                                          float *y)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ccodegen.support.pattern import pattern

INDENT = "    "
_STRING = pattern(r'"(?:[^"\\]|\\.)*"')
_MARKS = pattern(r"[ ()\[\]]")
_DEPTHS = {"(": 4, ")": -4, "[": 100, "]": -100}
_LINE = 100
# What a break before an operator costs: the tighter it binds, the more.
_OPERATORS = {
    **dict.fromkeys(("||", "?", ":"), 0),
    "&&": 1,
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!=", "&", "^", "|", "<<", ">>", "+", "-"), 2),
    **dict.fromkeys("*/%", 3),
}
_ENDS = (",", ";", " =", " +=")
_LAST = 1000  # a break between any other words, as those of a type or a comment


class _Break(NamedTuple):
    """A space that may become a line's end. `cost`: the less, the better it reads."""

    place: int
    cost: int


def indented(lines: Sequence[str]) -> list[str]:
    return [INDENT + line if line else line for line in lines]


def fitted(lines: Sequence[str]) -> list[str]:
    """The lines with those over 100 columns broken at spaces, continued one level further in."""
    return [part for line in lines for part in _fitted(line)]


def _fitted(line: str) -> list[str]:
    if len(line) <= _LINE:
        return [line]
    margin = line[: len(line) - len(line.lstrip())]
    breaks = list(_breaks(line))
    parts, lead, start = [], margin, len(margin)
    while len(lead) + len(line) - start > _LINE:
        end = _chosen(breaks, start, _LINE - len(lead))
        if end is None:
            break
        parts.append(lead + line[start:end])
        lead, start = margin + INDENT, end + 1
    return [*parts, lead + line[start:]]


def _breaks(line: str) -> Iterator[_Break]:
    """The spaces of a line, those in strings aside. Each parenthesis around one makes it worse,
    brackets even more."""
    depth = 0
    hidden = _STRING.sub(lambda found: "x" * len(found[0]), line)
    for found in _MARKS.finditer(hidden):
        depth += _DEPTHS.get(found[0], 0)
        if found[0] == " ":
            place = found.start()
            word = line[place + 1 : place + 4].partition(" ")[0]
            ends = line.endswith(_ENDS, 0, place)
            yield _Break(place, depth + (0 if ends else _OPERATORS.get(word, _LAST)))


def _chosen(breaks: Sequence[_Break], start: int, room: int) -> int | None:
    """Where the line from `start` ends: at the best break that fills at least half of the room,
    the last one of equals; else at the first one of all."""
    after = [b for b in breaks if b.place > start]
    full = [b for b in after if start + room // 2 <= b.place <= start + room]
    if full:
        return min(full, key=lambda b: (b.cost, -b.place)).place
    fitting = [b.place for b in after if b.place <= start + room]
    return fitting[-1] if fitting else after[0].place if after else None
