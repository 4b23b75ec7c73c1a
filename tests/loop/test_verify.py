"""The verifier names the kernel and what is wrong with it, and accepts what is right."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ccodegen.loop.builder import Builder, apply, const, index
from ccodegen.loop.ir import (
    Argument,
    Buffer,
    CallKernel,
    Const,
    Expr,
    For,
    If,
    Kernel,
    Let,
    Load,
    Program,
    Space,
    Stmt,
    Store,
    Switch,
    Var,
    While,
)
from ccodegen.loop.verify import verify, verify_kernel
from ccodegen.support.element_type import ElementType
from ccodegen.support.errors import InternalError

F32, S32, PRED = ElementType.F32, ElementType.S32, ElementType.PRED

X = Buffer("x", F32, (4, 3), Space.ARGUMENT)
Y = Buffer("y", F32, (4,), Space.ARGUMENT)
N = Buffer("n", S32, (), Space.ARGUMENT)
LOCAL = Buffer("local", F32, (2,))
i, j, t = Var("i"), Var("j"), Var("t", F32)
ONE = const(F32, 1.0)


def kernel(*body: Stmt) -> Kernel:
    return Kernel("broken", (X, Y, N), body)


def less(a: Expr, b: Expr) -> Expr:
    return apply("compare-lt", a, b, type=PRED)


def over(var: Var, extent: int | Expr, *body: Stmt) -> For:
    return For(var, extent, body)


def shifted(by: int) -> Expr:
    return apply("add", i, index(by))


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (Store(Y, (i,), ONE), "uses i where it is not bound"),
        (over(i, 4, over(i, 4, Store(Y, (i,), ONE))), "declares i twice"),
        (over(i, -1), "loops over i -1 times"),
        (over(i, Load(N)), "has a s32 where index is needed"),
        (over(i, 4, Store(X, (i,), ONE)), "has 1 indices for x"),
        (over(i, 4, Store(Y, (i,), Load(N))), "has a s32 where f32 is needed"),
        (Store(Y, (Const(S32, 0),), ONE), "has a s32 where index is needed"),
        (Store(LOCAL, (index(0),), ONE), "uses local where it is not in scope"),
        (over(i, 4, Store(Y, (shifted(4),), ONE)), "has index 4 … 7 of y, not below 4"),
        (over(i, 4, Store(Y, (shifted(-4),), ONE)), "has index -4 … -1 of y"),
        (Store(Y, (index(0),), apply("add", Load(N), ONE)), "applies add: it does not take"),
        (Store(Y, (index(0),), apply("mystery", ONE)), "applies mystery: there is no such"),
        (If(ONE, ()), "has a f32 where pred is needed"),
        (Let(t, Load(N)), "has a s32 where f32 is needed"),
    ],
)
def test_broken_kernels(statement: Stmt, message: str) -> None:
    with pytest.raises(InternalError, match=f"kernel broken {message}"):
        verify_kernel(kernel(statement))


def test_guarded_accesses_are_right() -> None:
    b = Builder()
    second = Load(Y, (apply("subtract", i, index(4)),))
    chosen = apply("select", less(i, index(4)), Load(Y, (i,)), second)
    guard = If(less(i, index(4)), (Store(Y, (i,), chosen),))
    last = If(less(index(7), i), (Store(Y, (i,), ONE),))  # never true
    b.emit(over(i, 8, guard, last))
    with b.loop(0, "none"):
        b.store(Y, (index(9),), ONE)
    verify_kernel(kernel(*b.statements))


def test_let_and_local_end_with_their_block() -> None:
    inner = over(i, 4, Let(t, ONE), Store(Y, (i,), t))
    verify_kernel(kernel(inner))
    with pytest.raises(InternalError, match="uses t where it is not bound"):
        verify_kernel(kernel(inner, Store(Y, (index(0),), t)))


def scratch(name: str, offset: int, of: ElementType = F32) -> Buffer:
    return Buffer(name, of, (4,), Space.ARENA, offset)


COPY = Kernel("copy", (Y, Z := replace(Y, name="z")), (over(i, 4, Store(Z, (i,), Load(Y, (i,)))),))
GIVEN = Buffer("given", F32, (4,), Space.ARGUMENT)
OUT = Buffer("out", F32, (4,), Space.ARGUMENT)
FLAG = Buffer("flag", PRED, (), Space.ARENA, 32)
PROGRAM = Program(
    "main",
    (Argument("given", GIVEN, parameter=0), Argument("out", OUT, output=0)),
    (),
    48,
    16,
    (COPY,),
    (CallKernel(COPY, (GIVEN, scratch("a", 0))), CallKernel(COPY, (GIVEN, OUT))),
)


def test_right_program() -> None:
    verify(PROGRAM)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (CallKernel(COPY, (GIVEN,)), "copy is called with 1 buffers"),
        (CallKernel(COPY, (OUT, GIVEN)), "copy writes given, which is read-only"),
        (CallKernel(COPY, (GIVEN, scratch("b", 8))), "b at 8 is not aligned"),
        (CallKernel(COPY, (GIVEN, scratch("b", 48))), "b ends at 64 of 48 bytes"),
        (CallKernel(COPY, (scratch("a", 0), scratch("b", 0))), "a and b overlap in copy"),
        (CallKernel(COPY, (OUT, OUT)), "out and out overlap in copy"),
        (CallKernel(COPY, (GIVEN, scratch("b", 0, S32))), "b does not fit z of copy"),
        (CallKernel(COPY, (GIVEN, replace(OUT))), "out is neither in the arena nor known"),
        (CallKernel(replace(COPY), (GIVEN, OUT)), "copy is called, but not in the program"),
        (While((), OUT, ()), "out decides a step, but is no scalar"),
        (Switch(FLAG, ((), (), ())), "a switch has 3 branches"),
    ],
)
def test_broken_steps(step: CallKernel | While | Switch, message: str) -> None:
    with pytest.raises(InternalError, match=f"program main: {message}"):
        verify(replace(PROGRAM, steps=(*PROGRAM.steps, step)))


def test_broken_kernel_in_a_program() -> None:
    broken = kernel(Store(Y, (i,), ONE))
    with pytest.raises(InternalError, match="program main: kernel broken uses i"):
        verify(replace(PROGRAM, kernels=(COPY, broken)))
