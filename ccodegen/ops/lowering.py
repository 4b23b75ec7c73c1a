"""What the lowering of an op may ask for. `ccodegen.lower` implements these protocols.

An op lowers in one of two ways (OpDef.element, OpDef.nest):

element(scope, instruction, index) -> Expr | tuple[Expr, ...]
    The value at an output index (a tuple of values, one per result, for ops such as a reduce of
    several operands). May emit loops and locals through `scope.builder`: they run each time the
    element is asked for. Everything that is a function from index to value lowers like this
    (elementwise ops, movement, reduce, reduce-window, gather, dot, convolution) and fuses.

nest(scope, instruction) -> None
    Reads whole operands from buffers and writes whole results into buffers (sort, scatter,
    cholesky, …).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np

from ccodegen.hlo.ir import Computation
from ccodegen.loop.builder import Builder
from ccodegen.loop.ir import Buffer, Expr, Index
from ccodegen.support.element_type import ElementType
from ccodegen.target.model import Target


class Scope(Protocol):
    """Common to both: statements, scalar computations, modes."""

    @property
    def builder(self) -> Builder: ...

    @property
    def strict(self) -> bool:
        """Reductions keep their order: left to right in row-major order, one accumulator."""
        ...

    def call(self, computation: Computation, *arguments: Expr) -> tuple[Expr, ...]:
        """The results of a computation over scalars (`to_apply`), inlined."""
        ...


class ElementScope(Scope, Protocol):
    def operand(self, number: int, index: Index) -> Expr:
        """The element of an operand, which must be in bounds. May emit statements."""
        ...

    def guarded(
        self, condition: Expr, then: Callable[[], Expr], otherwise: Callable[[], Expr]
    ) -> Expr:
        """`then()` where the condition holds, else `otherwise()`; only one of them is evaluated."""
        ...


class NestScope(Scope, Protocol):
    @property
    def target(self) -> Target:
        """What the kernel is made for. It may choose the order of loops, never that of sums."""
        ...

    @property
    def operands(self) -> tuple[Buffer, ...]:
        """The operands' leaves."""
        ...

    @property
    def results(self) -> tuple[Buffer, ...]:
        """The result's leaves. Where the op's memory is shared (`in_place`), results[i] is the
        very object operands[i]."""
        ...

    def table(self, array: np.ndarray[Any, Any]) -> Buffer:
        """Constant data for this kernel, as a buffer of the array's type and dimensions."""
        ...

    def scratch(self, element_type: ElementType, dimensions: tuple[int, ...]) -> Buffer:
        """Memory in the arena for this kernel alone."""
        ...

    def in_parts(self, parts: int, part: Expr) -> AbstractContextManager[None]:
        """Scratch memory that is asked for meanwhile there is so many times, and what is emitted
        meanwhile works on that of one part. A call of a function on it has its offset first."""
        ...
