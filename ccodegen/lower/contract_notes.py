"""What register tiles ask of a panel beside its elements, found out once for all of its tiles.

Of pairs of bf16 the least exponent of each panel, by which a tile decides whether the machine's
instruction gives its sums (see ccg_bf16_pairs.h); of bytes what sums with each column of the right
panel are too large by, where signs are changed (see ccg_dot.h). Panels of others stay as they are.
"""

from __future__ import annotations

from dataclasses import replace

from ccodegen.loop.builder import index
from ccodegen.loop.ir import Buffer, CallC, Expr
from ccodegen.lower.contract_panels import Panel, Panels
from ccodegen.lower.job import Work
from ccodegen.ops.index import plus, times
from ccodegen.ops.register_tile import RegisterTile
from ccodegen.support.element_type import ElementType

_ZERO = index(0)
_LEAST_ROWS_FOR_BYTES = 64  # for fewer it is found out beside the sums: panels are read once then


class Notes:
    """`depth`: that of the panels; `rows`: of the left matrix."""

    def __init__(self, work: Work, tile: RegisterTile, depth: int, rows: int) -> None:
        self._work, self._tile, self._depth = work, tile, depth
        self._is_right_noted = (
            tile.adds_bytes and not tile.matrix and rows >= _LEAST_ROWS_FOR_BYTES
        )
        self._type = ElementType.S32 if tile.adds_pairs else ElementType.U32
        self._size = 1 if tile.adds_pairs else tile.columns

    def some(
        self, panels: Panels, count: Expr | int, most: int, is_left: bool = False
    ) -> Panels:
        """So many panels, at most `most`, each with its notes, which only they need."""
        if not self._are_asked_for(is_left):
            return panels
        notes = self._work.builder.local(self._type, (most * self._size,), "notes")
        return self._all_noted(panels, count, is_left, notes)

    def all(
        self, panels: Panels, count: int, place: Expr, places: int, is_left: bool = False
    ) -> Panels:
        """So many panels, each with its notes, in one of so many places for all of them."""
        if not self._are_asked_for(is_left):
            return panels
        notes = self._work.new_scratch(self._type, (places * count * self._size,))
        return self._all_noted(panels, count, is_left, notes, times(place, count))

    def _all_noted(
        self,
        panels: Panels,
        count: Expr | int,
        is_left: bool,
        notes: Buffer,
        first: Expr = _ZERO,
    ) -> Panels:
        def note(number: Expr) -> Expr:
            return times(plus(first, number), self._size)

        with self._work.builder.loop(count, "panel") as number:
            self._find(panels(number), is_left, notes, note(number))
        return lambda at: replace(panels(at), notes=notes, note=note(at))

    def _are_asked_for(self, is_left: bool) -> bool:
        return self._tile.adds_pairs or (self._is_right_noted and not is_left)

    def _find(self, panel: Panel, is_left: bool, notes: Buffer, at: Expr) -> None:
        """Writes a panel's notes from there on."""
        builder = self._work.builder
        name, header, sizes = self._function(panel, is_left)
        first = panel.offset
        if panel.noted:
            first, sizes = plus(first, index(self._depth * self._tile.columns)), (1, 0, 1)
        scalars = builder.simplify((at, first, *map(index, sizes)))
        builder.emit(CallC(name, header, (notes, panel.buffer), scalars))

    def _function(self, panel: Panel, is_left: bool) -> tuple[str, str, tuple[int, ...]]:
        """The name and header of what finds the notes out, and the sizes that it takes."""
        tile = self._tile
        if tile.adds_bytes:
            name = f"ccg_excess_{tile.left.text}_{tile.right.text}"
            return name, "ccg_dot.h", (tile.columns, self._depth)
        lines, step = (tile.rows, panel.row_step) if is_left else (tile.columns, self._depth)
        count = self._depth
        if step == count:  # nothing lies between them
            lines, step, count = 1, 0, lines * count
        return "ccg_least_bf16", "ccg_bf16_pairs.h", (lines, step, count)
