"""Programs print and parse back to the same text; errors point at the token."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings

from ccodegen.loop.builder import apply, const, index
from ccodegen.loop.ir import (
    Argument,
    Buffer,
    BufferLife,
    CallC,
    CallKernel,
    ConstantData,
    Expr,
    Kernel,
    Let,
    Program,
    Space,
    Store,
    Switch,
    Var,
    While,
)
from ccodegen.loop.text import parse, parse_kernel, to_text
from ccodegen.support.element_type import ElementType
from ccodegen.support.errors import InputError
from tests.loop.kernels import kernels

F32, PRED = ElementType.F32, ElementType.PRED
X = Buffer("x", F32, (4, 12), Space.ARGUMENT)


@settings(max_examples=100, deadline=None)
@given(kernels())
def test_random_kernels(kernel: Kernel) -> None:
    text = to_text(kernel)
    assert to_text(parse_kernel(text)) == text


def test_how_a_kernel_reads() -> None:
    text = """\
kernel scale(x: f32[4,12] argument, y: f32[4,12] arena@128) "multiply.3" {
  # %multiply.3 = f32[4,12] multiply(…), line 7
  for i < 4 parallel {
    local acc: f32[]
    for t < 12 - i {
      acc[] = x[i, t]
    }
    for j < 12 vector {
      let near: pred = i * 12 + (j - 1) % 4 < 3 and not(x[i, j] > -0.5:f32)
      if near or true {
        y[i, j] = (x[i, j] + 1.0:f32) * tanh(x[i, 0])
      } else {
        acc[] = convert:f32(minimum(i, 3))
      }
    }
  }
}
"""
    assert to_text(parse_kernel(text)) == text


def value_back(value: Expr) -> Expr:
    store = Store(Buffer("v", value.type, (), Space.ARGUMENT), (), value)
    (back,) = parse_kernel(to_text(Kernel("k", (store.buffer, X), (store,)))).body
    assert isinstance(back, Store)
    return back.value


@pytest.mark.parametrize(
    ("element_type", "value"),
    [
        (F32, 0.1),
        (F32, np.float32(0.1)),
        (F32, -0.0),
        (F32, float("-inf")),
        (ElementType.F64, 5e-324),
        (ElementType.F64, 1e16),
        (ElementType.BF16, ml_dtypes.bfloat16(3.140625)),
        (ElementType.F8E4M3FN, 448.0),
        (ElementType.S4, -8),
        (ElementType.U64, 2**64 - 1),
        (PRED, True),
        (ElementType.INDEX, -3),
        (ElementType.C64, complex(1.5, float("-inf"))),
    ],
)
def test_constants(element_type: ElementType, value: Any) -> None:
    back = value_back(const(element_type, value))
    assert back == const(element_type, value)
    assert repr(complex(back.value)) == repr(complex(value))  # type: ignore[union-attr]


def test_bits_of_nan() -> None:
    nan = np.array(0x7FC12345, np.uint32).view(np.float32)[()]
    back = value_back(const(F32, nan))
    assert np.asarray(back.value, np.float32).view(np.uint32) == 0x7FC12345  # type: ignore[union-attr]


i, j, k = Var("i"), Var("j"), Var("k")


@pytest.mark.parametrize(
    "expr",
    [
        apply("subtract", i, apply("subtract", j, index(1))),
        apply("multiply", apply("add", i, j), index(-2)),
        apply("and", const(ElementType.S32, 5), const(ElementType.S32, 3)),
        apply("complex", const(F32, 1.0), const(F32, 2.0), type=ElementType.C64),
        apply("add", const(F32, 1.0), const(F32, 2.0), type=ElementType.F64),
        apply("or", apply("and", Var("p", PRED), Var("q", PRED)), Var("true", PRED)),
        apply("and", apply("or", Var("p", PRED), Var("q", PRED)), Var("p", PRED)),
    ],
)
def test_structure_of_expressions(expr: Expr) -> None:
    bound = [Let(Var(n), index(0)) for n in "ij"]
    bound += [Let(Var(n, PRED), const(PRED, True)) for n in ("p", "q", "true")]
    text = to_text(Kernel("k", (), (*bound, Let(Var("last", expr.type), expr))))
    last = parse_kernel(text).body[-1]
    assert last == Let(Var("last", expr.type), expr)


def calling() -> Kernel:
    pack = Buffer("pack", F32, (8,), Space.ARENA, 0)
    other = Buffer("pack", F32, (8,), Space.ARENA, 32)
    call = CallC("ccg_fft", "ccg_fft.h", (X, pack, other), (index(3),), (0, 1))
    return Kernel("dot.5", (X, pack, other), (call,))


def test_call() -> None:
    kernel = calling()
    text = to_text(kernel)
    assert "(x, pack, pack#2; 3) writes (0, 1)" in text
    back = parse_kernel(text)
    assert to_text(back) == text
    assert back.body[0].buffers == back.buffers  # type: ignore[union-attr]
    assert back.buffers[2].name == "pack"
    assert back.buffers[2].offset == 32


def test_program() -> None:
    kernel = Kernel("copy", (X,), ())
    given = Buffer("Arg_0.1", F32, (4, 12), Space.ARGUMENT)
    small = Buffer("c", F32, (2,), Space.CONSTANT)
    large = Buffer("c", ElementType.U8, (5, 4), Space.CONSTANT)
    scratch = Buffer("t", F32, (4, 12), Space.ARENA, 16)
    flag = Buffer("flag", PRED, (), Space.ARENA, 0)
    call = CallKernel(kernel, (scratch,), "fusion.3")
    program = Program(
        "jit f",
        (Argument("params['w']", given, parameter=0, output=1),),
        (
            ConstantData(small, np.array([1.5, np.nan], np.float32)),
            ConstantData(large, np.arange(20, dtype=np.uint8).reshape(5, 4)),
        ),
        208,
        16,
        (kernel, calling()),
        (call, While((call,), flag, (Switch(flag, ((call,), ())),), "while.1")),
        "f(w: f32[4,12])",
        (BufferLife(scratch, 0, 2, "fusion.3"), BufferLife(scratch, 4, 5, "fusion.4")),
    )
    text = to_text(program)
    back = parse(text)
    assert to_text(back) == text
    assert back.arguments[0].name == "params['w']"
    np.testing.assert_array_equal(back.constants[1].array, np.arange(20).reshape(5, 4))
    assert back.constants[0].array.tobytes() == program.constants[0].array.tobytes()


@pytest.mark.parametrize(
    ("body", "column", "message"),
    [
        ("  x[0] = y", 10, "there is no variable 'y'"),
        ("  y[0] = 1", 3, "there is no buffer 'y'"),
        ("  x[0] = 1.0:f31", 14, "there is no element type 'f31'"),
        ("  x[0] + 1", 8, r"expected '=', found '\+'"),
        ("  x[0] = $", 10, r"unexpected character '\$'"),
        ("  x[0] = bits(00):f32", 10, "f32 has 4 bytes"),
    ],
)
def test_errors(body: str, column: int, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        parse_kernel(f"kernel k(x: f32[4] argument) {{\n{body}\n}}\n", "k.loop")
    assert caught.value.location is not None
    assert (caught.value.location.line, caught.value.location.column) == (2, column)
