"""What the functions do that a CallC names: all of it for the interpreter, and where they do it."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from ccodegen.loop import line_scan
from ccodegen.loop.ir import INDEX, Apply, Buffer, CallC, Const, Expr
from ccodegen.support.c_reference import call_routine, is_routine
from ccodegen.support.errors import InternalError
from ccodegen.support.pattern import pattern

Arrays: TypeAlias = Sequence[np.ndarray[Any, Any]]
Effect: TypeAlias = Callable[[Arrays, Sequence[Any]], None]
"""Of arrays, which it changes in place, and scalars."""

_TILE = pattern(r"ccg_tile_[a-z]\w+?_(\d+)x(\d+)(?:_runs|_planes|_noted)?")
_APART = pattern(r"ccg_tile_[a-z]\w+?_(\d+)x(\d+)_apart")
_MATRIX = pattern(r"ccg_matrix_[a-z]\w+?_(\d+)x(\d+)")
_ROWS = pattern(r"ccg_rows_[a-z]\w+?_(\d+)x(\d+)(?:x(\d+))?(?:_runs)?")
_WINDOW = pattern(r"ccg_window_[a-z]\w+_(\d+)x(\d+)_(\d+)s(\d+)")
_HALVES = pattern(r"ccg_(?:widen|narrow)_f16")
_ROUND = pattern(r"ccg_round_f16")
_RUN = pattern(r"ccg_(?:rounded|narrowed)_f16")
_NOTE = pattern(r"ccg_least_bf16|ccg_excess_\w+")
_MATRIX_DEPTH = 32  # elements of bf16 in a row of a matrix register
_PART = 16  # bytes of lanes that are added up last

_ADDED: dict[str, Callable[..., Any]] = {}


def add_function(function: str, reference: Callable[..., Any]) -> None:
    """A function of the user's: `reference(*read arrays, *scalars)` gives the written ones."""
    _ADDED[function] = reference


def effect_of(call: CallC) -> Effect:
    """Raises InternalError for a function that is not known here."""
    function = call.function
    if function in _ADDED:
        return functools.partial(_added, _ADDED[function], call.writes)
    if line_scan.is_line_scan(function):
        return functools.partial(line_scan.scan, function)
    for expression, effect in _EFFECTS.items():
        if match := expression.fullmatch(function):
            return effect(*(int(size or 1) for size in match.groups()))
    if is_routine(function):
        return functools.partial(call_routine, function)
    raise InternalError(f"the interpreter does not know the function {function}")


def _added(
    reference: Callable[..., Any], writes: Sequence[int], arrays: Arrays, scalars: Sequence[Any]
) -> None:
    given = reference(*(a for n, a in enumerate(arrays) if n not in writes), *scalars)
    results = given if isinstance(given, tuple | list) else [given]
    for n, result in zip(writes, results, strict=True):
        arrays[n][...] = result


def _tile(rows: int, columns: int) -> Effect:
    """sums = lhs · rhs, added in order along the depth, but pairs of floats the second one first;
    see emit/tile.py for the arguments."""

    def effect(arrays: Arrays, scalars: Sequence[Any]) -> None:
        sums, lhs, rhs = (a.reshape(-1) for a in arrays[:3])
        offset, row_step, depth_step, rhs_offset, depth, *more = map(int, scalars)
        run, run_step, runs, plane_step = (*more, depth, 0)[:4] if more[1:] else (depth, 0, 1, 0)
        total = np.zeros((rows, columns), sums.dtype)
        group = sums.itemsize // lhs.itemsize  # elements of the depth side by side
        for k in range(depth):
            turn, part = divmod(k, group)
            part = group - 1 - part if sums.dtype.kind == "f" else part
            plane, place = divmod(turn // run, runs)
            start = offset + plane * plane_step + place * run_step + turn % run * depth_step + part
            left = lhs[start + np.arange(rows) * row_step]
            right = rhs[rhs_offset + (turn * columns + np.arange(columns)) * group + part]
            total += left.astype(sums.dtype)[:, None] * right.astype(sums.dtype)[None, :]
        sums[:] = total.reshape(-1)

    return effect


def _apart(rows: int, columns: int) -> Effect:
    """The same with columns in two panels."""
    width = columns // 2
    of_panel = _tile(rows, width)

    def effect(arrays: Arrays, scalars: Sequence[Any]) -> None:
        sums, lhs, rhs = arrays
        offset, row_step, depth_step, rhs_offset, depth, panel_step = map(int, scalars)
        parts = np.zeros((2, rows, width), sums.dtype)
        for part, start in zip(parts, (rhs_offset, rhs_offset + panel_step), strict=True):
            of_panel((part, lhs, rhs), (offset, row_step, depth_step, start, depth))
        sums.reshape(-1)[:] = np.concatenate(parts, axis=1).reshape(-1)

    return effect


def _matrix(rows: int, columns: int) -> Effect:
    """The same in matrix registers, for panels of rhs one after the other; see emit/matrix_tile.py
    for the arguments. Pairs of floats are added up apart, those at even and those at odd places, in
    a register of the depth at a time."""
    of_integers = _tile(rows, columns)

    def effect(arrays: Arrays, scalars: Sequence[Any]) -> None:
        sums, lhs, rhs = (a.reshape(-1) for a in arrays[:3])
        first, step, tile_step, *steps, start, panel_step, panels, depth = map(int, scalars[:9])
        is_float, group = sums.dtype.kind == "f", sums.itemsize // lhs.itemsize
        add, kind = (_add_pairs, np.float32) if is_float else (of_integers, np.uint32)
        places = first + np.arange(rows)[:, None] * step + np.arange(columns)
        for panel in range(panels):
            total = np.zeros((rows, columns), kind)
            add((total, lhs, rhs), (*steps, group, start + panel * panel_step, depth))
            sums[places + panel * tile_step] = total.view(sums.dtype)

    return effect


def _add_pairs(arrays: Arrays, scalars: Sequence[int]) -> None:
    """See `_matrix`; arguments as of `_tile`."""
    (total, lhs, rhs), (offset, row_step, _, rhs_offset, depth) = arrays, scalars
    rows, columns = total.shape
    starts = offset + np.arange(rows) * row_step
    for first in range(0, depth, _MATRIX_DEPTH):
        parts = np.zeros((2, rows, columns), total.dtype)
        for k in range(first, first + _MATRIX_DEPTH):
            at = rhs_offset + (k // 2 * columns + np.arange(columns)) * 2 + k % 2
            left, right = (a.astype(total.dtype) for a in (lhs[starts + k], rhs[at]))
            parts[k % 2] += left[:, None] * right[None, :]
        total += parts[0] + parts[1]


def _note() -> Effect:
    """What C's tiles ask of a panel (see lower/contract_notes.py); those here do without."""

    def effect(arrays: Arrays, scalars: Sequence[Any]) -> None:
        arrays[0][...] = 0

    return effect


Block: TypeAlias = tuple[Expr, tuple[tuple[int | Expr, int], ...]]
"""The first of some elements, and along each side how many there are, and how far apart."""


def blocks_used(call: CallC) -> dict[Buffer, Block]:
    """Of flat buffers, as far as it is known: what the call reads or writes, all of it inside such
    a block."""
    function = call.function
    if line_scan.is_line_scan(function):
        return _line_used(call)
    if _NOTE.fullmatch(function):
        return _notes_used(call)
    if _HALVES.fullmatch(function):
        return _halves_used(call)
    if _ROUND.fullmatch(function):
        return _round_used(call)
    if _RUN.fullmatch(function):
        return _run_used(call)
    if match := _MATRIX.fullmatch(function):
        return _matrix_used(call, int(match[1]), int(match[2]))
    if match := _APART.fullmatch(function):
        return _apart_used(call, int(match[1]), int(match[2]))
    match = _TILE.fullmatch(function)
    return _tile_used(call, int(match[1]), int(match[2])) if match else {}


_FACTORS = {
    _TILE: (2, (4,)),
    _APART: (2, (4,)),
    _MATRIX: (2, (7, 8)),
    _ROWS: (2, (4,)),
    _WINDOW: (3, (5,)),
}
"""How many of the sizes in a tile's name, and which scalars, tell how many products it adds up."""


def products(call: CallC) -> tuple[int | Expr, ...]:
    """Factors of how many products a tile adds up; none for what is not a tile."""
    for expression, (sizes, scalars) in _FACTORS.items():
        if match := expression.fullmatch(call.function):
            return *map(int, match.groups()[:sizes]), *(call.scalars[n] for n in scalars)
    return ()


def _span(first: Expr, count: int) -> Block:
    """So many elements side by side."""
    return first, ((count, 1),)


def _matrix_used(call: CallC, rows: int, columns: int) -> dict[Buffer, Block]:
    first, _, _, lhs_offset, _, rhs_offset, _, panels, _, *more = call.scalars
    sizes = [call.scalars[n] for n in (1, 2, 4, 6, 8)]
    constants = [s.value for s in sizes if isinstance(s, Const)]
    if len(constants) < len(sizes) or len(set(call.buffers)) < len(call.buffers):
        return {}
    step, tile_step, row_step, panel_step, depth = constants
    blocks = [
        (first, ((panels, tile_step), (rows, step), (columns, 1))),
        (lhs_offset, ((rows, row_step), (depth, 1))),
        (rhs_offset, ((panels, panel_step), (depth * columns, 1))),
        *((at, ((panels, 1),)) for at in more[:1]),
    ]
    return dict(zip(call.buffers, blocks, strict=True))


def _tile_used(call: CallC, rows: int, columns: int) -> dict[Buffer, Block]:
    offset, row_step, depth_step, rhs_offset, *sizes = call.scalars
    sizes = sizes if len(sizes) == 3 else sizes[:1]
    constants = [s.value for s in (row_step, depth_step, *sizes) if isinstance(s, Const)]
    sums, lhs, rhs = call.buffers[:3]
    if len(constants) < 2 + len(sizes) or lhs is rhs or constants[2] == 0:
        return {}
    group = sums.type.bytes // lhs.type.bytes
    turns = constants[2] // group
    run, run_step = constants[3:] or (turns, 0)
    sides = (rows - 1) * constants[0], (run - 1) * constants[1], (turns // run - 1) * run_step
    first = Apply("add", (offset, Const(INDEX, sum(min(side, 0) for side in sides))), INDEX)
    left = _span(first, sum(map(abs, sides)) + group)
    used = {lhs: left, rhs: _span(rhs_offset, turns * columns * group)}
    return used | dict.fromkeys(call.buffers[3:], _span(call.scalars[-1], columns))


def _apart_used(call: CallC, rows: int, columns: int) -> dict[Buffer, Block]:
    *scalars, panel_step = call.scalars
    width, rhs = columns // 2, call.buffers[2]
    used = _tile_used(replace(call, scalars=tuple(scalars)), rows, width)
    if rhs not in used or not isinstance(panel_step, Const):
        return {}
    first, ((count, _),) = used[rhs]
    return used | {rhs: (first, ((2, panel_step.value), (count, 1)))}


def _line_used(call: CallC) -> dict[Buffer, Block]:
    offset, count, _ = call.scalars
    if not isinstance(count, Const) or count.value == 0:
        return {}
    return dict.fromkeys(call.buffers, _span(offset, count.value))


def _notes_used(call: CallC) -> dict[Buffer, Block]:
    """Of as many columns as notes, or of lines some elements each, of which there is one note."""
    at, offset, *sizes = call.scalars
    constants = [s.value for s in sizes if isinstance(s, Const)]
    if len(constants) < len(sizes) or 0 in (constants[0], constants[-1]):
        return {}
    notes, panel = call.buffers
    if len(constants) == 2:
        columns, depth = constants
        return {notes: _span(at, columns), panel: _span(offset, columns * depth)}
    lines, distance, count = constants
    return {notes: _span(at, 1), panel: _span(offset, (lines - 1) * distance + count)}


def _halves() -> Effect:
    """Copies the first elements of an array of f32 to an array of f16, from a place on, or back,
    and ones behind them."""

    def effect(arrays: Arrays, scalars: Sequence[Any]) -> None:
        first, count, *size = map(int, scalars)
        arrays[0].reshape(-1)[: size[0] if size else 0] = 1
        to, of = (a.reshape(-1)[first if a.itemsize == 2 else 0 :][:count] for a in arrays)
        to[:] = of.astype(to.dtype)

    return effect


def _round() -> Effect:
    """Rounds the first elements of an array of f32 to f16."""

    def effect(arrays: Arrays, scalars: Sequence[Any]) -> None:
        line = arrays[0].reshape(-1)[: int(scalars[0])]
        line[:] = line.astype(np.float16)

    return effect


def _run() -> Effect:
    """Some elements of an array are those of f32 in another one, rounded to f16; from the first on,
    or from a place on."""

    def effect(arrays: Arrays, scalars: Sequence[Any]) -> None:
        *first, start, count = map(int, scalars)
        to, of = (a.reshape(-1) for a in arrays)
        to[sum(first) :][:count] = of[start:][:count].astype(np.float16)

    return effect


def _round_used(call: CallC) -> dict[Buffer, Block]:
    return {call.buffers[0]: (Const(INDEX, 0), ((call.scalars[0], 1),))}


def _run_used(call: CallC) -> dict[Buffer, Block]:
    (to, of), (*first, start, count) = call.buffers, call.scalars
    place = first[0] if first else Const(INDEX, 0)
    return {to: (place, ((count, 1),)), of: (start, ((count, 1),))}


def _halves_used(call: CallC) -> dict[Buffer, Block]:
    first, count, *size = call.scalars
    used: dict[Buffer, Block] = {}
    for buffer in call.buffers:
        is_half = buffer.type.bytes == 2
        of_line = count if is_half or not size else size[0]
        used[buffer] = first if is_half else Const(INDEX, 0), ((of_line, 1),)
    return used


def _rows(rows: int, columns: int, lanes: int) -> Effect:
    """sums = lhs · rhsᵀ, each in so many lanes; see emit/row_tile.py for the arguments."""

    def effect(arrays: Arrays, scalars: Sequence[Any]) -> None:
        sums, lhs, rhs = (a.reshape(-1) for a in arrays)
        offset, row_step, rhs_offset, column_step, depth, *more = map(int, scalars)
        run, run_step = more or (depth, 0)
        parts = np.zeros((lanes, rows, columns), sums.dtype)
        for k in range(depth):
            turn, at = divmod(k, run)
            start = offset + turn * run_step + at
            left = lhs[start + np.arange(rows) * row_step].astype(sums.dtype)
            right = rhs[rhs_offset + np.arange(columns) * column_step + k].astype(sums.dtype)
            is_whole = at < run - run % lanes
            parts[at % lanes if is_whole else at - run + lanes] += left[:, None] * right[None, :]
        last = min(lanes, max(1, _PART // sums.itemsize))
        for n in range(last, lanes):
            parts[n % last] += parts[n]
        for n in range(1, last):
            parts[0] += parts[n]
        sums[:] = parts[0].reshape(-1)

    return effect


def _window(places: int, lanes: int, taps: int, stride: int) -> Effect:
    """Sums under a window, added in order; see emit/window_tile.py for the arguments."""

    def effect(arrays: Arrays, scalars: Sequence[Any]) -> None:
        sums, lhs, rhs = (a.reshape(-1) for a in arrays)
        offset, row_step, step, rhs_offset, rhs_step, rows = map(int, scalars)
        total = np.zeros((places, lanes), sums.dtype)
        starts = np.arange(places)[:, None] * stride * step + np.arange(lanes)
        for r, k in np.ndindex(rows, taps):
            left = lhs[offset + r * row_step + k * step + starts].astype(total.dtype)
            weight = rhs_offset + (r * taps + k) * rhs_step
            total += left * rhs[weight : weight + lanes].astype(total.dtype)
        sums[:] = total.reshape(-1)

    return effect


_EFFECTS: dict[re.Pattern[str], Callable[..., Effect]] = {
    _TILE: _tile,
    _APART: _apart,
    _MATRIX: _matrix,
    _ROWS: _rows,
    _WINDOW: _window,
    _HALVES: _halves,
    _ROUND: _round,
    _RUN: _run,
    _NOTE: _note,
}
