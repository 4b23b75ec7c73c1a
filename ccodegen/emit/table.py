"""Prints a program for loading at once: one entry function over a table of pointers, and, where the
program asks for no hooks, one that Python calls (see runtime_c/ccg_python.h).

The table has the arguments in order, then the large constants, then the arena, then the hooks (a
`const ccg_io *`), where the program asks for any. Kernels are spread over translation units, which
compile side by side, and while later kernels are made; by how much optimising they are worth, as
far as there are enough of them. Those with little work stand apart, because they need none, but for
those that loops call. So do the threads and what Python calls, and the register tiles of a program
that is one unit otherwise: a second compiler has nothing to do but these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from ccodegen.emit import hooks, parallel
from ccodegen.emit.constants import ConstantText
from ccodegen.emit.effort import Effort, effort, is_quick
from ccodegen.emit.kernel import KernelText, print_kernel
from ccodegen.emit.lines import fitted, indented
from ccodegen.emit.names import Names
from ccodegen.emit.parallel import PartText
from ccodegen.emit.program import ProgramPrinter, file_name, own_names
from ccodegen.emit.steps import is_single, repeated_kernels
from ccodegen.emit.tile_unit import included, tile_functions
from ccodegen.emit.types import memory_type
from ccodegen.emit.unit import Unit, pool_unit, python_unit
from ccodegen.loop.ir import ConstantData, Kernel, Program, Space
from ccodegen.loop.steps import called_kernels, used_buffers
from ccodegen.support.immutable import immutable
from ccodegen.support.runtime_c import added_functions
from ccodegen.target import Target

LARGE_CONSTANT = 256  # bytes from which a constant is a pointer instead of text
_PREFIX = "jit"
_ENTRY = "int ccg_call(void *const *table)"
_LEAST_LINES = 150  # of a unit: a compiler takes 75 ms for them, four times what headers take
_FIRST_UNITS = 2  # compilers have nothing else to do yet
_LARGE_KERNEL = 150  # lines: a compiler takes that much longer than to begin
_BEFORE = 3  # a unit has a line for so many in the units before it, as there may be many to come
_CALLED_LINES = 40  # of the runtime, that a kernel calls; a few of these headers
_SHORT_HEADERS = {"ccg_base.h", "ccg_double.h", "ccg_index.h", "ccg_threads.h"} | {
    f"ccg_integer_{n}.h" for n in (8, 16, 32, 64)
}
_FEW_LINES = 40  # take less time, even optimised, than a compiler takes to begin


@immutable
class TableSources:
    """`external`: the constants that the caller puts into the table, in that order."""

    units: tuple[Unit, ...]
    external: tuple[ConstantData, ...]


@immutable
class _UnitView:
    """`shared`: its entry function has threads for its kernels."""

    strict: bool
    headers: tuple[str, ...]
    prototypes: tuple[str, ...]
    kernels: tuple[str, ...]
    constants: tuple[ConstantText, ...] = ()
    entry: str = ""
    shared: bool = False


def emit_table(
    program: Program,
    target: Target,
    strict: bool = False,
    large_constant: int = LARGE_CONSTANT,
) -> TableSources:
    """The program as translation units."""
    printer = TablePrinter(target, strict)
    for kernel in called_kernels(program.steps):
        printer.add(kernel)
    return printer.finish(program, large_constant)


class TablePrinter:
    """Prints the units of a program whose kernels come one by one.

    `send` is given each unit as soon as it is complete, but for those that programs have in common.
    The target's threads share the large loops of a call, in a pool of the program's own.
    """

    def __init__(
        self, target: Target, strict: bool, send: Callable[[Unit], None] = lambda _: None
    ) -> None:
        self._target, self._strict, self._send = target, strict, send
        self._threads = target.machine.threads
        self._names = Names([*own_names(_PREFIX), *added_functions()])
        self._texts: dict[Kernel, KernelText] = {}
        self._efforts: dict[str, Effort] = {}  # by the kernel's name
        self._little: list[Kernel] = []
        # Kernels in no unit yet, by what they are worth.
        self._hot: dict[Effort, list[KernelText]] = {
            worth: [] for worth in (Effort.SOME, Effort.MASKS, Effort.MOST)
        }
        self._units: list[Unit] = []
        self._lines = 0  # in these units

    def add(self, kernel: Kernel) -> None:
        """Prints a kernel."""
        name = file_name(self._names, _PREFIX, kernel)
        text = print_kernel(kernel, name, self._names, self._threads > 1)
        self._efforts[name] = effort(kernel)
        if self._efforts[name] is Effort.LITTLE:
            self._little.append(kernel)  # until it is known whether a loop calls it
        else:
            if len(self._units) < _FIRST_UNITS:
                text = self._halved(text)
            self._add_hot(text)
            if not self._units and _own_lines(text) >= _LARGE_KERNEL:
                # The unit with the entry takes less time than this one, beside it.
                self._complete_hot(self._efforts[name])
        self._texts[kernel] = text

    def _halved(self, text: KernelText) -> KernelText:
        """A large kernel; some of its parts, with up to half of its lines, are a unit now."""
        if len(text.parts) < 2 or _own_lines(text) < _LARGE_KERNEL:
            return text
        half = text
        for part in sorted(text.parts, key=lambda part: len(part.body), reverse=True):
            without = replace(half, apart=half.apart | {part})
            if half is text or 2 * _own_lines(without) >= _own_lines(text):
                half = without
        parts = _apart([half])
        self._complete(
            _UnitView(
                strict=self._strict,
                headers=_headers([text]),
                prototypes=_declarations(*parts),
                kernels=tuple("\n".join(part.lines("CCG_APART")) for part in parts),
            ),
            self._effort([text]),
        )
        return half

    def finish(self, program: Program, large_constant: int = LARGE_CONSTANT) -> TableSources:
        """All units of the program, whose kernels have been added. One has the entry function,
        `int ccg_call(void *const *table)`; the last one, if the program asks for no hooks,
        `ccg_python_call`."""
        external = tuple(c for c in program.constants if c.buffer.bytes >= large_constant)
        printer = ProgramPrinter(
            program,
            _PREFIX,
            self._target.abi.weight_alignment,
            {constant.buffer for constant in external},
            threads=any(text.parts for text in self._texts.values()),
            variables=True,
            files=self._names,
            printed=self._texts,
        )
        (last, worth_of_last), *others = self._last_groups(program)
        for group, worth in others:
            self._complete(_view(group, self._strict), worth)
        is_one = not self._units and worth_of_last is not Effort.LITTLE
        tiles = tile_functions(self._texts if is_one else ())
        self._complete(self._entry_view(printer, last, tiles), worth_of_last)
        if tiles:
            self._complete(_tile_view(tiles, self._strict), Effort.MOST)
        if not printer.hooks:
            self._units.append(python_unit(self._threads))
        elif printer.shared and self._threads > 1:
            self._units.append(pool_unit(self._threads))
        return TableSources(tuple(self._units), external)

    def _last_groups(self, program: Program) -> list[tuple[list[KernelText], Effort]]:
        """The kernels in no unit yet, for each unit, and what that is worth. The first
        unit has the entry; of kernels with little work those that its loops call, which become part
        of them, and those that would take long."""
        repeated = set(repeated_kernels(program.steps))
        cold = {k for k in self._little if k not in repeated and is_quick(k)}
        often = [self._texts[kernel] for kernel in self._little if kernel not in cold]
        rest = [self._texts[kernel] for kernel in self._little if kernel in cold]
        joined = rest if sum(len(text.body) for text in rest) <= _FEW_LINES else []
        for group in self._packed(often):
            self._add_hot(*group)
        hot = self._last_hot()
        if often or (hot and joined == rest):
            others = [] if joined else self._packed(rest)
            last = ([*hot, *joined], self._effort(hot))
            return [last, *((group, Effort.LITTLE) for group in others)]
        groups = [(group, Effort.LITTLE) for group in self._packed(rest)]
        return [*groups, (hot, self._effort(hot))] if hot or not groups else groups

    def _add_hot(self, *texts: KernelText) -> None:
        """Kernels of one worth; the first units are complete as soon as they are worth a compiler's
        start, as compilers have nothing else to do."""
        worth = self._effort(texts)
        if len(self._units) < _FIRST_UNITS:
            for other in self._hot:
                if _lines(self._hot[other]) >= _FEW_LINES:
                    self._complete_hot(other)
        if self._hot[worth] and _lines([*self._hot[worth], *texts]) > self._most:
            self._complete_hot(worth)
        self._hot[worth] += texts

    def _complete_hot(self, worth: Effort) -> None:
        texts, self._hot[worth] = self._hot[worth], []
        if texts:
            self._complete(_view(texts, self._strict), worth)
            self._lines += _lines(texts)

    def _last_hot(self) -> list[KernelText]:
        """The kernels for the unit with the entry; those worth less are another, if not few, and
        those with masks in any case."""
        some, masks, most = self._hot.values()
        if not some and not most:
            return masks
        self._complete_hot(Effort.MASKS)
        if most and _lines(some) >= _FEW_LINES:
            self._complete_hot(Effort.SOME)
            return most
        return [*most, *some]

    @property
    def _most(self) -> int:
        """Lines of a unit."""
        return max(_LEAST_LINES, self._lines // _BEFORE)

    def _packed(self, texts: Sequence[KernelText]) -> list[list[KernelText]]:
        """Runs of kernels with up to so many lines in all."""
        groups: list[list[KernelText]] = []
        for text in texts:
            if not groups or _lines([*groups[-1], text]) > self._most:
                groups.append([])
            groups[-1].append(text)
        return groups

    def _effort(self, texts: Sequence[KernelText]) -> Effort:
        """What a unit of kernels is worth that are hot, or that loops call."""
        worths = {self._efforts[text.name] for text in texts}
        return worths.pop() if worths in ({Effort.SOME}, {Effort.MASKS}) else Effort.MOST

    def _complete(self, view: _UnitView, worth: Effort) -> None:
        unit = Unit(f"unit{len(self._units)}.c", _text(view), worth)
        self._units.append(unit)
        self._send(unit)

    def _entry_view(
        self,
        printer: ProgramPrinter,
        texts: Sequence[KernelText],
        tiles: Sequence[KernelText],
    ) -> _UnitView:
        """The unit that calls all kernels, and has the last ones. `tiles`: those in another."""
        little = {self._texts[kernel] for kernel in self._little}
        storage = {t: "static" if t in little else "CCG_APART static" for t in texts}
        view = _view(texts, self._strict, storage)
        called = [text for text in self._texts.values() if text not in texts]
        own = {parallel.HEADER}.intersection(_headers(called))  # for their prototypes
        own |= {hooks.HEADER} if printer.hooks else set()
        apart = set().union(*(tile.headers for tile in tiles))
        return replace(
            view,
            headers=tuple(sorted({*view.headers, *own} - apart)),
            prototypes=_declarations(*tiles, *_apart(texts), *called),
            constants=tuple(printer.constants.values()),
            entry=_entry(printer, self._threads > 1),
            shared=printer.shared and self._threads > 1,
        )


def _lines(texts: Iterable[KernelText]) -> int:
    """What compilers have to work on: functions that only hand on arguments take no time."""
    return sum(
        _own_lines(text) + (0 if text.headers <= _SHORT_HEADERS else _CALLED_LINES)
        for text in texts
    )


def _own_lines(text: KernelText) -> int:
    return len(text.body) + sum(len(part.body) for part in text.parts if part not in text.apart)


def _headers(texts: Iterable[KernelText]) -> tuple[str, ...]:
    return tuple(sorted({"ccg_base.h"}.union(*(text.headers for text in texts))))


def _declarations(*functions: KernelText | PartText) -> tuple[str, ...]:
    return tuple("\n".join(fitted([f"{function.prototype};"])) for function in functions)


def _view(
    texts: Sequence[KernelText], strict: bool, storage: Mapping[KernelText, str] | None = None
) -> _UnitView:
    """A unit of kernels; `storage`: of those that no other unit calls."""
    return _UnitView(
        strict=strict,
        headers=_headers(texts),
        prototypes=_declarations(*_apart(texts), *texts),
        kernels=tuple("\n".join(text.lines((storage or {}).get(text, ""))) for text in texts),
    )


def _tile_view(tiles: Sequence[KernelText], strict: bool) -> _UnitView:
    """The unit of tiles that another one calls."""
    return _UnitView(
        strict=strict,
        headers=("ccg_base.h",),
        prototypes=(*map(included, tiles), *_declarations(*tiles)),
        kernels=tuple("\n".join(tile.lines()) for tile in tiles),
    )


def _text(view: _UnitView) -> str:
    """The unit as C. No template: to import what renders one takes a process's first program a
    tenth of its time, and many programs need no other."""
    head = ["#define CCG_STRICT 1"] if view.strict else []
    head += [f'#include "{header}"' for header in view.headers]
    constants = (f"static {c.declaration} = {{\n{c.values}\n}};" for c in view.constants)
    parts = ["\n".join(head), *constants, *view.prototypes, *view.kernels]
    if view.shared:
        parts.append("extern const ccg_threads ccg_shared_threads;")
    if view.entry:
        parts += [f"{_ENTRY};", f"{_ENTRY}\n{{\n{view.entry}\n}}"]
    return "\n\n".join(parts) + "\n"


def _apart(texts: Iterable[KernelText]) -> list[PartText]:
    """The parts of kernels that are in other units."""
    return [part for text in texts for part in text.parts if part in text.apart]


def _entry(printer: ProgramPrinter, has_pool: bool) -> str:
    """The entry function's body: names for the table's pointers, then the steps."""
    program = printer.program
    inputs = [a.buffer for a in program.arguments if a.output is None]
    buffers = [argument.buffer for argument in program.arguments]
    external = [c.buffer for c in program.constants if c.buffer in printer.external]
    used = set(used_buffers(program.steps))
    threads = "&ccg_shared_threads" if has_pool else "NULL"
    lines = [f"const ccg_threads *const threads = {threads};"] if printer.shared else []
    for slot, buffer in enumerate([*buffers, *external]):
        if buffer in used:
            const = "const " if buffer in (*inputs, *external) else ""
            name = printer.buffer(buffer)
            lines.append(f"{const}{memory_type(buffer.type)} *const {name} = table[{slot}];")
    if any(buffer.space is Space.ARENA and not is_single(buffer) for buffer in used):
        slot = len(buffers) + len(external)
        lines.append(f"unsigned char *const base = table[{slot}];")
    if printer.hooks:
        lines.append(f"const ccg_io *const io = table[{len(buffers) + len(external) + 1}];")
    if not lines:
        lines.append("(void)table;")
    return "\n".join([*fitted(indented(lines)), *printer.steps("base")])
