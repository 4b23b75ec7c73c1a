"""What is read on a condition, next to loops over few elements; f16s outside of vectors; short
loops."""

from __future__ import annotations

import ccodegen
from ccodegen.emit.names import Names
from ccodegen.emit.statement import StatementPrinter
from ccodegen.loop.builder import apply, index
from ccodegen.loop.ir import (
    INDEX,
    Alloc,
    Buffer,
    Expr,
    For,
    Load,
    LoopKind,
    Space,
    Stmt,
    Store,
    Var,
)
from ccodegen.support.element_type import ElementType

F16, I = ElementType.F16, Var("i", INDEX)  # noqa: E741

ADD = "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }"


def sums(of: str) -> str:
    """The C of sums over the rows of an f32[14,13]."""
    return ccodegen.compile(f"""HloModule m {ADD} ENTRY e {{ x = f32[14,13] parameter(0)
      z = f32[] constant(0)  {of}
      ROOT r = f32[14] reduce(y, z), dimensions={{1}}, to_apply=add }}""").as_text("c")


def test_what_is_read_in_any_case_is_not_guarded() -> None:
    text = sums("""zb = f32[14,13] broadcast(z), dimensions={}
      p = pred[14,13] compare(x, zb), direction=GT
      n = f32[14,13] negate(x)  y = f32[14,13] select(p, x, n)""")
    assert "CCG_GUARDED" not in text


def test_what_is_read_on_a_condition_is() -> None:
    text = sums("""w = f32[14,6] parameter(1)  y = f32[14,13] pad(w, z), padding=0_0x1_1_1""")
    assert "CCG_GUARDED" in text


def test_what_may_be_read_in_any_case_is_not_guarded() -> None:
    text = sums("""p = pred[14,13] parameter(1)  w = f32[14,13] parameter(2)
      y = f32[14,13] select(p, x, w)""")
    assert "CCG_GUARDED" not in text


def in_loop(value: Expr, extent: int, kind: LoopKind = LoopKind.VECTOR) -> str:
    """The C of a loop over i that stores a value."""
    body: tuple[Stmt, ...] = (Store(Buffer("y", F16, (1000,), Space.ARGUMENT), (I,), value),)
    printer = StatementPrinter(Names(), set(), set(), set())
    return "\n".join(printer.block((For(I, extent, body, kind),)))


def test_a_single_f16_is_converted_by_an_instruction() -> None:
    x = Buffer("x", F16, (1000,), Space.ARGUMENT)
    j = Var("j", INDEX)

    def doubled(place: Expr) -> Expr:
        return apply("add", Load(x, (place,)), Load(x, (place,)))

    far = apply("multiply", I, index(9))
    near = apply("multiply", I, index(2))
    called = apply("exponential", doubled(far))
    for value, extent, kind, alone in (
        (doubled(I), 100, LoopKind.VECTOR, False),
        (doubled(I), 8, LoopKind.LANES, False),
        (doubled(near), 100, LoopKind.VECTOR, False),
        (called, 100, LoopKind.VECTOR, False),
        (doubled(j), 100, LoopKind.VECTOR, False),
        (doubled(I), 7, LoopKind.VECTOR, True),
        (doubled(far), 100, LoopKind.VECTOR, True),
        (doubled(I), 100, LoopKind.SERIAL, True),
    ):
        text = in_loop(value, extent, kind)
        assert ("ccg_one_f16_from_f32(" in text) == alone
        assert ("ccg_one_f32_from_f16(" in text) == alone
        assert ("ccg_f16_from_f32(" in text) != alone


def test_turns_that_read_by_themselves_are_guarded() -> None:
    x = Buffer("x", F16, (1000,), Space.ARGUMENT)
    for kind in (LoopKind.SINGLE, LoopKind.VECTOR):
        text = in_loop(Load(x, (I,)), 100, kind)
        assert ("CCG_GUARDED(uint16_t, x[i])" in text) == (kind is LoopKind.SINGLE)
        assert ("CCG_SIMD" in text) != (kind is LoopKind.SINGLE)


def test_a_loop_of_few_turns_is_said_to_be_short() -> None:
    x = Buffer("x", F16, (1000,), Space.ARGUMENT)
    for extent, is_short in ((3, False), (4, True), (7, False), (64, True), (65, False)):
        assert ("CCG_SHORT" in in_loop(Load(x, (I,)), extent)) == is_short


def test_loops_over_sums_that_registers_keep_are_not() -> None:
    x = Buffer("x", ElementType.F32, (1000,), Space.ARGUMENT)
    sums = Buffer("sums", ElementType.F32, (32,), Space.LOCAL)
    total = Store(sums, (I,), apply("add", Load(sums, (I,)), Load(x, (I,))))
    adding = For(I, 32, (total,), LoopKind.VECTOR)
    for loop, is_short in ((adding, True), (For(Var("r", INDEX), 9, (adding,)), False)):
        lines = StatementPrinter(Names(), set(), set(), set()).block((Alloc(sums), loop))
        assert any("CCG_SHORT" in line for line in lines) == is_short
