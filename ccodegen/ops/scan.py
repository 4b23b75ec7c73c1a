"""scan: runs a computation over the slices of one dimension, carrying values from turn to turn.

The operands are inputs, then first carries; the computation takes a slice of each input (without
the scanned dimension) and the carries, and returns a slice of each output and the new carries; the
results are the outputs, then the last carries. `is_reverse` begins at the last slice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.opdef import OpDef, get, register
from ccodegen.hlo.shape import ArrayShape, Shape, TupleShape, leaves
from ccodegen.loop.builder import apply, index
from ccodegen.loop.ir import Expr
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.build import constant, derived, element_of, splat, tuple_of
from ccodegen.ops.control import Call
from ccodegen.ops.counted_loop import counted_loop, slice_at, with_slice_at
from ccodegen.ops.fold import Array, as_tuple, from_leaves, store_all
from ccodegen.ops.lowering import NestScope
from ccodegen.ops.shape_checks import arrays, dimension_numbers, one_or_tuple, require, without
from ccodegen.support.immutable import frozen


@frozen
class Scan(Attributes):
    dimensions: tuple[int, ...] = attr(AttrKind.INTS)
    num_carries: int = attr(AttrKind.INT)
    to_apply: Computation = attr(AttrKind.COMPUTATION)
    is_reverse: bool = attr(AttrKind.BOOL, False)
    is_associative: bool = attr(AttrKind.BOOL, False)


def infer(shapes: tuple[Shape, ...], attributes: Scan) -> Shape:
    operands = arrays("scan", shapes)
    count = len(operands) - attributes.num_carries
    require(0 < count <= len(operands), f"scan: {attributes.num_carries} carries of {len(shapes)}")
    require(len(attributes.dimensions) == 1, "scan takes exactly one dimension")
    (dimension,) = attributes.dimensions
    for operand in operands[:count]:
        dimension_numbers("scan", (dimension,), operand.rank)
    sizes = {o.dimensions[dimension] for o in operands[:count]}
    require(len(sizes) == 1, f"scan: the inputs have {sorted(sizes)} slices")
    slices = [without(o, (dimension,)) for o in operands[:count]]
    _check_parameters(attributes.to_apply, [*slices, *operands[count:]])
    results = [s for s in leaves(attributes.to_apply.root.shape) if isinstance(s, ArrayShape)]
    outputs = len(results) - attributes.num_carries
    require(outputs >= 0, f"scan: {attributes.to_apply.name} does not return the carries")
    (size,) = sizes
    stacked = [_stacked(s, dimension, size) for s in results[:outputs]]
    shapes_out = [*stacked, *results[outputs:]]
    is_tuple = isinstance(attributes.to_apply.root.shape, TupleShape)
    return TupleShape(tuple(shapes_out)) if is_tuple else one_or_tuple(shapes_out)


def _check_parameters(computation: Computation, expected: Sequence[ArrayShape]) -> None:
    found = [p.array_shape for p in computation.parameters]
    require(
        found == list(expected),
        f"scan: {computation.name} takes ({', '.join(map(str, found))}), not the slices and"
        f" carries ({', '.join(map(str, expected))})",
    )


def _stacked(shape: ArrayShape, dimension: int, size: int) -> ArrayShape:
    sizes = shape.dimensions
    return shape.with_dimensions((*sizes[:dimension], size, *sizes[dimension:]))


def evaluate(evaluator: Any, instruction: Instruction, *values: Array) -> Any:
    attributes = attributes_of(instruction, Scan)
    (dimension,) = attributes.dimensions
    count = len(values) - attributes.num_carries
    inputs, carries = values[:count], list(values[count:])
    shapes = [s for s in leaves(instruction.shape) if isinstance(s, ArrayShape)]
    outputs = [np.empty(s.dimensions, s.element_type.dtype) for s in shapes]
    outputs = outputs[: len(outputs) - attributes.num_carries]
    turns = range(inputs[0].shape[dimension])
    for turn in reversed(turns) if attributes.is_reverse else turns:
        slices = [np.asarray(np.take(x, turn, dimension)) for x in inputs]
        results = as_tuple(evaluator.call(attributes.to_apply, *slices, *carries))
        for output, value in zip(outputs, results, strict=False):
            np.moveaxis(output, dimension, 0)[turn] = value
        carries = list(results[len(outputs) :])
    return from_leaves(instruction.shape, (*outputs, *carries))


def nest(scope: NestScope, instruction: Instruction) -> None:
    """For computations that work element by element, as `expand` leaves no others: each line is
    scanned by itself."""
    attributes, b = attributes_of(instruction, Scan), scope.builder
    (dimension,) = attributes.dimensions
    count = len(scope.operands) - attributes.num_carries
    outputs = len(scope.results) - attributes.num_carries
    outer = list(scope.operands[0].dimensions)
    n = outer.pop(dimension)
    with b.loops(outer, "i") as line:
        carries = [b.variable(b.load(c, line), "carry") for c in scope.operands[count:]]
        with b.loop(n, "turn") as turn:
            k: Expr = apply("subtract", index(n - 1), turn) if attributes.is_reverse else turn
            at = (*line[:dimension], k, *line[dimension:])
            slices = [b.load(x, at) for x in scope.operands[:count]]
            found = scope.call(attributes.to_apply, *slices, *(b.load(c) for c in carries))
            values = [b.let(v) for v in found]
            for output, value in zip(scope.results, values[:outputs], strict=False):
                b.store(output, at, value)
            store_all(b, carries, values[outputs:])
        for result, carry in zip(scope.results[outputs:], carries, strict=True):
            b.store(result, line, b.load(carry))


_SAME_PER_ELEMENT = frozenset({"parameter", "tuple", "get-tuple-element"})


def expand(instruction: Instruction) -> Instruction:
    """Where the computation does more than work element by element: a loop over the slices."""
    attributes = attributes_of(instruction, Scan)
    if all(map(_is_elementwise, attributes.to_apply.instructions)) and _has_one_shape(instruction):
        return instruction
    (dimension,) = attributes.dimensions
    inputs = len(instruction.operands) - attributes.num_carries
    outer, carries = instruction.operands[:inputs], instruction.operands[inputs:]
    shapes = [s for s in leaves(instruction.shape) if isinstance(s, ArrayShape)]
    outputs = [splat(instruction, 0, s) for s in shapes[: len(shapes) - len(carries)]]
    turns = outer[0].array_shape.dimensions[dimension]

    def turn(i: Instruction, state: list[Instruction]) -> list[Instruction]:
        taken, held, made = _split(state, inputs, len(carries))
        if attributes.is_reverse:
            last = constant(instruction, np.array(turns - 1, np.int64))
            i = derived(instruction, "subtract", i.shape, (last, i))
        slices = [slice_at(instruction, x, dimension, i) for x in taken]
        results = _called(instruction, attributes.to_apply, (*slices, *held))
        written = [
            with_slice_at(instruction, old, dimension, i, new)
            for old, new in zip(made, results, strict=False)
        ]
        return [*taken, *results[len(made) :], *written]

    state = counted_loop(instruction, turns, (*outer, *carries, *outputs), turn)
    _, held, made = _split(state, inputs, len(carries))
    found = (*made, *held)
    return tuple_of(instruction, found) if isinstance(instruction.shape, TupleShape) else found[0]


def _split(
    state: list[Instruction], inputs: int, carries: int
) -> tuple[list[Instruction], list[Instruction], list[Instruction]]:
    """Inputs, carries, outputs."""
    return state[:inputs], state[inputs : inputs + carries], state[inputs + carries :]


def _called(
    origin: Instruction, computation: Computation, arguments: tuple[Instruction, ...]
) -> list[Instruction]:
    """The results' leaves."""
    shape = computation.root.shape
    call = derived(origin, "call", shape, arguments, Call(computation))
    if not isinstance(shape, TupleShape):
        return [call]
    return [element_of(origin, call, n) for n in range(len(shape.elements))]


def _has_one_shape(instruction: Instruction) -> bool:
    """Whether slices and carries all have the same dimensions."""
    computation = attributes_of(instruction, Scan).to_apply
    shapes = [p.shape for p in computation.parameters] + list(leaves(computation.root.shape))
    return len({s.dimensions for s in shapes if isinstance(s, ArrayShape)}) == 1


def _is_elementwise(instruction: Instruction) -> bool:
    """Whether element i of the result depends on elements i of the operands alone."""
    if instruction.op == "constant":
        return instruction.array_shape.size == 1
    if instruction.op == "broadcast":
        return instruction.operands[0].array_shape.rank == 0
    called = instruction.attributes.computations()
    return instruction.op in _SAME_PER_ELEMENT or (
        get(instruction.op).elementwise and not called
    )


register(
    OpDef(
        "scan", Scan, arity=(1, None), infer=infer, evaluate=evaluate, nest=nest, expand=expand
    )
)
