"""Positions in row-major order: an index becomes one number, and a number an index.

A reshape reads its operand at `delinearize(linearize(index, dims), operand_dims, ranges)`. Where a
loop variable runs over several turns of a divisor, `split_request` says how to cut the loop in two
so that no division is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ccodegen.loop.affine import Affine, affine, divmod_affine, recombined
from ccodegen.loop.ir import Apply, Const, Expr, Index, Var
from ccodegen.loop.parts import parts
from ccodegen.loop.ranges import Interval, Ranges, interval, point
from ccodegen.loop.simplify import simplify_index
from ccodegen.support.element_type import ElementType


def linearize(index: Sequence[Expr], dimensions: Sequence[int]) -> Expr:
    """The row-major position of an index: `(i, j)` in `[4,12]`  →  `i * 12 + j`."""
    position = Affine()
    for part, extent in zip(index, dimensions, strict=True):
        position = position.scaled(extent) + affine(part)
    return position.expr


def delinearize(linear: Expr, dimensions: Sequence[int], ranges: Ranges) -> Index:
    """The index at a row-major position, which is in bounds.

    `i * 12 + j * 4 + k` in `[5,3,4]` with 0 <= j < 3 and 0 <= k < 4  →  `(i, j, k)`.
    """
    rest = recombined(affine(simplify_index(linear, ranges)), ranges)
    index: list[Expr] = []
    for number, extent in reversed(tuple(enumerate(dimensions))):
        if extent <= 1:
            part = Affine()
        elif all(d == 1 for d in dimensions[:number]):
            part = rest
        else:
            rest, part = divmod_affine(rest, extent, ranges)
        index.append(part.expr)
    return tuple(reversed(index))


def merged_axes(extents: Sequence[int], steps: Sequence[int]) -> list[tuple[int, int]]:
    """Extents and steps of the fewest axes with the same elements in the same order."""
    merged: list[tuple[int, int]] = []
    for extent, step in zip(extents, steps, strict=True):
        if extent == 1:
            continue
        if merged and merged[-1][1] == extent * step:
            extent *= merged.pop()[0]
        merged.append((extent, step))
    return merged


def split_request(expr: Expr, ranges: Ranges) -> tuple[Var, int] | None:
    """A loop variable and an inner extent: with `var = outer * extent + inner` a division or a
    remainder in the expression folds, that is not simple yet. None where no split helps.

    `(i * 3 + j) / 6` with i < 8, j < 3  →  (i, 2). The extent divides the variable's.
    """
    for dividend, divisor in _divisions(expr):
        request = _split(affine(simplify_index(dividend, ranges)), divisor, ranges)
        if request is not None:
            return request
    return None


def _divisions(expr: Expr) -> Iterator[tuple[Expr, int]]:
    """The dividends and divisors of all divisions and remainders by constants."""
    for part in parts(expr):
        match part:
            case Apply("divide" | "remainder", (dividend, Const(_, divisor)), ElementType.INDEX):
                yield dividend, divisor


def _split(dividend: Affine, divisor: int, ranges: Ranges) -> tuple[Var, int] | None:
    """The first useful split of a variable, if together with the others it makes the rest fit."""
    if divisor <= 0:
        return None
    rest = point(dividend.constant)
    found: list[tuple[Var, int]] = []
    for expr, coefficient in dividend.terms.items():
        if coefficient % divisor == 0:
            continue
        inner = _inner_extent(expr, coefficient, divisor, ranges)
        if inner and isinstance(expr, Var):
            found.append((expr, inner))
        reach = Interval(0, inner - 1) if inner else interval(expr, ranges)
        rest += reach.scaled(coefficient)
    if not rest.is_finite or rest.low // divisor != rest.high // divisor:
        return None
    return found[0] if found else None


def _inner_extent(expr: Expr, coefficient: int, divisor: int, ranges: Ranges) -> int:
    """How many turns of a loop fill the divisor, where the loop can be cut there; else 0."""
    extent = ranges.get(expr) if isinstance(expr, Var) else None
    if not isinstance(extent, int) or coefficient <= 0 or divisor % coefficient:
        return 0
    inner = divisor // coefficient
    return inner if extent > inner and extent % inner == 0 else 0
