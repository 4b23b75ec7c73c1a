"""One self-contained HTML page about a program: graph, timeline of the arena, C of each kernel."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from ccodegen.backend.build import Build
from ccodegen.backend.options import BuildOptions
from ccodegen.commands.common import bytes_text
from ccodegen.emit.program import ProgramPrinter
from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.shape import shape_text
from ccodegen.loop.ir import Kernel, Program
from ccodegen.loop.steps import kernel_calls
from ccodegen.report import BufferFacts, Report
from ccodegen.support.immutable import frozen

_WIDTH, _HEIGHT = 960, 320  # of the timeline, in pixels
_LONGEST_LINE = 400
_MOST_LINES = 20_000


@frozen
class _Row:
    """An instruction: `operands` and `kernel` are links within the page."""

    name: str
    op: str
    shape: str
    operands: tuple[str, ...]
    source: Markup
    body: tuple[str, ...]
    kernel: str


@frozen
class _Bar:
    """A buffer in the timeline, in pixels."""

    name: str
    label: str
    x: float
    y: float
    width: float
    height: float
    hue: int


@frozen
class _KernelText:
    name: str
    operations: int
    moved: str
    code: Markup


def page(built: Build, facts: Report, options: BuildOptions, source: Path) -> str:
    printer = ProgramPrinter(built.program, "model", options.target.abi.weight_alignment)
    lines = _source_lines(built.module, source)
    links = _SourceLinks(source.name, len(lines))
    view: dict[str, Any] = {
        "facts": facts,
        "rows": _rows(built, links),
        "bars": _bars(facts),
        "width": _WIDTH,
        "height": _HEIGHT,
        "arena": bytes_text(facts.arena),
        "lower_bound": bytes_text(facts.lower_bound),
        "constants": bytes_text(facts.constants),
        "kernels": _kernels(printer, facts, links),
        "source_lines": list(enumerate(lines, 1)),
    }
    return _environment().get_template("inspect.html.j2").render(view)


class _SourceLinks:
    """Makes links of `file:line` in text, to the lines of the source on the page."""

    def __init__(self, file: str, count: int) -> None:
        self._pattern = re.compile(rf"\({re.escape(str(escape(file)))}:(\d+)(?::\d+)?\)")
        self._count = count

    def __call__(self, text: str) -> Markup:
        return Markup(self._pattern.sub(self._link, str(escape(text))))

    def _link(self, match: re.Match[str]) -> str:
        line = int(match[1])
        return f'<a href="#line{line}">{match[0]}</a>' if line <= self._count else match[0]


def _source_lines(module: Module, path: Path) -> list[str]:
    """The program as its author wrote it, if it is text, else as HLO; long lines cut."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        text = module.to_text()
    return [_cut(line) for line in text.splitlines()[:_MOST_LINES]]


def _cut(line: str) -> str:
    return f"{line[:_LONGEST_LINE]}…" if len(line) > _LONGEST_LINE else line


def _rows(built: Build, links: _SourceLinks) -> list[_Row]:
    entry = built.optimized.entry
    kernels = {name: kernel.name for name, kernel in _kernel_of(built.program).items()}
    return [_row(instruction, kernels, links) for instruction in entry.instructions]


def _row(instruction: Instruction, kernels: Mapping[str, str], links: _SourceLinks) -> _Row:
    called = instruction.attributes.computations() if instruction.op == "fusion" else ()
    inside = [i for computation in called for i in computation.instructions]
    shown = [i for i in inside if i.op != "parameter"]
    location = instruction.location
    place = f"({Path(location.file).name}:{location.line})" if location and location.line else ""
    return _Row(
        name=instruction.name,
        op=instruction.op,
        shape=shape_text(instruction.shape, layouts=False),
        operands=tuple(operand.name for operand in instruction.operands),
        source=links(place),
        body=tuple(f"{i.name} = {i.op}({', '.join(o.name for o in i.operands)})" for i in shown),
        kernel=kernels.get(instruction.name, ""),
    )


def _kernel_of(program: Program) -> dict[str, Kernel]:
    """The kernel that computes an instruction, by the name its call begins with."""
    return {call.origin.partition(" = ")[0]: call.kernel for call in kernel_calls(program.steps)}


def _bars(facts: Report) -> list[_Bar]:
    """Steps from left to right, the arena from its first byte at the top to its last."""
    steps = max((b.last for b in facts.buffers), default=0) + 1
    across, down = _WIDTH / steps, _HEIGHT / max(1, facts.arena)
    return [_bar(number, buffer, across, down) for number, buffer in enumerate(facts.buffers)]


def _bar(number: int, buffer: BufferFacts, across: float, down: float) -> _Bar:
    label = (
        f"{buffer.name} {buffer.shape}: bytes {buffer.offset} to {buffer.offset + buffer.size}, "
        f"steps {buffer.first} to {buffer.last}"
    )
    return _Bar(
        buffer.name,
        label,
        round(buffer.first * across, 1),
        round(buffer.offset * down, 1),
        round((buffer.last - buffer.first + 1) * across, 1),
        round(max(1.0, buffer.size * down), 1),
        number * 47 % 360,
    )


def _kernels(printer: ProgramPrinter, facts: Report, links: _SourceLinks) -> list[_KernelText]:
    counts = {kernel.name: kernel for kernel in facts.kernels}
    texts = []
    for kernel, text in printer.kernels.items():
        own = counts[kernel.name]
        moved = bytes_text(own.bytes_read + own.bytes_written)
        code = links("\n".join(text.lines("static")))
        texts.append(_KernelText(kernel.name, own.operations, moved, code))
    return texts


def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("ccodegen.commands"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=True,
    )
