"""Makes conversions between floats explicit, so that later passes see operands of one type."""

from __future__ import annotations

from ccodegen.hlo.ir import Module
from ccodegen.hlo.precision import settled
from ccodegen.passes.context import PassContext


def settle_types(module: Module, context: PassContext) -> Module:
    """Operands of several precisions → of the widest; a result of another one → a convert.

    ```
    ROOT %y = bf16[2] add(bf16[2] %a, f32[2] %b)
    →
    %w = f32[2] convert(%a)
    %s = f32[2] add(%w, %b)
    ROOT %y = bf16[2] convert(%s)
    ```
    """
    return settled(module)
