"""Random kernels: loops, branches, names, locals, over a few buffers, all accesses in bounds."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ccodegen.loop.builder import Builder, apply, const, index
from ccodegen.loop.ir import Buffer, Expr, Kernel, LoopKind, Space
from ccodegen.support.element_type import ElementType

F32, S32, PRED = ElementType.F32, ElementType.S32, ElementType.PRED

_BINARY = ("add", "subtract", "multiply", "maximum")


@st.composite
def kernels(draw: Any) -> Kernel:
    """Kernels over x f32[4,6] and n s32[6], which they read, and out f32[4,6], which they write."""
    x = Buffer("x", F32, (4, 6), Space.ARGUMENT)
    n = Buffer("n", S32, (6,), Space.CONSTANT)
    out = Buffer("out", F32, (4, 6), Space.ARENA, 64)
    maker = _Maker(draw, x, n, out)
    maker.body(3)
    return Kernel("random", (x, n, out), maker.builder.statements, "all \"sorts\" of things")


class _Maker:
    def __init__(self, draw: Any, x: Buffer, n: Buffer, out: Buffer) -> None:
        self.draw = draw
        self.builder = Builder()
        self._x, self._n, self._out = x, n, out
        self._indices: list[Expr] = [index(1)]
        self._values: list[Expr] = [const(F32, 0.5)]

    def body(self, depth: int) -> None:
        for _ in range(self.draw(st.integers(1, 3))):
            self._statement(depth)

    def _statement(self, depth: int) -> None:
        kinds = ["store", "let", "accumulate", *(["loop", "loop", "if"] if depth else [])]
        kind = self.draw(st.sampled_from(kinds))
        if kind == "store":
            self.builder.store(self._out, (self._index(4), self._index(6)), self._value(2))
        elif kind == "let":
            self._values.append(self.builder.let(self._value(2), "named"))
        elif kind == "accumulate":
            self._accumulate()
        else:
            self._nested(kind, depth)

    def _nested(self, kind: str, depth: int) -> None:
        indices, values = list(self._indices), list(self._values)
        if kind == "loop":
            extent = self.draw(st.sampled_from([0, 1, 3, 6]))
            with self.builder.loop(extent, kind=self.draw(st.sampled_from(LoopKind))) as i:
                self._indices.append(i)
                self.body(depth - 1)
        else:
            with self.builder.when(self._condition()):
                self.builder.note("a \\ note\nof two lines")
                self.body(depth - 1)
            self._indices, self._values = list(indices), list(values)
            with self.builder.otherwise():
                self.body(depth - 1)
        self._indices, self._values = indices, values

    def _accumulate(self) -> None:
        total = self.builder.variable(self._value(1), "total")
        with self.builder.loop(4) as i:
            more = self.builder.load(self._x, (i, self._index(6)))
            self.builder.store(total, (), apply("add", self.builder.load(total), more))
        self._values.append(self.builder.let(self.builder.load(total)))

    def _index(self, extent: int) -> Expr:
        a, b = (self.draw(st.sampled_from(self._indices)) for _ in range(2))
        scaled = apply("multiply", a, index(self.draw(st.integers(1, 3))))
        total = apply("add", scaled, b)
        kind = self.draw(st.sampled_from(["remainder", "minimum", "clamp", "loaded"]))
        if kind == "remainder":
            return apply("remainder", apply("divide", total, index(2)), index(extent))
        if kind == "minimum":
            return apply("minimum", total, index(extent - 1))
        if kind == "loaded":
            given = self.builder.load(self._n, (apply("minimum", a, index(5)),))
            total = apply("convert", given, type=ElementType.INDEX)
        bounded = apply("maximum", index(0), total)
        return apply("minimum", bounded, index(extent - 1))

    def _condition(self) -> Expr:
        a, b = (self.draw(st.sampled_from(self._indices)) for _ in range(2))
        direction = self.draw(st.sampled_from(["lt", "ge", "eq", "ne"]))
        first = apply(f"compare-{direction}", apply("add", a, index(1)), b, type=PRED)
        if not self.draw(st.booleans()):
            return first
        second = apply("compare-lt", self._value(0), self._value(1), type=PRED)
        return apply(self.draw(st.sampled_from(["and", "or"])), first, second)

    def _value(self, depth: int) -> Expr:
        kinds = ["leaf", "leaf", "binary", "select"] if depth else ["leaf"]
        kind = self.draw(st.sampled_from(kinds))
        if kind == "binary":
            operator = self.draw(st.sampled_from(_BINARY))
            return apply(operator, self._value(depth - 1), self._value(depth - 1))
        if kind == "select":
            arms = self._value(depth - 1), self._value(depth - 1)
            return apply("select", self._condition(), *arms)
        leaf = self.draw(st.integers(0, 2))
        if leaf == 0:
            return self.builder.load(self._x, (self._index(4), self._index(6)))
        if leaf == 1:
            return self.draw(st.sampled_from(self._values))
        return const(F32, self.draw(st.sampled_from([0.0, -0.0, 1.5, float("inf"), -1e-45])))
