"""Register tiles in a unit of their own, which compiles beside the kernels that call them.

Each is a function that all units see, under the name that kernels call it by. Arguments that are
the same number wherever it is called are part of it, as they are where compilers see both: with
steps that they know, a tile needs no registers for the places of its rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ccodegen.emit import matrix_tile, row_tile, tile
from ccodegen.emit.lines import fitted, indented
from ccodegen.emit.literal import literal
from ccodegen.emit.types import memory_type
from ccodegen.loop.ir import CallC, Const, Kernel
from ccodegen.loop.rebuild import statements
from ccodegen.loop.spelling import c_type

_NAMES = (tile.NAME, row_tile.NAME, matrix_tile.NAME)  # of headers


class TileFunctions:
    """The tiles that kernels call. `headers`: those that declare them, where they are in no unit of
    their own."""

    def __init__(self, kernels: Iterable[Kernel]) -> None:
        calls: dict[str, list[CallC]] = {}
        for kernel in kernels:
            for statement in statements(kernel.body):
                if isinstance(statement, CallC) and _is_tile(statement):
                    calls.setdefault(statement.function, []).append(statement)
        self._calls = dict(sorted(calls.items()))
        self.headers = frozenset(first.header for first, *_ in calls.values())

    @property
    def prototypes(self) -> tuple[str, ...]:
        return tuple(_prototype(first) for first, *_ in self._calls.values())

    @property
    def definitions(self) -> tuple[str, ...]:
        return tuple(map(_definition, self._calls.values()))


def _is_tile(call: CallC) -> bool:
    return any(name.fullmatch(call.header) for name in _NAMES)


def _prototype(call: CallC) -> str:
    pointers = (
        f"{'' if n in call.writes else 'const '}{memory_type(buffer.type)} *"
        for n, buffer in enumerate(call.buffers)
    )
    scalars = (f"{c_type(scalar.type)} " for scalar in call.scalars)
    parameters = (f"{kind}a{n}" for n, kind in enumerate((*pointers, *scalars)))
    return "\n".join(fitted([f"void {call.function}({', '.join(parameters)});"]))


def _definition(calls: Sequence[CallC]) -> str:
    """The header's function under another name, and the one that calls it."""
    first = calls[0]
    arguments = [f"a{n}" for n in range(len(first.buffers) + len(first.scalars))]
    unused = []
    of_each_call = zip(*(call.scalars for call in calls), strict=True)
    for place, scalars in enumerate(of_each_call, len(first.buffers)):
        if isinstance(scalars[0], Const) and len(set(scalars)) == 1:
            unused.append(f"(void){arguments[place]}")
            arguments[place] = literal(scalars[0].type, scalars[0].value)
    body = [f"{', '.join(unused)};"] if unused else []
    name, prototype = f"tile_of_{first.function}", _prototype(first)
    return "\n".join([
        f"#define {first.function} {name}",
        f'#include "{first.header}"',
        f"#undef {first.function}",
        "",
        prototype,
        "",
        prototype.removesuffix(";"),
        "{",
        *fitted(indented([*body, f"{name}({', '.join(arguments)});"])),
        "}",
    ])
