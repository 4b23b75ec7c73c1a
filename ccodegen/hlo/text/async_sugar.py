"""Async sugar: `add-start(a, b)` is an async-start of a computation that holds the add alone."""

from __future__ import annotations

from typing import Any

from ccodegen.hlo import opdef
from ccodegen.hlo.attributes import AttrKind
from ccodegen.hlo.checks import check_arity, inferred_shape, make_attributes
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.opdef import OpDef
from ccodegen.hlo.shape import Shape, TupleShape
from ccodegen.support.errors import InputError
from ccodegen.support.pattern import pattern

_SUGAR = pattern(r"(.+)-(start|update|done)")


def split_opcode(opcode: str) -> tuple[OpDef, OpDef] | None:
    """`add-start` → the ops async-start and add; None for what is no sugar."""
    found = _SUGAR.fullmatch(opcode)
    wrapped = opdef.find(found[1]) if found else None
    outer = opdef.find(f"async-{found[2]}") if found else None
    return (outer, wrapped) if outer and wrapped else None


def resolved(
    definition: OpDef, operands: tuple[Instruction, ...], shape: Shape | None
) -> tuple[OpDef, OpDef | None]:
    """The op, and the one it wraps: `copy-start` and `send-done` are opcodes of their own, but
    also how the start of an async copy and the end of an async send are written."""
    is_async = False
    if definition.opcode == "copy-start":
        arguments = TupleShape(tuple(o.shape for o in operands))
        is_async = isinstance(shape, TupleShape) and shape.elements[:1] == (arguments,)
    elif definition.opcode.endswith("-done") and operands:
        is_async = _started(operands[0]) is not None
    sugar = split_opcode(definition.opcode) if is_async else None
    return sugar or (definition, None)


def sugar_kinds(outer: OpDef, wrapped: OpDef) -> dict[str, tuple[str, AttrKind]]:
    """The attributes that sugar may have. Only a start has those of the wrapped op, which come
    before its own of the same name."""
    own = dict(outer.attributes.spelled())
    if outer.opcode != "async-start":
        return own
    own.pop("calls")
    return own | dict(wrapped.attributes.spelled())


def desugared(
    outer: OpDef,
    wrapped: OpDef,
    operands: tuple[Instruction, ...],
    values: dict[str, Any],
    shape: Shape | None,
    name: str,
) -> tuple[dict[str, Any], Shape | None]:
    """The attribute values and the shape (None: to be inferred) of the async instruction."""
    if outer.opcode == "async-start":
        return _start(wrapped, operands, values, shape, name)
    check_arity(outer, len(operands))
    started = _started(operands[0])
    if started and started.op != wrapped.opcode:
        raise InputError(f"what ends here was started as {started.op}, not as {wrapped.opcode}")
    return values, shape


def _start(
    wrapped: OpDef,
    operands: tuple[Instruction, ...],
    values: dict[str, Any],
    shape: Shape | None,
    name: str,
) -> tuple[dict[str, Any], Shape | None]:
    check_arity(wrapped, len(operands))
    inner_fields = {field for field, _ in wrapped.attributes.spelled().values()}
    inner = {field: value for field, value in values.items() if field in inner_fields}
    outer = {field: value for field, value in values.items() if field not in inner_fields}
    parameter = opdef.get("parameter")
    parameters = tuple(
        Instruction("parameter", o.shape, (), make_attributes(parameter, {"number": i}), f"p{i}")
        for i, o in enumerate(operands)
    )
    attributes = make_attributes(wrapped, inner)
    if isinstance(shape, TupleShape) and len(shape.elements) > 1:
        result = shape.elements[1]
    else:
        result = inferred_shape(wrapped, parameters, attributes)
        shape = shape or TupleShape((TupleShape(tuple(o.shape for o in operands)), result))
    root = Instruction(wrapped.opcode, result, parameters, attributes, wrapped.opcode)
    thread = outer.get("async_execution_thread", "")
    calls = Computation(f"{name}.async", parameters, root, execution_thread=thread)
    return {**outer, "calls": calls}, shape


def _started(instruction: Instruction) -> Instruction | None:
    """The root of the computation that an async instruction runs."""
    while instruction.op == "async-update" and instruction.operands:
        instruction = instruction.operands[0]
    if instruction.op != "async-start":
        return None
    return next((c.root for c in instruction.attributes.computations()), None)
