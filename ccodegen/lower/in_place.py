"""Which results may, and which must, lie in the memory of an operand."""

from __future__ import annotations

from collections.abc import Sequence

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.shape import ArrayShape, leaves
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.control import Fusion
from ccodegen.ops.creation import Parameter
from ccodegen.ops.tuples import GetTupleElement
from ccodegen.passes.element_loops import written_rows
from ccodegen.passes.loops import Loop, as_loop


def overwritten_operands(instruction: Instruction) -> tuple[tuple[int, int], ...]:
    """Pairs (operand, result leaf): the kernel changes a few elements of what the operand holds.

    dynamic-update-slice and scatter, alone or as the root of a fusion.
    """
    if instruction.op == "dynamic-update-slice":
        return ((0, 0),)
    if instruction.op == "scatter":
        return tuple((n, n) for n in range(len(instruction.operands) // 2))
    if isinstance(instruction.attributes, Fusion):
        root = instruction.attributes.calls.root
        target = root.operands[0] if root.op == "dynamic-update-slice" else None
        if target is not None and isinstance(target.attributes, Parameter):
            return ((target.attributes.number, 0),)
    return ()


def in_place_pairs(instruction: Instruction) -> tuple[tuple[int, int], ...]:
    """Pairs (operand, result leaf) of which the one is read only where the other is then written:
    elementwise, in the same order, and of the same size and type."""
    if opdef.is_elementwise(instruction):
        return tuple((n, 0) for n, o in enumerate(instruction.operands) if _alike(o, instruction))
    if isinstance(instruction.attributes, Fusion):
        return _fused_pairs(instruction, instruction.attributes.calls)
    return ()


def _alike(operand: Instruction, result: Instruction) -> bool:
    if not isinstance(operand.shape, ArrayShape) or not isinstance(result.shape, ArrayShape):
        return False
    same_type = operand.shape.element_type is result.shape.element_type
    return same_type and operand.shape.dimensions == result.shape.dimensions


def _fused_pairs(fusion: Instruction, computation: Computation) -> tuple[tuple[int, int], ...]:
    """Parameters that only elementwise instructions read, in a fusion of one output shape."""
    for instruction in computation.instructions:
        loop = as_loop(instruction)
        if loop is not None:
            return _loop_pairs(loop, computation)
    shapes = {s.dimensions for s in leaves(fusion.shape) if isinstance(s, ArrayShape)}
    if len(shapes) != 1:
        return ()
    outputs = computation.root.operands if computation.root.op == "tuple" else (computation.root,)
    (dimensions,) = shapes
    moved = read_elsewhere(computation.instructions, dimensions)
    pairs = []
    for number, parameter in enumerate(computation.parameters):
        for leaf, output in enumerate(outputs):
            if parameter not in moved and _alike(parameter, output):
                pairs.append((number, leaf))
    return tuple(pairs)


def _loop_pairs(loop: Loop, computation: Computation) -> tuple[tuple[int, int], ...]:
    """A block of all parameters is read before that of any result is written, save for rows, which
    are written in between: those may lie where they have begun."""
    rows, pairs = written_rows(loop), []
    for leaf, output in enumerate(computation.root.operands):
        state = attributes_of(output, GetTupleElement).index
        for number, parameter in enumerate(computation.parameters):
            is_own = state not in rows or loop.initial(state) is parameter
            if is_own and _alike(parameter, output):
                pairs.append((number, leaf))
    return tuple(pairs)


def read_elsewhere(
    instructions: Sequence[Instruction], dimensions: tuple[int, ...]
) -> set[Instruction]:
    """What is read at another index than that of the output element being computed. The
    instructions stand operands first."""
    moved: set[Instruction] = set()
    for instruction in reversed(instructions):
        straight = instruction.op == "tuple" or (
            opdef.is_elementwise(instruction)
            and instruction.array_shape.dimensions == dimensions
        )
        if not straight or instruction in moved:
            moved.update(instruction.operands)
    return moved
