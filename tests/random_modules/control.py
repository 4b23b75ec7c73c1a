"""Ops that run other computations, and those that only say when or where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.shape import TOKEN, ArrayShape, TupleShape
from tests.random_modules.body import PRED, S32, U32, Body

_MARKERS = ("Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "LayoutConstraint")


def loop(body: Body) -> Instruction:
    """A while that counts to three or less, over a state of arrays that its body changes, swaps
    or leaves alone; a value of the state may end it before."""
    if body.depth > 1:
        body.inner("too deep")
    zero = body.builder.constant(0, ArrayShape(S32))
    state = [zero, *(body.any() for _ in range(body.random.randint(1, 3)))]
    initial = body.tuple(state)
    condition = _counts_to(body, initial, body.random.randint(0, 3))
    made = body.op(
        "while", initial, shape=initial.shape, condition=condition, body=_turn(body, initial)
    )
    parts = body.parts(made)
    body.values += parts[:-1] if body.chance(0.7) else []
    return parts[-1]


def _counts_to(body: Body, initial: Instruction, limit: int) -> Computation:
    inner = Body(body.maker, "condition", body.depth + 2)
    state = inner.parameter(initial.shape)
    count, *others = inner.parts(state)
    scalars = [p for p in others if p.array_shape.rank == 0]
    bound = inner.builder.constant(limit, ArrayShape(S32))
    goes_on = inner.op("compare", count, bound, direction="LT")
    if scalars and inner.chance(0.5):
        chosen = inner.random.choice(scalars)
        wanted = inner.constant(chosen.array_shape)
        differs = inner.op("compare", chosen, wanted, direction="NE")
        goes_on = inner.op("and", goes_on, differs)
    return inner.build(goes_on)


def _turn(body: Body, initial: Instruction) -> Computation:
    inner = body.inner("body")
    parts = inner.parts(inner.parameter(initial.shape))
    one = inner.builder.constant(1, ArrayShape(S32))
    inner.values += parts
    inner.grow(body.random.randint(0, 4))
    count = inner.op("add", parts[0], one)
    ends = [count, *(_end(inner, p) for p in parts[1:])]
    return inner.build(inner.tuple(ends))


def _end(body: Body, part: Instruction) -> Instruction:
    """What a state leaf becomes: itself, another one of its shape, something new."""
    choices = [v for v in body.values if v.shape == part.shape]
    return body.random.choice([part, *choices, choices[-1]])


def conditional(body: Body) -> Instruction:
    """By pred or by number; the branches take arrays of one shape and return others."""
    by_number = body.chance(0.5)
    count = body.random.randint(1, 3) if by_number else 2
    selector = body.scalar(S32 if by_number else PRED)
    operands = [body.any() for _ in range(count)]
    result = body.shape()
    branches = [_branch(body, operand, result) for operand in operands]
    names: dict[str, Any] = {"branch_computations": tuple(branches)}
    if not by_number:
        names = dict(zip(("true_computation", "false_computation"), branches, strict=True))
    shape = TupleShape((result, result))
    return body.one_of(body.op("conditional", selector, *operands, shape=shape, **names))


def _branch(body: Body, operand: Instruction, result: ArrayShape) -> Computation:
    inner = body.inner("branch")
    inner.parameter(operand.shape)
    inner.grow(body.random.randint(0, 3))
    return inner.build(inner.tuple([inner.like(result), inner.like(result)]))


def _function(body: Body, operands: Sequence[Instruction]) -> Computation:
    inner = body.inner("function")
    for operand in operands:
        inner.parameter(operand.shape)
    if not operands:
        inner.add(inner.constant(inner.shape()))
    inner.grow(body.random.randint(1, 4))
    if body.chance(0.7):
        return inner.build(inner.values[-1])
    results = [inner.random.choice(inner.values) for _ in range(body.random.randint(1, 3))]
    return inner.build(inner.tuple(results))


def call(body: Body) -> Instruction:
    """A call or a fusion."""
    operands = [body.any() for _ in range(body.random.randint(1, 3))]
    function = _function(body, operands)
    if body.chance(0.4):
        return body.one_of(body.op("call", *operands, to_apply=function))
    kind = body.random.choice(("kLoop", "kInput", "kOutput", "kCustom"))
    return body.one_of(body.op("fusion", *operands, kind=kind, calls=function))


def asynchronous(body: Body) -> Instruction:
    """Computations that are started one after the other and awaited in any order, with a step in
    between."""
    handles = [_started(body) for _ in range(body.random.choice((1, 1, 2, 3)))]
    if body.chance(0.3):
        body.grow(1)
    body.random.shuffle(handles)
    found = [body.one_of(body.op("async-done", handle)) for handle in handles]
    body.values += found[:-1]
    return found[-1]


def _started(body: Body) -> Instruction:
    """The result's tuple holds what else a machine needs, or nothing more."""
    operands = [body.any() for _ in range(body.random.randint(0, 3))]
    function = _function(body, operands)
    taken = TupleShape(tuple(o.shape for o in operands))
    more = body.random.choice(((), (ArrayShape(U32),), (ArrayShape(S32), ArrayShape(U32))))
    shape = TupleShape((taken, function.root.shape, *more))
    thread = body.random.choice(("", "", "parallel"))
    handle = body.op(
        "async-start", *operands, shape=shape, calls=function, async_execution_thread=thread
    )
    for _ in range(body.random.choice((0, 0, 1, 2))):
        handle = body.op("async-update", handle)
    return handle


def marker(body: Body) -> Instruction:
    """An op that hands on what it gets."""
    value = body.any()
    chosen = body.random.choice(("copy", "custom", "custom", "barrier", "domain", "token"))
    if chosen == "copy":
        return body.op("copy-done", body.op("copy-start", value))
    if chosen == "custom":
        target = body.random.choice(_MARKERS)
        return body.op("custom-call", value, shape=value.shape, custom_call_target=target)
    if chosen == "barrier":
        pair = body.tuple([value, body.any()])
        return body.one_of(body.op("opt-barrier", pair))
    if chosen == "domain":
        sides = 'domain={kind="sharding", entry={maximal device=0}, exit={}}'
        return body.op("domain", value, domain=sides.removeprefix("domain="))
    token = body.op("after-all", body.op("after-all", shape=TOKEN))
    return body.op("add-dependency", value, token)
