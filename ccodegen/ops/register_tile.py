"""Which contractions are computed in register tiles, and how large a tile is.

A tile is rows × columns of sums that stay in vector registers over the whole depth; both matrices
are read from panels as high or as wide as a tile. What decides is here, as the layout of weights
and the loop nest must agree on it.
"""

from __future__ import annotations

from dataclasses import replace

from ccodegen.hlo.ir import Instruction
from ccodegen.loop.spelling import HALVES
from ccodegen.ops.contraction import accumulator_type, contraction
from ccodegen.ops.creation import Constant
from ccodegen.support.element_type import ElementType, Kind
from ccodegen.support.immutable import immutable
from ccodegen.target.model import Target

# Sums of a tile in matrix registers: two by two of them.
_MATRIX_ROWS, _MATRIX_COLUMNS = 32, 32
_MATRIX_ROW_BYTES = 64
# Smaller matrices leave much of such registers empty.
_LEAST_MATRIX_ROWS, _LEAST_MATRIX_COLUMNS = 12, 16
# What reading the right matrix takes, beside the multiplications of so many rows.
_ROWS_OF_A_TILE = 0.8
# Registers of sums that wait for each other no more: fewer take as long.
_SUMS_AT_WORK = 10
# Below this many multiplications packing costs more than it saves.
_LEAST_WORK = 1 << 13
_PRICE_OF_HALF_WIDTH = 1.1
# Rows of so few sums, where they become halves, fill but half of a vector.
_PRICE_OF_HALF_WIDTH_FOR_HALVES = 1.25
_LEAST_COLUMNS, _LEAST_DEPTH = 2, 5
# For fewer rows the right matrix is not packed, but may lie in panels that are not much longer.
LEAST_ROWS_TO_PACK_FOR = 3
_MOST_PADDING = 0.125
# Smaller matrices are read once or twice, and take as long to look at as to multiply; but for a
# left one of few rows, where what is known of the right one stands behind its panels.
_LEAST_SIZE_FOR_PAIRS = 16
# Products of bytes need registers that the sums cannot have, for a correction of their signs.
_ROWS_LESS_OF_BYTES = 2

_PLAIN = ("backend_config", '{"panels":"plain"}')  # an annotation
_NOTED = ("backend_config", '{"panels":"noted"}')

_FLOATS = (ElementType.F32, ElementType.F64)
_INTEGERS = (ElementType.S32, ElementType.U32)


@immutable
class RegisterTile:
    """`rows` and `columns` in elements; `left` and `right`: the types of elements in panels.

    Elements narrower than the sums lie in groups of as many of the depth as fill a sum, which their
    products are added to at a time. `matrix`: they go through matrix registers.
    """

    rows: int
    columns: int
    left: ElementType
    right: ElementType
    matrix: bool = False

    @property
    def adds_pairs(self) -> bool:
        """Whether elements are bf16, in pairs of the depth."""
        return self.left is ElementType.BF16

    @property
    def adds_bytes(self) -> bool:
        """Whether elements are bytes, in fours of the depth."""
        return self.left.bytes == 1

    @property
    def sums(self) -> ElementType:
        """All integers are summed in u32: modulo 2^32 the sums of signed ones are the same."""
        if self.adds_pairs:
            return ElementType.F32
        return self.left if self.left.is_float else ElementType.U32

    @property
    def group(self) -> int:
        """How many elements of the depth lie side by side in panels."""
        return self.sums.bytes // self.left.bytes

    def padded_depth(self, depth: int) -> int:
        """The depth of panels: whole groups, and whole rows of matrix registers."""
        unit = _MATRIX_ROW_BYTES // self.left.bytes if self.matrix else self.group
        return -(-depth // unit) * unit

    def function(self, family: str) -> str:
        """The C function of that family that computes a tile."""
        kind = self.left.text if self.group == 1 else f"{self.left.text}_{self.right.text}"
        return f"ccg_{family}_{kind}_{self.rows}x{self.columns}"


def with_panels(hero: Instruction, noted: bool | None) -> Instruction:
    """The contraction, which says that its right matrix was laid out in panels; `noted`: each has a
    row behind it that begins with the least of the panel's elements that are not zero. None: says
    nothing of that."""
    others = tuple(a for a in hero.annotations if a not in (_PLAIN, _NOTED))
    said = () if noted is None else (_NOTED if noted else _PLAIN,)
    new = (*others, *said)
    return hero if new == hero.annotations else replace(hero, annotations=new)


def has_panels(hero: Instruction) -> bool:
    """See `with_panels`."""
    return _PLAIN in hero.annotations or has_noted_panels(hero)


def has_noted_panels(hero: Instruction) -> bool:
    """See `with_panels`."""
    return _NOTED in hero.annotations


def register_tile(
    hero: Instruction, target: Target, strict: bool = False, least_work: int = _LEAST_WORK
) -> RegisterTile | None:
    """The tile of a dot or convolution; None where loops without packing are better, as they are
    below so many multiplications."""
    m, n, k = contraction(hero).sizes
    types = panel_types(hero, target, strict)
    if types is None or m * n * k < least_work:
        return None
    if n < _LEAST_COLUMNS or k < _LEAST_DEPTH:
        return None
    sum_bytes = accumulator_type(hero).bytes
    lanes = target.machine.vector_elements(sum_bytes)
    if lanes == 1:
        return None
    if target.machine.matrix_registers and _suits_matrix_registers(types, (m, n, k)):
        rows, columns = evenly(m, _MATRIX_ROWS), _narrowed(hero, n, _MATRIX_COLUMNS)
        return RegisterTile(rows, columns, *types, matrix=True)
    rows, columns = target.tile_size(sum_bytes, contraction_key(hero))
    if types[0].bytes == 1:
        rows = max(1, rows - _ROWS_LESS_OF_BYTES)
    if 2 * m <= rows:  # so few sums would wait for each other
        columns *= 2
    columns = _narrowed(hero, n, columns)
    if m < LEAST_ROWS_TO_PACK_FOR and -n % columns > _MOST_PADDING * n:
        return None
    return RegisterTile(evenly(m, rows, -(-columns // lanes)), columns, *types)


def _suits_matrix_registers(
    types: tuple[ElementType, ElementType], sizes: tuple[int, int, int]
) -> bool:
    is_narrow = types[0].bytes == 1 or types[0] is ElementType.BF16
    m, n, k = sizes
    is_large = m >= _LEAST_MATRIX_ROWS and n >= _LEAST_MATRIX_COLUMNS
    return is_narrow and is_large and k * types[0].bytes >= _MATRIX_ROW_BYTES


def contraction_key(hero: Instruction) -> str:
    """What targets know the tile of a contraction by: sizes, and the type of elements in panels."""
    types = panel_types(hero)
    kind = "-".join(dict.fromkeys(t.text for t in types or ()))
    return f"{kind}-{'x'.join(map(str, contraction(hero).sizes))}"


def panel_types(
    hero: Instruction, target: Target | None = None, strict: bool = False
) -> tuple[ElementType, ElementType] | None:
    """What the elements of both matrices are converted to, to be multiplied; None where no tile
    can. `target`: None for what all have."""
    accumulator = accumulator_type(hero)
    left, right = (o.array_shape.element_type for o in hero.operands[:2])
    if accumulator in _FLOATS:
        machine = target.machine if target and not strict else None
        has_pairs = machine is not None and (machine.bf16_pairs or machine.matrix_registers)
        m, n, k = contraction(hero).sizes
        is_known = isinstance(hero.operands[1].attributes, Constant) or has_noted_panels(hero)
        least = min(n, k) if is_known else min(m, n, k)
        is_large = least >= _LEAST_SIZE_FOR_PAIRS
        if has_pairs and is_large and left is ElementType.BF16 is right:
            return ElementType.BF16, ElementType.BF16
        return accumulator, accumulator
    if accumulator not in _INTEGERS:
        return None
    if left.bytes == 1 == right.bytes:
        return _byte(left), _byte(right)
    if all(t is ElementType.S16 or t.bytes == 1 for t in (left, right)):
        return ElementType.S16, ElementType.S16
    return ElementType.U32, ElementType.U32


def _byte(narrow: ElementType) -> ElementType:
    return ElementType.S8 if narrow.kind is Kind.SIGNED else ElementType.U8


def _narrowed(hero: Instruction, total: int, columns: int) -> int:
    """The width, or half of it where that wastes so many columns less that it pays although each
    element of the left matrix is read for half as many products."""
    half = columns // 2
    padded, half_padded = -(-total // columns) * columns, -(-total // half) * half
    makes_halves = hero.array_shape.element_type in HALVES
    price = _PRICE_OF_HALF_WIDTH_FOR_HALVES if makes_halves else _PRICE_OF_HALF_WIDTH
    return half if half_padded * price < padded else columns


def evenly(total: int, most: int, registers: int = _SUMS_AT_WORK) -> int:
    """A height of at most `most` for tiles of so many rows, each of so many registers of sums: that
    which takes the least time, of rows that are wasted and of what each tile takes beside its rows;
    the greatest of those."""
    least = -(-_SUMS_AT_WORK // registers)

    def price(height: int) -> tuple[float, int]:
        return -(-total // height) * (max(height, least) + _ROWS_OF_A_TILE), -height

    return min(range(max(1, most // 2), min(most, total) + 1), key=price, default=total)
