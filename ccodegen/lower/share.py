"""Kernels that do the same are one C function."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from dataclasses import dataclass, fields, is_dataclass

from ccodegen.loop.ir import Apply, Buffer, Kernel, Note, Var
from ccodegen.loop.rebuild import statements
from ccodegen.support.naming import identifier, unique


class KernelTable:
    """The kernels of a program, each once, with names of their own. `made` is told of each."""

    def __init__(self, made: Callable[[Kernel], None]) -> None:
        self._told = made
        self._added: list[Kernel] = []
        self._alike: dict[Hashable, list[_Known]] = {}  # by outline
        self._names: set[str] = set()

    def add(self, kernel: Kernel) -> Kernel:
        """The kernel under a unique name, or the one added before that does the same."""
        alike = self._alike.setdefault(_outline(kernel), [])
        new = _Known(kernel)
        for known in alike:
            if known.text == new.text:
                return known.kernel
        name = unique(identifier(kernel.name, "kernel"), self._names)
        self._names.add(name)
        new.kernel = Kernel(name, kernel.buffers, kernel.body, kernel.origin)
        alike.append(new)
        self._added.append(new.kernel)
        self._told(new.kernel)
        return new.kernel

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        return tuple(self._added)


@dataclass
class _Known:
    """A kernel, whose text is made where there is another one to compare it with."""

    kernel: Kernel

    @functools.cached_property
    def text(self) -> str:
        return canonical_text(self.kernel)


def _outline(kernel: Kernel) -> Hashable:
    """Equal for kernels that do the same, and seldom for others."""
    buffers = tuple((b.type, b.dimensions, b.space) for b in kernel.buffers)
    return buffers, tuple(map(type, statements(kernel.body)))


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
