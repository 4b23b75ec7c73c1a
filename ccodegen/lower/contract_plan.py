"""Contractions: a dot or convolution with what is fused before and after it."""

from __future__ import annotations

from ccodegen.ops.contraction import Contraction, accumulator_type, contraction

from ccodegen.hlo.ir import Instruction
from ccodegen.loop.ir import (
    Const,
    Contract,
    Element,
    Expr,
    Index,
    LoopKind,
    Stmt,
    Tile,
    Var,
)
from ccodegen.lower.elements import guarded
from ccodegen.lower.job import Work
from ccodegen.ops.fold import converted
from ccodegen.support.element_type import ElementType

HEROES = ("dot", "convolution")

# Below this many multiplications packing costs more than it saves.
_TILED_FROM = 1 << 13
_MOST_PACKED_DEPTH = 512


def contract_plan(work: Work, hero: Instruction) -> None:
    """for each batch: a Contract whose epilogue stores the outputs."""
    shape = contraction(hero)
    accumulator = Var(work.builder.fresh("acc"), accumulator_type(hero))
    with work.builder.loops(shape.batch, "b", LoopKind.PARALLEL) as batch:
        rows, row = work.builder.axes(shape.rows, "row")
        columns, column = work.builder.axes(shape.columns, "col")
        depth, k = work.builder.axes(shape.depth, "k")
        lhs = _operand(work, hero, 0, shape.lhs_index(batch, row, k), accumulator.type)
        rhs = _operand(work, hero, 1, shape.rhs_index(batch, k, column), accumulator.type)
        at = shape.output_index(batch, row, column)
        epilogue = _epilogue(work, hero, at, accumulator)
        tile = _tile(work, shape, accumulator.type)
        work.builder.emit(Contract(rows, columns, depth, lhs, rhs, accumulator, epilogue, tile))


def _operand(
    work: Work,
    hero: Instruction,
    number: int,
    place: tuple[Expr | None, Index],
    element_type: ElementType,
) -> Element:
    condition, at = place

    def value() -> Expr:
        return converted(work.elements.value(hero.operands[number], at), element_type)

    with work.builder.block() as body:
        if condition is None:
            result = value()
        else:
            zero = Const(element_type, 0)
            result = guarded(work.builder, condition, value, lambda: zero)
    return Element(result, tuple(body))


def _epilogue(work: Work, hero: Instruction, at: Index, accumulator: Var) -> tuple[Stmt, ...]:
    with work.builder.block() as body:
        value = converted(accumulator, hero.array_shape.element_type)
        work.elements.know(hero, at, (value,))
        for output in work.job.outputs:
            work.store(output, at)
    return tuple(body)


def _tile(work: Work, shape: Contraction, element_type: ElementType) -> Tile | None:
    """A register tile with its packing buffers, where the work is worth packing for."""
    target = work.job.target
    m, n, k = shape.sizes
    if element_type not in (ElementType.F32, ElementType.F64) or m * n * k < _TILED_FROM:
        return None
    if target.machine.vector_bytes <= element_type.bytes or m < 3 or n < 4:
        return None
    rows, columns, depth = target.tile_size(element_type.bytes)
    depth = min(depth, k)
    blocks = -(-m // rows)
    lhs = work.new_scratch(element_type, (blocks * rows * depth,))
    rhs = work.new_scratch(element_type, (-(-n // columns) * columns * depth,))
    return Tile(rows, columns, depth, lhs, rhs)
