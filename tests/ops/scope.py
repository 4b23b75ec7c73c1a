"""Runs one op's lowering by itself: its operands in buffers, its loops in the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import ccodegen.ops
from ccodegen.hlo import opdef
from ccodegen.hlo.evaluate import Evaluator, evaluate, value_leaves
from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.shape import ArrayShape, Shape, leaves
from ccodegen.hlo.text import parse
from ccodegen.loop.builder import Builder, apply, const
from ccodegen.loop.interpret import run_kernel
from ccodegen.loop.ir import Buffer, Expr, Index, Kernel, Space
from ccodegen.support.element_type import ElementType, from_dtype
from ccodegen.target import Target, load

assert ccodegen.ops

Array = np.ndarray[Any, Any]


def module_of(text: str) -> Module:
    """The module of `HloModule m` and this text."""
    return parse(f"HloModule m\n{text}", "test.hlo")


def check_lowering(text: str, *arguments: Array, strict: bool = True) -> list[Array]:
    """Asserts that the entry's root, lowered, gives the bits of the reference; returns them.

    The root's operands must be parameters or constants, parameters in the order of `arguments`.
    """
    module = module_of(text)
    expected = [np.asarray(v) for v in value_leaves(evaluate(module, *arguments))]
    parameters = dict(zip(module.entry.parameters, arguments, strict=True))
    found = lowered(module.entry.root, parameters, strict)
    for e, f in zip(expected, found, strict=True):
        assert e.dtype == f.dtype and e.shape == f.shape, (e.dtype, f.dtype, e.shape, f.shape)
        assert same_bits(e, f), (e, f)
    return found


def same_bits(a: Array, b: Array) -> bool:
    """Equal bits, save that a NaN equals any NaN."""
    if a.dtype.kind == "c":
        return same_bits(a.real.copy(), b.real.copy()) and same_bits(a.imag.copy(), b.imag.copy())
    if a.dtype.kind in "biu":
        return np.array_equal(a, b)
    nan = np.isnan(a)
    a, b = np.where(nan, a.dtype.type(0), a), np.where(np.isnan(b), b.dtype.type(0), b)
    return a.tobytes() == b.tobytes() and np.array_equal(nan, np.isnan(b) | nan)


def lowered(
    instruction: Instruction, parameters: dict[Instruction, Array], strict: bool
) -> list[Array]:
    """The results' leaves, computed by the instruction's lowering."""
    values = [_value(o, parameters) for o in instruction.operands]
    operands = [_buffer(f"x{n}", o.shape) for n, o in enumerate(instruction.operands)]
    shapes = [s for s in leaves(instruction.shape) if isinstance(s, ArrayShape)]
    results = [_buffer(f"y{n}", s) for n, s in enumerate(shapes)]
    scope = Scope(instruction, tuple(operands), tuple(results), strict)
    definition = opdef.get(instruction.op)
    if definition.lowers_by_nest(instruction):
        assert definition.nest is not None
        definition.nest(scope, instruction)
    else:
        assert definition.element is not None
        _store_elements(scope, definition.element, instruction)
    outputs = [np.empty(s.dimensions, s.element_type.dtype) for s in shapes]
    scratch = [np.empty(b.dimensions, b.type.dtype) for b in scope.scratches]
    buffers = (*operands, *results, *scope.scratches, *scope.tables)
    inputs = [np.ascontiguousarray(v).reshape(v.shape).copy() for v in values]
    run_kernel(
        Kernel("k", buffers, scope.builder.statements),
        [*inputs, *outputs, *scratch, *scope.tables.values()],
    )
    return outputs


def _store_elements(
    scope: Scope, element: Callable[..., Any], instruction: Instruction
) -> None:
    with scope.builder.loops(scope.results[0].dimensions) as index:
        found = element(scope, instruction, index)
        found = found if isinstance(found, tuple) else (found,)
        for result, value in zip(scope.results, found, strict=True):
            scope.builder.store(result, index, value)


def _value(operand: Instruction, parameters: dict[Instruction, Array]) -> Array:
    if operand in parameters:
        return np.asarray(parameters[operand])
    return np.asarray(Evaluator().call(Computation("c", (), operand)))


def _buffer(name: str, shape: Shape) -> Buffer:
    assert isinstance(shape, ArrayShape)
    return Buffer(name, shape.element_type, shape.dimensions, Space.ARGUMENT)


@dataclass
class Scope:
    """An ElementScope and a NestScope over buffers."""

    instruction: Instruction
    operands: tuple[Buffer, ...]
    results: tuple[Buffer, ...]
    strict: bool = True
    builder: Builder = field(default_factory=Builder)
    scratches: list[Buffer] = field(default_factory=list)
    tables: dict[Buffer, Array] = field(default_factory=dict)
    target: Target = field(default_factory=lambda: load("x86-64"))

    def operand(self, number: int, index: Index) -> Expr:
        return self.builder.load(self.operands[number], index)

    def guarded(
        self, condition: Expr, then: Callable[[], Expr], otherwise: Callable[[], Expr]
    ) -> Expr:
        a, b = then(), otherwise()
        return apply("select", condition, a, b)

    def scratch(self, element_type: ElementType, dimensions: tuple[int, ...]) -> Buffer:
        buffer = Buffer(f"s{len(self.scratches)}", element_type, dimensions, Space.ARENA)
        self.scratches.append(buffer)
        return buffer

    def table(self, array: Array) -> Buffer:
        name = f"t{len(self.tables)}"
        buffer = Buffer(name, from_dtype(array.dtype), array.shape, Space.CONSTANT)
        self.tables[buffer] = array
        return buffer

    def call(self, computation: Computation, *arguments: Expr) -> tuple[Expr, ...]:
        known = dict(zip(computation.parameters, ((a,) for a in arguments), strict=True))
        for instruction in computation.instructions:
            if instruction not in known:
                known[instruction] = _scalar(instruction, known)
        return tuple(known[computation.root])


def _scalar(
    instruction: Instruction, known: dict[Instruction, tuple[Expr, ...]]
) -> tuple[Expr, ...]:
    operands = [v for o in instruction.operands for v in known[o]]
    attributes: Any = instruction.attributes
    if instruction.op == "tuple":
        return tuple(operands)
    if instruction.op == "get-tuple-element":
        return (operands[attributes.index],)
    element_type = instruction.array_shape.element_type
    if instruction.op == "constant":
        return (const(element_type, attributes.literal.array.reshape(-1)[0]),)
    operator = instruction.op
    if operator == "compare":
        order = "total-" if attributes.type == "TOTALORDER" else ""
        operator = f"compare-{order}{attributes.direction.lower()}"
    return (apply(operator, *operands, type=element_type),)
