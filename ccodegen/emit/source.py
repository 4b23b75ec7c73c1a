"""Prints a program as the files of a C library: header, source, weights."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ccodegen.emit import hooks
from ccodegen.emit.constants import ConstantText
from ccodegen.emit.lines import fitted, indented
from ccodegen.emit.names import check_prefix, comment, harmless
from ccodegen.emit.parallel import HEADER as THREADS_HEADER
from ccodegen.emit.program import ProgramPrinter
from ccodegen.emit.render import render
from ccodegen.emit.types import memory_type
from ccodegen.emit.weights import WeightsBlock, pack
from ccodegen.loop.ir import Argument, Program, Space
from ccodegen.loop.steps import used_buffers
from ccodegen.support.immutable import immutable
from ccodegen.support.version import VERSION
from ccodegen.target import Target

MOST_PARAMETERS = 8


@immutable
class Sources:
    """`files`: text by path in the package. `runtime`: the files of runtime_c they include.
    `weights`: the constants, where they are no part of the files but a pointer. `threads`: the
    entry function has a parameter for them. `hooks`: so it has for these members of ccg_io."""

    files: Mapping[str, str]
    runtime: tuple[str, ...]
    weights: WeightsBlock | None = None
    threads: bool = False
    hooks: tuple[str, ...] = ()


@immutable
class _WeightRow:
    """A constant in the block: its name, type and dimensions, and where it begins."""

    name: str
    shape: str
    offset: int


@immutable
class _HeaderView:
    banner: str
    prefix: str
    upper: str
    version: str
    interface: str
    arena_size: int
    arena_align: int
    weights: tuple[_WeightRow, ...]
    weights_size: int
    weights_align: int
    members: tuple[str, ...]
    prototype: str
    threads: bool
    hooks: tuple[str, ...]


@immutable
class _SourceView:
    banner: str
    prefix: str
    upper: str
    interface: str
    strict: bool
    headers: tuple[str, ...]
    weights: bool
    kernels: tuple[str, ...]
    prototype: str
    body: str


@immutable
class _WeightsView:
    prefix: str
    upper: str
    version: str
    constants: tuple[ConstantText, ...]


def emit(
    program: Program,
    target: Target,
    prefix: str,
    strict: bool = False,
    input_hash: str = "",
    weights_apart: bool = False,
    threads: bool = False,
) -> Sources:
    """The program as include/PREFIX.h, src/PREFIX.c and, if it has constants, src/PREFIX_weights.*.

    `input_hash`: of what the program was made from, for the banner. `weights_apart`: the constants
    are no C but one block of bytes, which PREFIX_run takes a pointer to. `threads`: PREFIX_run
    takes a pointer to ccg_threads, which may share its large loops. Raises InputError for a prefix
    that is no C identifier.
    """
    block = pack(program, target.abi) if weights_apart else None
    external = {buffer for buffer, _ in block.offsets} if block else frozenset()
    alignment = target.abi.weight_alignment
    printer = ProgramPrinter(program, check_prefix(prefix), alignment, external, threads=threads)
    interface = _interface(program, input_hash, _prototype(printer, block))
    header = _header(printer, interface, input_hash, block)
    files = {
        f"include/{prefix}.h": render("header.h.j2", header),
        f"src/{prefix}.c": render("source.c.j2", _source(printer, interface, strict, block)),
    }
    if printer.constants:
        constants = tuple(printer.constants.values())
        weights = _WeightsView(prefix, prefix.upper(), VERSION, constants)
        files[f"src/{prefix}_weights.h"] = render("weights.h.j2", weights)
        files[f"src/{prefix}_weights.c"] = render("weights.c.j2", weights)
    public = [*([THREADS_HEADER] if threads else []), *([hooks.HEADER] if printer.hooks else [])]
    runtime = tuple(sorted({*printer.headers, *public}))
    return Sources(MappingProxyType(files), runtime, block, threads, tuple(printer.hooks))


def _header(
    printer: ProgramPrinter, interface: str, input_hash: str, block: WeightsBlock | None
) -> _HeaderView:
    program, prefix = printer.program, printer.prefix
    packed = len(program.arguments) > MOST_PARAMETERS
    return _HeaderView(
        banner=_banner(printer, input_hash),
        prefix=prefix,
        upper=prefix.upper(),
        version=VERSION,
        interface=interface,
        arena_size=program.arena_size,
        arena_align=program.alignment,
        weights=_weight_rows(block),
        weights_size=len(block.data) if block else 0,
        weights_align=block.alignment if block else 0,
        members=tuple(_declarations(printer)) if packed else (),
        prototype=_prototype(printer, block),
        threads=printer.threads,
        hooks=tuple(printer.hooks),
    )


def _weight_rows(block: WeightsBlock | None) -> tuple[_WeightRow, ...]:
    if block is None:
        return ()
    return tuple(_WeightRow(harmless(b.name)[:60], b.shape, at) for b, at in block.offsets)


def _source(
    printer: ProgramPrinter, interface: str, strict: bool, block: WeightsBlock | None
) -> _SourceView:
    prefix = printer.prefix
    kernels = tuple("\n".join(kernel.lines("static")) for kernel in printer.kernels.values())
    return _SourceView(
        banner="\n".join(comment(f"{prefix}: see {prefix}.h. Generated by ccodegen {VERSION}.")),
        prefix=prefix,
        upper=prefix.upper(),
        interface=interface,
        strict=strict,
        headers=printer.headers,
        weights=bool(printer.constants),
        kernels=kernels,
        prototype=_prototype(printer, block),
        body="\n".join([*_checks(printer, block), *printer.steps("base")]),
    )


def _banner(printer: ProgramPrinter, input_hash: str) -> str:
    """The header's comment: signature, origin, and a line for each argument."""
    program = printer.program
    made = f" from input {input_hash[:16]}" if input_hash else ""
    lines = comment(program.signature or program.name)
    lines[-1] = lines[-1].removesuffix(" */")
    lines += ["", f"   Generated by ccodegen {VERSION}{harmless(made)}. Reentrant, no allocation,"]
    through = " but through io" if printer.hooks else ""
    lines += [f"   no I/O{through}. Arrays are dense and row-major, and none overlaps another.", ""]
    rows = [_argument_row(printer, argument) for argument in program.arguments]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        lines.append(f"   {'  '.join(cells)}".rstrip())
    return "\n".join([*lines[:-1], lines[-1] + " */"])


def _argument_row(printer: ProgramPrinter, argument: Argument) -> tuple[str, ...]:
    name, buffer = printer.argument(argument), argument.buffer
    path = "" if argument.name == name else f'"{harmless(argument.name)[:60]}"'
    if argument.initial:
        first = ", ".join(map(str, argument.initial))
        path = f"state: {{{first}}} before the first call, kept from call to call"
    if argument.size_of:
        path = _size_text(printer, argument)
    return name, argument.direction, buffer.shape, f"{buffer.bytes} bytes", path


def _size_text(printer: ProgramPrinter, argument: Argument) -> str:
    """What a size is the size of."""
    number, dimension = argument.size_of
    found = [
        a
        for a in printer.program.arguments
        if not a.size_of and number == (a.output if argument.parameter is None else a.parameter)
    ]
    clamped = "" if argument.parameter is None else "; clamped to 0 and what there is room for"
    name = printer.argument(found[0])
    return f"actual size of dimension {dimension} of {name}, whose strides stay{clamped}"


def _declarations(printer: ProgramPrinter) -> list[str]:
    return [f"{_pointed(a)} *{printer.argument(a)}" for a in printer.program.arguments]


def _pointed(argument: Argument) -> str:
    """The C type that an argument points to."""
    const = "const " if argument.output is None else ""
    return f"{const}{memory_type(argument.buffer.type)}"


def _prototype(printer: ProgramPrinter, block: WeightsBlock | None) -> str:
    parameters = _declarations(printer)
    if len(parameters) > MOST_PARAMETERS:
        parameters = [f"const struct {printer.prefix}_args *args"]
    weights = ["const void *weights"] if block else []
    parameters = [*weights, *parameters, "void *arena"]
    parameters += ["const ccg_threads *threads"] if printer.threads else []
    parameters += ["const ccg_io *io"] if printer.hooks else []
    text = f"int {printer.prefix}_run({', '.join(parameters)})"
    return "\n".join(fitted([text]))


def _checks(printer: ProgramPrinter, block: WeightsBlock | None) -> list[str]:
    """The entry function's first lines: members of the struct by name, null pointers, the arena."""
    program, upper = printer.program, printer.prefix.upper()
    lines: list[str] = []
    pointers = [printer.argument(a) for a in program.arguments if a.buffer.bytes]
    if len(program.arguments) > MOST_PARAMETERS:
        lines += _guard("args == NULL", f"{upper}_E_NULL")
        lines += [_unpacked(printer, argument) for argument in program.arguments]
    if program.arena_size:
        pointers.append("arena")
    # Buffers without elements have a place even in an arena of none.
    in_arena = any(b.space is Space.ARENA for b in used_buffers(program.steps))
    lines.append("unsigned char *const base = arena;" if in_arena else "(void)arena;")
    if printer.threads and not printer.shared:
        lines.append("(void)threads;")
    lines += _guard(" || ".join(f"{p} == NULL" for p in pointers), f"{upper}_E_NULL")
    if program.arena_size:
        lines += _guard(f"(uintptr_t)arena % {upper}_ARENA_ALIGN != 0", f"{upper}_E_ALIGN")
    if printer.hooks:
        tests = ["io == NULL", *(f"io->{member} == NULL" for member in printer.hooks)]
        lines += _guard(" || ".join(tests), f"{upper}_E_IO")
    if block:
        lines += _weight_pointers(printer, block)
    return fitted(indented([*lines, ""]))


def _weight_pointers(printer: ProgramPrinter, block: WeightsBlock) -> list[str]:
    """A pointer into the block for each constant."""
    upper = printer.prefix.upper()
    lines = ["const unsigned char *const block = weights;"]
    lines += _guard("weights == NULL", f"{upper}_E_NULL") if block.data else ["(void)block;"]
    lines += _guard(f"(uintptr_t)weights % {upper}_WEIGHTS_ALIGN != 0", f"{upper}_E_ALIGN")
    for buffer, offset in block.offsets:
        name = printer.buffer(buffer)
        place = f"(const void *)(block + {offset})"
        lines.append(f"const {memory_type(buffer.type)} *const {name} = {place};")
    return lines


def _guard(condition: str, error: str) -> Sequence[str]:
    return [f"if ({condition}) {{", f"    return {error};", "}"] if condition else []


def _unpacked(printer: ProgramPrinter, argument: Argument) -> str:
    name = printer.argument(argument)
    return f"{_pointed(argument)} *const {name} = args->{name};"


def _interface(program: Program, input_hash: str, prototype: str) -> str:
    """Eight hex digits that change whenever header and source stop fitting together."""
    facts = [VERSION, input_hash, prototype, program.signature, program.arena_size]
    facts += [program.alignment, *((a.name, a.buffer.shape) for a in program.arguments)]
    return f"0x{hashlib.sha256(repr(facts).encode()).hexdigest()[:8]}"
