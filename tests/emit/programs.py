"""Small loop programs to print and to run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ccodegen.loop import operators
from ccodegen.loop.builder import Builder, apply, const
from ccodegen.loop.ir import (
    Apply,
    Argument,
    Buffer,
    CallKernel,
    ConstantData,
    Expr,
    Kernel,
    LoopKind,
    Program,
    Space,
    Stmt,
    Switch,
    While,
)
from ccodegen.support.element_type import ElementType

F32, S32, PRED, C64 = ElementType.F32, ElementType.S32, ElementType.PRED, ElementType.C64
WEIGHTS = np.arange(24, dtype=np.float32).reshape(8, 3) / 8


def argument(name: str, element: ElementType, *dimensions: int) -> Buffer:
    return Buffer(name, element, dimensions, Space.ARGUMENT)


def mlp() -> Program:
    """y = exp(max(x · w, 0) + 0.5), with w constant and the product in the arena."""
    x, y = argument("x", F32, 4, 8), argument("y", F32, 4, 3)
    w = Buffer("w", F32, (8, 3), Space.CONSTANT)
    hidden = Buffer("hidden", F32, (4, 3), Space.ARENA, 64)
    dot = Kernel("dot", (x, w, hidden), _product(x, w, hidden), "dot.1, model.py:12")
    b = Builder()
    b.note("exponential.2, model.py:13")
    with b.loops((4, 3), "i", LoopKind.VECTOR) as (i, j):
        shifted = b.let(apply("add", b.load(hidden, (i, j)), const(F32, 0.5)), "shifted")
        b.store(y, (i, j), apply("exponential", shifted))
    exp = Kernel("exp", (hidden, y), b.statements)
    return Program(
        "mlp",
        (Argument("x", x, 0), Argument("y", y, None, 0)),
        (ConstantData(w, WEIGHTS),),
        112,
        64,
        (dot, exp),
        (CallKernel(dot, (x, w, hidden), "dot.1"), CallKernel(exp, (hidden, y))),
        "mlp(x: f32[4,8]) -> f32[4,3]",
    )


def _product(x: Buffer, w: Buffer, hidden: Buffer) -> tuple[Stmt, ...]:
    b = Builder()
    with b.loops((4, 3), "i", LoopKind.PARALLEL) as (i, j):
        total = b.variable(const(F32, 0.0), "sum")
        with b.loop(8, "k") as k:
            product = apply("multiply", b.load(x, (i, k)), b.load(w, (k, j)))
            b.store(total, (), apply("add", b.load(total), product))
        b.store(hidden, (i, j), apply("maximum", b.load(total), const(F32, 0.0)))
    return b.statements


def counting() -> Program:
    """An in-out n f32[]: while n < 10 { n += 1 }; then pick adds 100, 200 or 300 to it."""
    n, pick = argument("n", F32), argument("pick", S32)
    less = Buffer("less", PRED, (), Space.ARENA, 0)
    b = Builder()
    b.store(less, (), apply("compare-lt", b.load(n), const(F32, 10.0), type=PRED))
    test = Kernel("test", (n, less), b.statements)
    adders = [_adder(n, amount) for amount in (1.0, 100.0, 200.0, 300.0)]
    steps = (
        While((CallKernel(test, (n, less)),), less, (CallKernel(adders[0], (n,)),), "while.1"),
        Switch(pick, tuple((CallKernel(adder, (n,)),) for adder in adders[1:]), "conditional.2"),
    )
    arguments = (Argument("n", n, 0, 0), Argument("pick", pick, 1))
    return Program("counting", arguments, (), 1, 64, (test, *adders), steps)


def _adder(n: Buffer, amount: float) -> Kernel:
    b = Builder()
    b.store(n, (), apply("add", b.load(n), const(F32, amount)))
    return Kernel("add", (n,), b.statements)


def conjugate() -> Program:
    """y = conj(x) · i over c64[5]."""
    x, y = argument("x", C64, 5), argument("y", C64, 5)
    b = Builder()
    with b.loop(5) as i:
        value = b.let(b.load(x, (i,)))
        imaginary = apply("negate", apply("imag", value, type=F32))
        mirrored = apply("complex", apply("real", value, type=F32), imaginary, type=C64)
        b.store(y, (i,), apply("multiply", mirrored, const(C64, 1j)))
    return one_kernel("conjugate", (x,), y, b)


def one_kernel(name: str, inputs: Sequence[Buffer], output: Buffer, b: Builder) -> Program:
    """A program of what the builder holds."""
    kernel = Kernel(name, (*inputs, output), b.statements, name)
    arguments = [Argument(buffer.name, buffer, n) for n, buffer in enumerate(inputs)]
    arguments.append(Argument(output.name, output, None, 0))
    call = CallKernel(kernel, kernel.buffers)
    return Program(name, tuple(arguments), (), 0, 64, (kernel,), (call,))


def adding(count: int) -> Program:
    """The sum of so many scalars."""
    inputs = [argument(f"x{n}", F32) for n in range(count)]
    b = Builder()
    total: Expr = b.load(inputs[0])
    for x in inputs[1:]:
        total = apply("add", total, b.load(x))
    y = argument("y", F32)
    b.store(y, (), total)
    return one_kernel("adding", inputs, y, b)


def every_operator() -> Program:
    """Each operator on each type it takes, alone and under another one, each into its own buffer
    in the arena; conversions between all pairs of types."""
    kernels = []
    for element in ElementType:
        b = Builder()
        source = Buffer("source", element, (3,), Space.ARENA, 0)
        results: list[Buffer] = []
        for value in _applications(b, source):
            result = Buffer(f"r{len(results)}", value.type, (1,), Space.ARENA, 0)
            results.append(result)
            b.store(result, (const(ElementType.INDEX, 0),), value)
        kernels.append(Kernel(element.text, (source, *results), b.statements))
    calls = tuple(CallKernel(kernel, kernel.buffers) for kernel in kernels)
    return Program("every", (), (), 64, 64, tuple(kernels), calls)


def _applications(b: Builder, source: Buffer) -> list[Expr]:
    values = [b.load(source, (const(ElementType.INDEX, n),)) for n in range(3)]
    found: list[Expr] = []
    for row in operators.OPERATORS.values():
        found += _of_row(row, values)
    return found


def _of_row(row: operators.Operator, values: Sequence[Expr]) -> list[Expr]:
    element = values[0].type
    arguments: list[Expr] = list(values[: row.arity])
    if row.name == "select":
        arguments[0] = const(PRED, True)
    if row.name == "reduce-precision":
        arguments[1:] = [const(ElementType.U32, 5), const(ElementType.U32, 4)]
    if row.name in ("convert", "bitcast-convert"):
        return _conversions(row.name, values[0])
    types = [argument.type for argument in arguments]
    if element.kind not in row.c:
        return []
    result = row.result(element)
    if operators.check(row.name, types, result):
        return []
    once = Apply(row.name, tuple(arguments), result)
    if result is not element:
        return [once]
    arguments[-1 if row.name != "reduce-precision" else 0] = once
    return [once, Apply(row.name, tuple(arguments), result)]


def _conversions(name: str, value: Expr) -> list[Expr]:
    if value.type is ElementType.INDEX:
        return []
    targets = [t for t in ElementType if t is not ElementType.INDEX]
    if name == "bitcast-convert":
        targets = [t for t in targets if t.bits == value.type.bits and not t.is_complex]
        targets = [] if value.type.is_complex else targets
    return [Apply(name, (value,), t) for t in targets]
