"""Checks a kernel: names, scopes, types, and accesses that are out of bounds for certain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ccodegen.loop.conditions import FALSE, PRED, TRUE, assume
from ccodegen.loop.ir import (
    INDEX,
    Alloc,
    Apply,
    Buffer,
    CallC,
    Expr,
    For,
    If,
    Index,
    Kernel,
    Let,
    Load,
    Space,
    Stmt,
    Store,
    Var,
)
from ccodegen.loop.operators import check
from ccodegen.loop.ranges import Interval, Ranges, interval
from ccodegen.loop.simplify import simplify
from ccodegen.support.errors import InternalError
from ccodegen.support.immutable import immutable


def verify_kernel(kernel: Kernel) -> None:
    """Raises InternalError, which names the kernel, unless it is well-formed."""
    checker = _Checker(kernel)
    checker.require(len(set(kernel.buffers)) == len(kernel.buffers), "has a buffer twice")
    for buffer in kernel.buffers:
        outside = buffer.space is not Space.LOCAL
        checker.require(outside, f"has the local {buffer.name} as parameter")
        checker.declare(buffer.name)
    checker.block(kernel.body, _Scope(frozenset(), frozenset(kernel.buffers), {}))


@immutable
class _Scope:
    """The names in scope, and what is known of them. `live`: whether it may run at all."""

    variables: frozenset[Var]
    buffers: frozenset[Buffer]
    ranges: Ranges
    live: bool = True

    def with_var(self, var: Var, reach: int | Interval) -> _Scope:
        ranges = {**self.ranges, var: reach}
        live = self.live and reach != 0
        return replace(self, variables=self.variables | {var}, ranges=ranges, live=live)

    def with_buffer(self, buffer: Buffer) -> _Scope:
        return replace(self, buffers=self.buffers | {buffer})

    def where(self, condition: Expr, truth: bool) -> _Scope:
        simple = simplify(condition, self.ranges)
        ranges = assume(simple, truth, self.ranges)
        possible = simple != (FALSE if truth else TRUE) and not any(
            isinstance(r, Interval) and r.is_empty for r in ranges.values()
        )
        return replace(self, ranges=ranges, live=self.live and possible)


class _Checker:
    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._names: set[str] = set()

    def require(self, condition: bool, message: str) -> None:
        if not condition:
            raise InternalError(f"kernel {self._kernel.name} {message}")

    def declare(self, name: str) -> None:
        self.require(name not in self._names, f"declares {name} twice")
        self._names.add(name)

    def block(self, body: Sequence[Stmt], scope: _Scope) -> _Scope:
        """Checks statements; returns the scope behind the last one."""
        for statement in body:
            scope = self._statement(statement, scope)
        return scope

    def _statement(self, statement: Stmt, scope: _Scope) -> _Scope:
        match statement:
            case For():
                self._loop(statement, scope)
            case If(condition, then, orelse):
                self._typed(condition, PRED, scope)
                self.block(then, scope.where(condition, True))
                self.block(orelse, scope.where(condition, False))
            case Let(var, value):
                return self._let(var, value, scope)
            case Alloc(buffer):
                return self._alloc(buffer, scope)
            case Store(buffer, indices, value):
                self._access(buffer, indices, scope)
                self._typed(value, buffer.type, scope)
            case CallC():
                self._call(statement, scope)
        return scope

    def _loop(self, loop: For, scope: _Scope) -> None:
        self.declare(loop.var.name)
        self.require(loop.var.type is INDEX, f"counts {loop.var.name} in {loop.var.type!r}")
        if isinstance(loop.extent, int):
            self.require(loop.extent >= 0, f"loops over {loop.var.name} {loop.extent} times")
            self.block(loop.body, scope.with_var(loop.var, loop.extent))
            return
        self._typed(loop.extent, INDEX, scope)
        last = interval(loop.extent, scope.ranges).high - 1
        self.block(loop.body, scope.with_var(loop.var, Interval(0, last)))

    def _let(self, var: Var, value: Expr, scope: _Scope) -> _Scope:
        self.declare(var.name)
        self._typed(value, var.type, scope)
        return scope.with_var(var, interval(value, scope.ranges))

    def _alloc(self, buffer: Buffer, scope: _Scope) -> _Scope:
        self.declare(buffer.name)
        self.require(buffer.space is Space.LOCAL, f"declares {buffer.name}, which is not local")
        return scope.with_buffer(buffer)

    def _call(self, call: CallC, scope: _Scope) -> None:
        for buffer in call.buffers:
            self._in_scope(buffer, scope)
        valid = all(0 <= number < len(call.buffers) for number in call.writes)
        self.require(valid, f"has a call of {call.function} that writes a buffer it has not")
        for scalar in call.scalars:
            self._expr(scalar, scope)

    def _in_scope(self, buffer: Buffer, scope: _Scope) -> None:
        self.require(buffer in scope.buffers, f"uses {buffer.name} where it is not in scope")

    def _access(self, buffer: Buffer, indices: Index, scope: _Scope) -> None:
        self._in_scope(buffer, scope)
        rank = len(buffer.dimensions)
        self.require(len(indices) == rank, f"has {len(indices)} indices for {buffer.name}")
        for index, extent in zip(indices, buffer.dimensions, strict=True):
            self._typed(index, INDEX, scope)
            reach = interval(index, scope.ranges)
            outside = scope.live and (reach.high < 0 or reach.low >= extent)
            where = f"{reach.low} … {reach.high}"
            self.require(not outside, f"has index {where} of {buffer.name}, not below {extent}")

    def _typed(self, expr: Expr, expected: object, scope: _Scope) -> None:
        self.require(expr.type is expected, f"has a {expr.type!r} where {expected!r} is needed")
        self._expr(expr, scope)

    def _expr(self, expr: Expr, scope: _Scope) -> None:
        match expr:
            case Var():
                self.require(expr in scope.variables, f"uses {expr.name} where it is not bound")
            case Load(buffer, indices):
                self._access(buffer, indices, scope)
            case Apply():
                self._apply(expr, scope)

    def _apply(self, expr: Apply, scope: _Scope) -> None:
        types = [a.type for a in expr.arguments]
        problem = check(expr.operator, types, expr.type)
        self.require(not problem, f"applies {expr.operator}: {problem}")
        first, *rest = expr.arguments
        self._expr(first, scope)
        if expr.operator == "select":
            self._expr(rest[0], scope.where(first, True))
            self._expr(rest[1], scope.where(first, False))
        elif expr.operator in ("and", "or") and expr.type is PRED:
            self._expr(rest[0], scope.where(first, expr.operator == "and"))
        else:
            for argument in rest:
                self._expr(argument, scope)
