"""ragged-all-to-all among one: rows of the input, copied over rows of the output.

Operands: input, output, then for each piece where it begins in the input, its rows, where it goes
in the output, and the rows that are received (which are those sent). A row that the input or the
output does not have is not copied.
"""

from __future__ import annotations

from typing import Any

from ccodegen.hlo.devices import check_alone
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import Shape
from ccodegen.loop.builder import apply, compare
from ccodegen.loop.ir import INDEX
from ccodegen.ops.collective import Collective
from ccodegen.ops.fold import Array, converted
from ccodegen.ops.index import all_of, within
from ccodegen.ops.lowering import NestScope
from ccodegen.ops.shape_checks import arrays, require
from ccodegen.support.element_type import ElementType


def infer(shapes: tuple[Shape, ...], attributes: Collective) -> Shape:
    source, output, *pieces = arrays("ragged-all-to-all", shapes)
    listed = ", ".join(map(str, pieces))
    require(
        all(p.rank >= 1 and p.element_type.is_integer for p in pieces)
        and len({p.dimensions for p in pieces}) == 1,
        f"ragged-all-to-all takes offsets and sizes as integer vectors of one length, not {listed}",
    )
    require(
        source.rank >= 1 and source.element_type is output.element_type
        and source.dimensions[1:] == output.dimensions[1:],
        f"ragged-all-to-all copies rows of {source}, which are none of {output}",
    )
    return output


def evaluate(evaluator: Any, instruction: Instruction, *values: Array) -> Array:
    check_alone(instruction)
    source, output, *pieces = values
    result = output.copy()
    starts, sizes, targets, _ = (p.reshape(-1).tolist() for p in pieces)
    for start, size, target in zip(starts, sizes, targets, strict=True):
        for row in range(min(size, len(source))):
            if 0 <= start + row < len(source) and 0 <= target + row < len(result):
                result[target + row] = source[start + row]
    return result


def nest(scope: NestScope, instruction: Instruction) -> None:
    check_alone(instruction)
    b = scope.builder
    source, output, starts, sizes, targets, _ = scope.operands
    (result,) = scope.results
    if result is not output:
        with b.loops(output.dimensions, "i") as at:
            b.store(result, at, b.load(output, at))
    rows, *others = source.dimensions
    with b.loops(sizes.dimensions, "piece") as piece, b.loop(rows, "row") as row:
        taken, size, goal = (
            b.let(converted(b.load(x, piece), ElementType.S64), "at")
            for x in (starts, sizes, targets)
        )
        number = converted(row, ElementType.S64)
        origin = b.let(apply("add", taken, number), "origin")
        target = b.let(apply("add", goal, number), "target")
        fits = within(origin, rows - 1) + within(target, result.dimensions[0] - 1)
        sent = compare("lt", number, size)
        inside = all_of([sent, *fits])
        assert inside is not None
        with b.when(inside), b.loops(others, "i") as rest:
            first, last = (apply("convert", v, type=INDEX) for v in (origin, target))
            b.store(result, (last, *rest), b.load(source, (first, *rest)))


register(
    OpDef("ragged-all-to-all", Collective, (6, 6), infer=infer, evaluate=evaluate, nest=nest)
)
