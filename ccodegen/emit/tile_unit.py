"""Register tiles in a unit of their own, which compiles beside the kernels that call them.

Each is a function that all units see, under the name that kernels call it by. Arguments that are
the same number wherever it is called are part of it, as they are where compilers see both: with
steps that they know, a tile needs no registers for the places of its rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ccodegen.emit import matrix_tile, row_tile, tile
from ccodegen.emit.kernel import KernelText
from ccodegen.emit.lines import fitted, indented
from ccodegen.emit.literal import literal
from ccodegen.emit.types import memory_type
from ccodegen.loop.ir import CallC, Const, Kernel
from ccodegen.loop.rebuild import statements
from ccodegen.loop.spelling import c_type

_NAMES = (tile.NAME, row_tile.NAME, matrix_tile.NAME)  # of headers


def tile_functions(kernels: Iterable[Kernel]) -> tuple[KernelText, ...]:
    """The tiles that kernels call, by name; each has one header, to be included by `included`."""
    calls: dict[str, list[CallC]] = {}
    for kernel in kernels:
        for statement in statements(kernel.body):
            if isinstance(statement, CallC) and _is_tile(statement):
                calls.setdefault(statement.function, []).append(statement)
    return tuple(_function(calls[name]) for name in sorted(calls))


def included(function: KernelText) -> str:
    """The header, whose own function has another name behind it."""
    (header,) = function.headers
    name = function.name
    return f'#define {name} {_inner(name)}\n#include "{header}"\n#undef {name}'


def _inner(name: str) -> str:
    return f"tile_of_{name}"


def _is_tile(call: CallC) -> bool:
    return any(name.fullmatch(call.header) for name in _NAMES)


def _function(calls: Sequence[CallC]) -> KernelText:
    """One that calls the header's."""
    first = calls[0]
    arguments = [f"a{n}" for n in range(len(first.buffers) + len(first.scalars))]
    prototype = _prototype(first, arguments)
    unused = []
    of_each_call = zip(*(call.scalars for call in calls), strict=True)
    for place, scalars in enumerate(of_each_call, len(first.buffers)):
        if isinstance(scalars[0], Const) and len(set(scalars)) == 1:
            unused.append(f"(void){arguments[place]}")
            arguments[place] = literal(scalars[0].type, scalars[0].value)
    lines = [f"{', '.join(unused)};"] if unused else []
    lines.append(f"{_inner(first.function)}({', '.join(arguments)});")
    body = tuple(fitted(indented(lines)))
    return KernelText(first.function, (), prototype, body, frozenset({first.header}))


def _prototype(call: CallC, names: Sequence[str]) -> str:
    pointers = (
        f"{'' if n in call.writes else 'const '}{memory_type(buffer.type)} *"
        for n, buffer in enumerate(call.buffers)
    )
    scalars = (f"{c_type(scalar.type)} " for scalar in call.scalars)
    parameters = map("".join, zip((*pointers, *scalars), names, strict=True))
    return f"void {call.function}({', '.join(parameters)})"
