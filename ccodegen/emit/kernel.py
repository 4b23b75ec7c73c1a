"""Prints a kernel as a C function over pointers."""

from __future__ import annotations

from ccodegen.emit.lines import fitted, indented
from ccodegen.emit.names import Names, comment
from ccodegen.emit.parallel import LOCAL_NAMES, ParallelPrinter, Part, PartText, parallel_loops
from ccodegen.emit.statement import StatementPrinter
from ccodegen.emit.types import memory_type
from ccodegen.emit.used import used_variables
from ccodegen.loop.ir import Buffer, Kernel
from ccodegen.loop.parts import applied
from ccodegen.loop.rebuild import expressions, used_buffers, written_buffers
from ccodegen.support.decisions import decided
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable
from ccodegen.support.naming import counted

_DOUBLES = (ElementType.F64, ElementType.C128)


@immutable
class KernelText:
    """A printed kernel. `prototype` is without storage class and semicolon. `parts`: loops it
    gives to threads; if there are any, its last parameter is `threads`. `apart`: those whose turns
    have their function in another unit."""

    name: str
    comment: tuple[str, ...]
    prototype: str
    body: tuple[str, ...]
    headers: frozenset[str]
    parts: tuple[PartText, ...] = ()
    apart: frozenset[PartText] = frozenset()

    def lines(self, storage: str = "") -> list[str]:
        """The function's definition; `storage`: "static" or nothing."""
        parts: list[str] = []
        for part in self.parts:
            turns = [] if part in self.apart else [*part.lines("CCG_APART static"), ""]
            parts += [*turns, *part.caller]
        head = fitted([f"{storage} {self.prototype}".lstrip()])
        return [*parts, *self.comment, *head, "{", *self.body, "}"]


def print_kernel(kernel: Kernel, name: str, files: Names, threads: bool = False) -> KernelText:
    """The function of that name. `files`: the names of the file; nothing inside hides one.
    `threads`: the caller's share its large loops."""
    headers: set[str] = set()
    parts = _parts(kernel, name, files) if threads else {}
    names = Names([*files.taken, *(LOCAL_NAMES if parts else ())])
    used, written = used_variables(kernel.body), written_buffers(kernel.body)
    printer = ParallelPrinter(names, headers, used, written, parts, kernel.buffers)
    parameters = [_parameter(b, printer, b in written) for b in kernel.buffers]
    parameters += ["const ccg_threads *threads"] if parts else []
    mentioned = used_buffers(kernel.body)
    lines = [f"(void){printer.name(b)};" for b in kernel.buffers if b not in mentioned]
    lines += printer.block(kernel.body)
    types = {b.type for b in mentioned} | {e.type for e in applied(*expressions(kernel.body))}
    if not types.isdisjoint(_DOUBLES):
        headers.add("ccg_double.h")
    return KernelText(
        name,
        tuple(comment(kernel.origin)) if kernel.origin else (),
        f"void {name}({', '.join(parameters) or 'void'})",
        tuple(fitted(indented(lines))),
        frozenset(headers | {"ccg_base.h"}),
        tuple(printer.printed),
    )


def _parts(kernel: Kernel, name: str, files: Names) -> dict[int, Part]:
    """The loops that threads may share, by identity, with names at file scope."""
    loops = list(parallel_loops(kernel.body))
    shared = counted(len(loops), "loop") if loops else "nothing"
    decided(name, f"{shared} shared among threads", "with much work and independent turns")
    parts: dict[int, Part] = {}
    for together in loops:
        names = (files.fresh(f"{name}_{of}") for of in ("part", "context", "turns"))
        part = Part(together, *names)
        parts |= {id(loop): part for loop in together}
    return parts


def _parameter(buffer: Buffer, printer: StatementPrinter, is_written: bool) -> str:
    const = "" if is_written else "const "
    return f"{const}{memory_type(buffer.type)} *CCG_RESTRICT {printer.name(buffer)}"
