"""Prints loop programs and kernels."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence

from ccodegen.loop.ir import (
    INDEX,
    Alloc,
    Apply,
    Argument,
    Buffer,
    BufferLife,
    CallC,
    CallHook,
    CallKernel,
    Const,
    Expr,
    For,
    If,
    Kernel,
    Let,
    Load,
    LoopKind,
    Note,
    Program,
    Space,
    Step,
    Stmt,
    Store,
    Switch,
    Var,
    While,
)
from ccodegen.loop.literals import array_text, value_text
from ccodegen.loop.steps import used_buffers
from ccodegen.loop.text.lexer import NAME
from ccodegen.loop.text.symbols import BINDING, RESERVED, SYMBOLS, is_infix, usual_type


def to_text(item: Program | Kernel) -> str:
    """The text of a program or of one kernel, ending in a newline."""
    lines = _kernel(item) if isinstance(item, Kernel) else _program(item)
    return "\n".join(lines) + "\n"


class _Labels:
    """Distinct names for buffers of one name."""

    def __init__(self) -> None:
        self._labels: dict[Buffer, str] = {}
        self._counts: dict[str, int] = {}

    def __contains__(self, buffer: Buffer) -> bool:
        return buffer in self._labels

    def __getitem__(self, buffer: Buffer) -> str:
        if buffer not in self._labels:
            count = self._counts[buffer.name] = self._counts.get(buffer.name, 0) + 1
            suffix = f"#{count}" if count > 1 else ""
            self._labels[buffer] = _name(buffer.name) + suffix
        return self._labels[buffer]


def _name(name: str) -> str:
    """A name as it is, or in quotes."""
    plain = re.fullmatch(NAME, name) and "#" not in name and name not in RESERVED
    return name if plain else json.dumps(name)


def _origin(text: str) -> str:
    return f" {json.dumps(text)}" if text else ""


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)


def _block(head: str, *parts: Iterable[str], tail: str = "}") -> list[str]:
    """Lines in braces."""
    inner = [line for part in parts for line in _indented(part)]
    return [f"{head} {{", *inner, tail]


def _kernel(kernel: Kernel) -> list[str]:
    labels = _Labels()
    parameters = ", ".join(
        f"{labels[b]}: {b.shape} {_space(b)}" for b in kernel.buffers
    )
    head = f"kernel {_name(kernel.name)}({parameters}){_origin(kernel.origin)}"
    return _block(head, _KernelPrinter(labels).body(kernel.body))


def _space(buffer: Buffer) -> str:
    suffix = f"@{buffer.offset}" if buffer.space is Space.ARENA else ""
    return buffer.space.name.lower() + suffix


class _KernelPrinter:
    def __init__(self, labels: _Labels) -> None:
        self._labels = labels

    def body(self, body: Sequence[Stmt]) -> Iterator[str]:
        for statement in body:
            yield from self._statement(statement)

    def _statement(self, statement: Stmt) -> Iterable[str]:
        match statement:
            case For():
                return self._loop(statement)
            case If(condition, then, orelse):
                return self._branch(self.expr(condition), then, orelse)
            case Let(var, value):
                return [f"let {_name(var.name)}: {var.type.text} = {self.expr(value)}"]
            case Alloc(buffer):
                return [f"local {self._labels[buffer]}: {buffer.shape}"]
            case Store(buffer, indices, value):
                return [f"{self._element(buffer, indices)} = {self.expr(value)}"]
            case CallC():
                return [self._call(statement)]
            case Note(text):
                return ["# " + text.replace("\\", "\\\\").replace("\n", "\\n")]
        raise AssertionError(statement)

    def _loop(self, loop: For) -> list[str]:
        extent = str(loop.extent) if isinstance(loop.extent, int) else self.expr(loop.extent)
        if isinstance(loop.extent, Const):
            extent = f"({extent})"  # an expression, which a bare number would not be
        kind = "" if loop.kind is LoopKind.SERIAL else f" {loop.kind.name.lower()}"
        return _block(f"for {_name(loop.var.name)} < {extent}{kind}", self.body(loop.body))

    def _branch(
        self, condition: str, then: Sequence[Stmt], orelse: Sequence[Stmt]
    ) -> list[str]:
        lines = _block(f"if {condition}", self.body(then))
        if not orelse:
            return lines
        return [*lines[:-1], *_block("} else", self.body(orelse))]

    def _call(self, call: CallC) -> str:
        buffers = ", ".join(self._labels[b] for b in call.buffers)
        scalars = "".join(f", {self.expr(s)}" for s in call.scalars)
        writes = ", ".join(map(str, call.writes))
        function = f"{_name(call.function)} from {json.dumps(call.header)}"
        return f"call {function} ({buffers};{scalars[1:]}) writes ({writes})"

    def _element(self, buffer: Buffer, indices: Sequence[Expr]) -> str:
        return f"{self._labels[buffer]}[{', '.join(map(self.expr, indices))}]"

    def expr(self, expr: Expr, binds: int = 0) -> str:
        """The expression, in parentheses if its operator binds less tightly than `binds`."""
        match expr:
            case Const(element_type, value):
                text = value_text(element_type, value)
                bare = element_type is INDEX or text in ("true", "false")
                return text if bare else f"{text}:{element_type.text}"
            case Var(name):
                return _name(name)
            case Load(buffer, indices):
                return self._element(buffer, indices)
        if is_infix(expr):
            return self._infix(expr, binds)
        arguments = ", ".join(map(self.expr, expr.arguments))
        usual = expr.type is usual_type(expr.operator, expr.arguments)
        return f"{expr.operator}{'' if usual else f':{expr.type.text}'}({arguments})"

    def _infix(self, expr: Apply, binds: int) -> str:
        symbol = SYMBOLS[expr.operator]
        level = BINDING[symbol]
        a, b = expr.arguments
        text = f"{self.expr(a, level)} {symbol} {self.expr(b, level + 1)}"
        return f"({text})" if level < binds else text


def _program(program: Program) -> list[str]:
    labels = _Labels()
    lines = [f"program {_name(program.name)}{_origin(program.signature)}"]
    lines += [f"arena {program.arena_size} align {program.alignment}", ""]
    lines += [_argument(a, labels) for a in program.arguments]
    for constant in program.constants:
        buffer = constant.buffer
        data = array_text(constant.array, buffer.type)
        lines.append(f"constant {labels[buffer]}: {buffer.shape} = {data}")
    lives: dict[Buffer, str] = {}
    for life in program.arena_buffers:
        lives[life.buffer] = lives.get(life.buffer, "") + _life(life)
    lines += [_scratch(buffer, labels) + text for buffer, text in lives.items()]
    lines += [_scratch(b, labels) for b in used_buffers(program.steps) if b not in labels]
    for kernel in program.kernels:
        lines += ["", *_kernel(kernel)]
    return [*lines, "", *_block("steps", _steps(program.steps, labels))]


def _argument(argument: Argument, labels: _Labels) -> str:
    numbers = ("parameter", argument.parameter), ("output", argument.output)
    roles = "".join(f" {word} {number}" for word, number in numbers if number is not None)
    buffer = argument.buffer
    logical = f" as {json.dumps(argument.logical)}" if argument.logical else ""
    logical += f" initial {' '.join(map(str, argument.initial))}" if argument.initial else ""
    logical += f" size {' '.join(map(str, argument.size_of))}" if argument.size_of else ""
    name = json.dumps(argument.name)
    return f"argument {labels[buffer]}: {buffer.shape}{roles} {name}{logical}"


def _scratch(buffer: Buffer, labels: _Labels) -> str:
    return f"scratch {labels[buffer]}: {buffer.shape} @{buffer.offset}"


def _life(life: BufferLife) -> str:
    return f" life {life.first} to {life.last}{_origin(life.origin)}"


def _steps(steps: Sequence[Step], labels: _Labels) -> Iterator[str]:
    for step in steps:
        yield from _step(step, labels)


def _step(step: Step, labels: _Labels) -> list[str]:
    match step:
        case CallKernel(kernel, buffers, origin):
            names = ", ".join(labels[b] for b in buffers)
            return [f"call {_name(kernel.name)}({names}){_origin(origin)}"]
        case CallHook():
            return [_hook(step, labels)]
        case While(condition, predicate, body, origin):
            parts = [("condition", condition), ("body", body)]
            head = f"while {labels[predicate]}{_origin(origin)}"
        case Switch(selector, branches, origin):
            parts = [("branch", branch) for branch in branches]
            head = f"switch {labels[selector]}{_origin(origin)}"
    return _block(head, *(_block(word, _steps(part, labels)) for word, part in parts))


def _hook(call: CallHook, labels: _Labels) -> str:
    """`hook call "target" "config" channel 0 (b0: f32[2,3]) writes (b1) "origin"`."""
    request = call.request
    what = f"{request.hook.value} {json.dumps(request.text)} {json.dumps(request.config)}"
    reads = ", ".join(f"{labels[h.buffer]}: {h.shape}" for h in call.reads)
    arrays = f"({reads}) writes ({', '.join(labels[b] for b in call.writes)})"
    return f"hook {what} channel {request.channel} {arrays}{_origin(call.origin)}"
