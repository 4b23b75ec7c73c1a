"""Kernels that do the same are one C function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass

from ccodegen.loop.ir import Apply, Buffer, Kernel, Note, Var
from ccodegen.support.naming import identifier, unique


class KernelTable:
    """The kernels of a program, each once, with names of their own. `made` is told of each."""

    def __init__(self, made: Callable[[Kernel], None]) -> None:
        self._told = made
        self._by_text: dict[str, Kernel] = {}
        self._names: set[str] = set()

    def add(self, kernel: Kernel) -> Kernel:
        """The kernel under a unique name, or the one added before that does the same."""
        key = canonical_text(kernel)
        if key not in self._by_text:
            name = unique(identifier(kernel.name, "kernel"), self._names)
            self._names.add(name)
            self._by_text[key] = Kernel(name, kernel.buffers, kernel.body, kernel.origin)
            self._told(self._by_text[key])
        return self._by_text[key]

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        return tuple(self._by_text.values())


def canonical_text(kernel: Kernel) -> str:
    """Equal for two kernels that differ in names alone."""
    names: dict[object, str] = {}

    def spell(part: object) -> str:
        if isinstance(part, Apply):  # most parts are
            return f"{part.operator}:{part.type.name}({' '.join(map(spell, part.arguments))})"
        if isinstance(part, Note):
            return ""
        if isinstance(part, Var):
            return f"{names.setdefault(part, f'v{len(names)}')}:{part.type}"
        if isinstance(part, Buffer):
            new = names.setdefault(part, f"v{len(names)}")
            return f"{new}:{part.type}{part.dimensions}{part.space}"
        if isinstance(part, tuple):
            return f"({' '.join(map(spell, part))})"
        if is_dataclass(part):
            inner = " ".join(spell(getattr(part, f.name)) for f in fields(part))
            return f"{type(part).__name__}[{inner}]"
        return repr(part)

    return spell((kernel.buffers, kernel.body))
