"""A computation over scalars, applied to arrays element by element."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.shape import ArrayShape, Shape, TupleShape
from ccodegen.ops.build import broadcast

_STRUCTURE = frozenset({"parameter", "constant", "tuple", "get-tuple-element"})


def can_lift(computation: Computation) -> bool:
    """Whether it takes scalars and each of its instructions means the same over arrays."""
    scalars = all(isinstance(p.shape, ArrayShape) and not p.shape.rank
                  for p in computation.parameters)
    return scalars and not computation.side_roots and all(map(_lifts, computation.instructions))


def lift(computation: Computation, operands: Sequence[Instruction]) -> Instruction:
    """The computation's root over arrays of equal dimensions in the place of its parameters."""
    sizes = operands[0].array_shape.dimensions
    memo = dict(zip(computation.parameters, operands, strict=True))
    for old in computation.instructions:
        if old in memo:
            continue
        if old.op == "constant":
            memo[old] = broadcast(old, old, sizes, ()) if sizes else old
            continue
        inner = tuple(memo[o] for o in old.operands)
        memo[old] = replace(old, shape=_spread(old.shape, sizes), operands=inner)
    return memo[computation.root]


def _lifts(instruction: Instruction) -> bool:
    if instruction.control_predecessors or instruction.attributes.computations():
        return False
    definition = opdef.find(instruction.op)
    return instruction.op in _STRUCTURE or (definition is not None and definition.elementwise)


def _spread(shape: Shape, sizes: tuple[int, ...]) -> Shape:
    if isinstance(shape, TupleShape):
        return TupleShape(tuple(_spread(e, sizes) for e in shape.elements))
    assert isinstance(shape, ArrayShape)
    return shape.with_dimensions(sizes)
