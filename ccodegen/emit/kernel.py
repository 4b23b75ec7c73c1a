"""Prints a kernel as a C function over pointers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ccodegen.emit.lines import fitted, indented
from ccodegen.emit.names import Names, comment
from ccodegen.emit.statement import StatementPrinter
from ccodegen.emit.types import memory_type
from ccodegen.loop.ir import (
    Apply,
    Buffer,
    CallC,
    Expr,
    For,
    If,
    Kernel,
    Let,
    Load,
    Stmt,
    Store,
    Var,
)
from ccodegen.loop.rebuild import expressions, statements, used_buffers


@dataclass(frozen=True)
class KernelText:
    """A printed kernel. `prototype` is without storage class and semicolon."""

    name: str
    comment: tuple[str, ...]
    prototype: tuple[str, ...]
    body: tuple[str, ...]
    headers: frozenset[str]

    def lines(self, storage: str = "") -> list[str]:
        """The function's definition; `storage`: "static" or nothing."""
        head = list(self.prototype)
        head[0] = f"{storage} {head[0]}".lstrip()
        return [*self.comment, *head, "{", *self.body, "}"]


def print_kernel(kernel: Kernel, name: str, taken: Iterable[str]) -> KernelText:
    """The function of that name. `taken`: names of the file that nothing inside may hide."""
    headers: set[str] = set()
    printer = StatementPrinter(Names(taken), headers, _used_variables(kernel.body))
    parameters = _parameters(kernel, printer)
    used = used_buffers(kernel.body)
    lines = [f"(void){printer.name(b)};" for b in kernel.buffers if b not in used]
    lines += printer.block(kernel.body)
    return KernelText(
        name,
        tuple(comment(kernel.origin)) if kernel.origin else (),
        tuple(fitted([f"void {name}({', '.join(parameters) or 'void'})"])),
        tuple(fitted(indented(lines))),
        frozenset(headers | {"ccg_base.h"}),
    )


def written_buffers(body: Iterable[Stmt]) -> set[Buffer]:
    """The buffers that statements store into, or that functions they call write."""
    found: set[Buffer] = set()
    for statement in statements(tuple(body)):
        if isinstance(statement, Store):
            found.add(statement.buffer)
        elif isinstance(statement, CallC):
            found.update(statement.buffers[i] for i in statement.writes)
    return found


def _parameters(kernel: Kernel, printer: StatementPrinter) -> list[str]:
    written = written_buffers(kernel.body)
    return [
        f"{'' if buffer in written else 'const '}{memory_type(buffer.type)} "
        f"*CCG_RESTRICT {printer.name(buffer)}"
        for buffer in kernel.buffers
    ]


def _used_variables(body: tuple[Stmt, ...]) -> set[Var]:
    """The variables whose value is needed: compilers warn of others."""
    used: set[Var] = set()
    for statement in reversed(list(statements(body))):
        if not isinstance(statement, Let) or statement.var in used:
            used.update(_variables(_own_expressions(statement)))
    return used


def _own_expressions(statement: Stmt) -> list[Expr]:
    match statement:
        case For(_, extent, _, _):
            return [] if isinstance(extent, int) else [extent]
        case If(condition, _, _):
            return [condition]
    return list(expressions((statement,)))


def _variables(pending: list[Expr]) -> Iterator[Var]:
    while pending:
        match pending.pop():
            case Var() as var:
                yield var
            case Load(_, indices):
                pending += indices
            case Apply(_, arguments, _):
                pending += arguments
