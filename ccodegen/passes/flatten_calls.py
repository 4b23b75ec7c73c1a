"""Puts called computations in the place of calls; what is asynchronous becomes synchronous."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.rewrite import map_computations, rewrite_computation
from ccodegen.hlo.shape import ArrayShape, TupleShape
from ccodegen.ops.asynchronous import AsyncStart
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.build import splat, tuple_of
from ccodegen.ops.control import Call
from ccodegen.passes.context import PassContext
from ccodegen.passes.inline import Inlined, inline

Expand = Callable[[Instruction], Inlined | None]


def flatten_calls(module: Module, context: PassContext) -> Module:
    """`%z = call(%x), to_apply=%f` → the instructions of `%f`; `async-done(async-start(%x))` and
    `copy-done(copy-start(%x))` likewise.

    A call stays where its computation would grow beyond `context.inlining_limit` instructions.
    """
    return expand_calls(module, _expansion, context.inlining_limit)


def expand_calls(module: Module, expand: Expand, limit: int) -> Module:
    """The module with each instruction for which `expand` gives an expansion replaced by it."""

    def transform(
        computation: Computation, callees: dict[Computation, Computation]
    ) -> Computation:
        return _expanded(computation, callees, expand, limit)

    return map_computations(module, transform)


def _expanded(
    computation: Computation,
    callees: dict[Computation, Computation],
    expand: Expand,
    limit: int,
) -> Computation:
    inner: dict[Instruction, list[Instruction]] = {}
    size = len(computation.instructions)

    def visit(instruction: Instruction) -> Instruction:
        nonlocal size
        size += sum(len(c.instructions) for c in instruction.attributes.computations())
        found = expand(instruction) if size <= limit else None
        if found is None:
            return instruction
        if found.side_roots:
            inner.setdefault(found.root, []).extend(found.side_roots)
        return found.root

    new = rewrite_computation(computation, visit, callees)
    if not inner:
        return new
    # In the order of the program: those of a call where it was.
    own = [i for root in new.side_roots for i in (*inner.pop(root, ()), root)]
    others = [i for roots in inner.values() for i in roots]
    return replace(new, side_roots=tuple(dict.fromkeys((*others, *own))))


def _expansion(instruction: Instruction) -> Inlined | None:
    rule = _RULES.get(instruction.op)
    return rule(instruction) if rule else None


def _call(instruction: Instruction) -> Inlined:
    callee = attributes_of(instruction, Call).to_apply
    return inline(callee, instruction.operands, instruction.control_predecessors)


def _async_start(instruction: Instruction) -> Inlined | None:
    """Its value is (operands, result, context…); the context is nobody's business: zeros."""
    attributes, shape = instruction.attributes, instruction.shape
    if not isinstance(attributes, AsyncStart) or not isinstance(shape, TupleShape):
        return None
    context = shape.elements[2:]
    if not all(isinstance(s, ArrayShape) for s in context):
        return None
    found = inline(attributes.calls, instruction.operands, instruction.control_predecessors)
    zeros = [splat(instruction, 0, s) for s in context if isinstance(s, ArrayShape)]
    operands = tuple_of(instruction, instruction.operands)
    root = tuple_of(instruction, (operands, found.root, *zeros))
    return Inlined(root, found.side_roots)


def _async_update(instruction: Instruction) -> Inlined | None:
    (started,) = instruction.operands
    return Inlined(started, ()) if started.op == "tuple" else None


def _async_done(instruction: Instruction) -> Inlined | None:
    (started,) = instruction.operands
    if started.op != "tuple" or len(started.operands) < 2:
        return None
    return Inlined(started.operands[1], ())


def _copy_done(instruction: Instruction) -> Inlined | None:
    (started,) = instruction.operands
    return Inlined(started.operands[0], ()) if started.op == "copy-start" else None


_RULES: dict[str, Callable[[Instruction], Inlined | None]] = {
    "call": _call,
    "async-start": _async_start,
    "async-update": _async_update,
    "async-done": _async_done,
    "copy-done": _copy_done,
}
