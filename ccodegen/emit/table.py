"""Prints a program for loading at once: one entry function over a table of pointers, and, where the
program asks for no hooks, one that Python calls (see runtime_c/ccg_python.h).

The table has the arguments in order, then the large constants, then the arena, then the hooks (a
`const ccg_io *`), where the program asks for any. Kernels are spread over translation units, which
compile side by side; those with little work stand apart, because they need no optimising, and so
does what Python calls.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ccodegen.emit import hooks
from ccodegen.emit.constants import ConstantText
from ccodegen.emit.lines import fitted, indented
from ccodegen.emit.names import check_prefix
from ccodegen.emit.program import ProgramPrinter
from ccodegen.emit.render import render
from ccodegen.emit.runtime import is_made
from ccodegen.emit.steps import repeated_kernels
from ccodegen.emit.types import memory_type
from ccodegen.loop.ir import CallC, ConstantData, For, If, Kernel, Program, Space, Stmt
from ccodegen.loop.steps import used_buffers
from ccodegen.target import Target

LARGE_CONSTANT = 256  # bytes from which a constant is a pointer instead of text
_UNITS = 4  # that kernels are spread over, about, unless they would be too small
_LEAST_LINES = 100  # of a unit: a compiler takes 0.1 s for them, five times what headers take
_CALLED_LINES = 40  # of the runtime, that a kernel calls
_PYTHON = '#include "ccg_python.h"\n'
_LITTLE_WORK = 2000  # element computations: about a microsecond, optimised or not


@dataclass(frozen=True)
class Unit:
    """One translation unit. `hot`: worth optimising."""

    name: str
    text: str
    hot: bool


@dataclass(frozen=True)
class TableSources:
    """`external`: the constants that the caller puts into the table, in that order."""

    units: tuple[Unit, ...]
    external: tuple[ConstantData, ...]


@dataclass(frozen=True)
class _Options:
    """`single`: no other unit has kernels. `entry`: this one has the entry function. `pool`: how
    many threads its pool has; 0: it has none."""

    strict: bool
    single: bool
    entry: bool
    pool: int


@dataclass(frozen=True)
class _UnitView:
    strict: bool
    headers: tuple[str, ...]
    constants: tuple[ConstantText, ...]
    prototypes: tuple[str, ...]
    kernels: tuple[str, ...]
    entry: str
    pool: int


def emit_table(
    program: Program,
    target: Target,
    strict: bool = False,
    large_constant: int = LARGE_CONSTANT,
) -> TableSources:
    """The program as translation units with `int ccg_call(void *const *table)` in the first one,
    and `ccg_python_call`, if there is one, in the last.

    The target's threads share the large loops of a call, in a pool of the program's own.
    """
    threads = target.machine.threads
    external = tuple(c for c in program.constants if c.buffer.bytes >= large_constant)
    buffers = {constant.buffer for constant in external}
    prefix = check_prefix("jit")
    alignment = target.abi.weight_alignment
    printer = ProgramPrinter(program, prefix, alignment, buffers, threads=threads > 1)
    pool = threads if printer.shared else 0
    groups = _groups(program, printer)
    units = []
    for number, (kernels, hot) in enumerate(groups):
        options = _Options(strict, len(groups) == 1, number == 0, pool)
        text = render("table.c.j2", _unit(printer, kernels, options))
        units.append(Unit(f"unit{number}.c", text, hot))
    if not printer.hooks:
        units.append(Unit("python.c", _PYTHON, hot=False))
    return TableSources(tuple(units), external)


def work(body: Sequence[Stmt]) -> float:
    """How often the innermost statements run; infinite where only the running program knows, and
    for functions that are made to be fast."""
    return sum(map(_statement_work, body))


def _statement_work(statement: Stmt) -> float:
    match statement:
        case For(_, int() as extent, body, _):
            return extent * work(body)
        case For():
            return math.inf
        case If(_, then, orelse):
            return max(work(then), work(orelse))
        case CallC(_, header) if is_made(header):
            return math.inf
    return 1


def _groups(program: Program, printer: ProgramPrinter) -> list[tuple[list[Kernel], bool]]:
    """The kernels of each unit, and whether it is hot. There is at least one unit."""
    repeated = set(repeated_kernels(program.steps))
    hot = [k for k in printer.kernels if k in repeated or work(k.body) > _LITTLE_WORK]
    little = [k for k in printer.kernels if k not in set(hot)]
    lines = {kernel: len(text.body) + _CALLED_LINES for kernel, text in printer.kernels.items()}
    most = max(_LEAST_LINES, sum(lines.values()) // _UNITS)
    groups = [(group, False) for group in _packed(little, lines, most)]
    groups += [(group, True) for group in _packed(hot, lines, most)]
    return groups or [([], False)]


def _packed(
    kernels: Sequence[Kernel], lines: Mapping[Kernel, int], most: int
) -> list[list[Kernel]]:
    """Runs of kernels with up to so many lines in all."""
    groups: list[list[Kernel]] = []
    room = 0
    for kernel in kernels:
        if room < lines[kernel]:
            groups.append([])
            room = most
        groups[-1].append(kernel)
        room -= lines[kernel]
    return groups


def _unit(printer: ProgramPrinter, kernels: list[Kernel], options: _Options) -> _UnitView:
    texts = [printer.kernels[kernel] for kernel in kernels]
    everywhere = printer.kernels.values()
    shared = () if options.single else (everywhere if options.entry else texts)
    pool = options.pool if options.entry else 0
    asks = options.entry and printer.hooks
    own = {"ccg_base.h", *(["ccg_pool.h"] if pool else []), *([hooks.HEADER] if asks else [])}
    return _UnitView(
        strict=options.strict,
        headers=tuple(sorted(own.union(*(text.headers for text in texts)))),
        constants=tuple(printer.constants.values()) if options.entry else (),
        prototypes=tuple("\n".join(fitted([f"{text.prototype};"])) for text in shared),
        kernels=tuple("\n".join(t.lines("static" if options.single else "")) for t in texts),
        entry=_entry(printer) if options.entry else "",
        pool=pool,
    )


def _entry(printer: ProgramPrinter) -> str:
    """The entry function's body: names for the table's pointers, then the steps."""
    program = printer.program
    inputs = [a.buffer for a in program.arguments if a.output is None]
    buffers = [argument.buffer for argument in program.arguments]
    external = [c.buffer for c in program.constants if c.buffer in printer.external]
    used = set(used_buffers(program.steps))
    lines = ["const ccg_threads *const threads = &ccg_shared_threads;"] if printer.shared else []
    for slot, buffer in enumerate([*buffers, *external]):
        if buffer in used:
            const = "const " if buffer in (*inputs, *external) else ""
            name = printer.buffer(buffer)
            lines.append(f"{const}{memory_type(buffer.type)} *const {name} = table[{slot}];")
    if any(buffer.space is Space.ARENA for buffer in used):
        slot = len(buffers) + len(external)
        lines.append(f"unsigned char *const base = table[{slot}];")
    if printer.hooks:
        lines.append(f"const ccg_io *const io = table[{len(buffers) + len(external) + 1}];")
    if not lines:
        lines.append("(void)table;")
    return "\n".join([*fitted(indented(lines)), *printer.steps("base")])
