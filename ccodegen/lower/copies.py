"""The kernel that copies an array."""

from __future__ import annotations

from ccodegen.loop.builder import index
from ccodegen.loop.ir import Buffer, For, Kernel, Load, LoopKind, Space, Stmt, Store, Var
from ccodegen.support.element_type import ElementType


def copy_kernel(element_type: ElementType, size: int) -> Kernel:
    """to[i] = from[i] for `size` elements."""
    source = Buffer("source", element_type, (size,), Space.ARGUMENT)
    target = Buffer("target", element_type, (size,), Space.ARGUMENT)
    i = Var("i") if size > 1 else index(0)
    body: Stmt = Store(target, (i,), Load(source, (i,)))
    if isinstance(i, Var):
        body = For(i, size, (body,), LoopKind.VECTOR)
    name = f"copy_{element_type.text}_{size}"
    return Kernel(name, (source, target), (body,), f"copy of {size} {element_type.text}")
