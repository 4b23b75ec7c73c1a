"""Ops among several replicas or partitions, of which there is one: it gathers, reduces and sends
its own values.

How large the result of a gather or a scatter is depends on the number of participants, which the
program does not say, and what all-reduce-start gives on who wrote it: there the declared shape
stands, and must be the one that a single participant gets.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.devices import check_alone, target_is_self
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.opdef import Infer, OpDef, register
from ccodegen.hlo.shape import ArrayShape, Shape, TupleShape, leaves
from ccodegen.ops.build import constant, element_of, splat, tuple_of
from ccodegen.ops.expansion import evaluate_expanded
from ccodegen.ops.shape_checks import arrays, one_or_tuple
from ccodegen.support.element_type import ElementType
from ccodegen.support.errors import InputError, UnsupportedError
from ccodegen.support.immutable import frozen


@frozen
class Collective(Attributes):
    """`replica_groups`: `{{0,1},{2,3}}`, `[2,4]<=[8]` or a mesh, as written."""

    replica_groups: str = attr(AttrKind.RAW, "")
    channel_id: int | None = attr(AttrKind.INT, None)
    constrain_layout: bool = attr(AttrKind.BOOL, False)
    use_global_device_ids: bool = attr(AttrKind.BOOL, False)
    mode: str = attr(AttrKind.ENUM, "")


@frozen
class CollectiveAlong(Collective):
    """`dimensions` holds the one along which pieces are joined or split; empty where tuples are."""

    dimensions: tuple[int, ...] = attr(AttrKind.INTS, ())


@frozen
class AllReduce(Collective):
    to_apply: Computation | None = attr(AttrKind.COMPUTATION, None)


@frozen
class ReduceScatter(CollectiveAlong):
    to_apply: Computation | None = attr(AttrKind.COMPUTATION, None)


@frozen
class CollectivePermute(Attributes):
    source_target_pairs: str = attr(AttrKind.RAW, "")
    channel_id: int | None = attr(AttrKind.INT, None)
    slice_sizes: str = attr(AttrKind.RAW, "")
    mode: str = attr(AttrKind.ENUM, "")


Operands = tuple[Instruction, ...]


def infer_same(op: str, shapes: tuple[Shape, ...], attributes: Attributes) -> Shape:
    """One operand gives its shape, several a tuple of theirs."""
    return one_or_tuple(arrays(op, shapes))


def infer_done(op: str, shapes: tuple[Shape, ...], attributes: Attributes) -> Shape:
    """What was started gives (operand, result, …)."""
    (started,) = shapes
    if not isinstance(started, TupleShape) or len(started.elements) < 2:
        raise InputError(f"{op} takes what its start gave, not {started}")
    return started.elements[1]


def infer_id(shapes: tuple[Shape, ...], attributes: Attributes) -> Shape:
    return ArrayShape(ElementType.U32)


def check_result(instruction: Instruction) -> None:
    """Raises UnsupportedError unless the result is what one participant gets: its operands."""
    check_alone(instruction)
    shapes = [o.shape for o in instruction.operands]
    operands = [s for s in shapes if isinstance(s, ArrayShape)]
    in_place = str(getattr(instruction.attributes, "slice_sizes", ""))
    if len(operands) < len(shapes) or in_place:
        message = f"{instruction.op} '{instruction.name}' of slices in place"
        raise UnsupportedError(message, instruction.location)
    started = instruction.op in ("all-gather-start", "collective-permute-start")
    wanted = operands + operands if started else operands
    found = list(leaves(instruction.shape))
    if len(found) < len(wanted) or not all(map(_same_array, found, wanted)):
        message = (
            f"{instruction.op} '{instruction.name}' of {', '.join(map(str, operands))} gives"
            f" {instruction.shape}, which takes several replicas: programs run on one device"
        )
        raise UnsupportedError(message, instruction.location)


def _same_array(a: Shape, b: ArrayShape) -> bool:
    return isinstance(a, ArrayShape) and (a.element_type, a.dimensions) == (
        b.element_type,
        b.dimensions,
    )


def _alone(instruction: Instruction) -> Instruction:
    check_result(instruction)
    return _result(instruction, instruction.operands)


def _permute(instruction: Instruction) -> Instruction:
    check_result(instruction)
    return _result(instruction, _sent(instruction))


def _result(instruction: Instruction, values: Operands) -> Instruction:
    if isinstance(instruction.shape, TupleShape):
        return tuple_of(instruction, values)
    return values[0]


def _gather_start(instruction: Instruction) -> Instruction:
    check_result(instruction)
    return _started(instruction, instruction.operands)


def _all_reduce_start(instruction: Instruction) -> Instruction:
    """Gives the results; in older programs the operands, the results and more."""
    many = len(tuple(leaves(instruction.shape))) > len(instruction.operands)
    return _gather_start(instruction) if many else _alone(instruction)


def _permute_start(instruction: Instruction) -> Instruction:
    check_result(instruction)
    return _started(instruction, _sent(instruction))


def _started(instruction: Instruction, results: Operands) -> Instruction:
    """(operand, result) or ((operands), (results)), and zeros for what the machine would need."""
    assert isinstance(instruction.shape, TupleShape)
    rest = [
        splat(instruction, 0, s)
        for s in instruction.shape.elements[2:]
        if isinstance(s, ArrayShape)
    ]
    parts = [
        group[0] if len(group) == 1 else tuple_of(instruction, group)
        for group in (instruction.operands, results)
    ]
    return tuple_of(instruction, (*parts, *rest))


def _sent(instruction: Instruction) -> Operands:
    """The operands where they are sent to the device itself, else zeros."""
    if target_is_self(instruction):
        return instruction.operands
    return tuple(splat(instruction, 0, o.array_shape) for o in instruction.operands)


def _done(instruction: Instruction) -> Instruction:
    return element_of(instruction, instruction.operands[0], 1)


def _reduced(instruction: Instruction) -> Instruction:
    (started,) = instruction.operands
    return started if started.shape == instruction.shape else _done(instruction)


def _id(instruction: Instruction) -> Instruction:
    return constant(instruction, np.zeros((), np.uint32))


def _register(
    op: str,
    attributes: type[Attributes],
    expand: Callable[[Instruction], Instruction],
    arity: tuple[int, int | None] = (1, None),
    infer: Infer | None = None,
) -> None:
    register(OpDef(op, attributes, arity, infer, evaluate=evaluate_expanded, expand=expand))


for _op in ("all-gather", "all-to-all"):
    _register(_op, CollectiveAlong, _alone)
_register("reduce-scatter", ReduceScatter, _alone)
_register("all-reduce", AllReduce, _alone, (0, None), partial(infer_same, "all-reduce"))
_register("all-reduce-start", AllReduce, _all_reduce_start, (0, None))
_register("all-reduce-done", Attributes, _reduced, (1, 1))
_register(
    "collective-broadcast", Collective, _alone, infer=partial(infer_same, "collective-broadcast")
)
_register("all-gather-start", CollectiveAlong, _gather_start)
_register("collective-permute", CollectivePermute, _permute)
_register("collective-permute-start", CollectivePermute, _permute_start)
for _op in ("all-gather-done", "collective-permute-done"):
    _register(_op, Attributes, _done, (1, 1), partial(infer_done, _op))
for _op in ("partition-id", "replica-id"):
    _register(_op, Attributes, _id, (0, 0), infer_id)
