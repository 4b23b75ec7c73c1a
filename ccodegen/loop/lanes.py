"""Executes the statements of a kernel with NumPy; independent turns of loops run side by side.

A loop whose turns are proven independent becomes an axis of arrays ("lanes"), put before those of
the loops around it, so that NumPy's broadcasting joins values of different depth. Any other loop
runs turn by turn. An unproven PARALLEL or VECTOR loop runs backwards, which a correct one allows.
"""

from __future__ import annotations

import operator as python
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from ccodegen.loop.fold import constant_array
from ccodegen.loop.independence import independent
from ccodegen.loop.ir import (
    INDEX,
    Alloc,
    Apply,
    Buffer,
    CallC,
    Const,
    Expr,
    For,
    If,
    Index,
    Kernel,
    Let,
    Load,
    LoopKind,
    Stmt,
    Store,
    Var,
)
from ccodegen.loop.library import effect_of
from ccodegen.loop.operators import evaluate
from ccodegen.support.element_type import ElementType
from ccodegen.support.errors import InternalError
from ccodegen.support.immutable import immutable

Body = tuple[Stmt, ...]
Array = np.ndarray[Any, Any]

_MOST_LANES = 2**17


def poisoned(size: int, dtype: np.dtype[Any]) -> Array:
    """Memory with no defined contents: all bits set, which is NaN or -1 in most types."""
    return np.full(size * dtype.itemsize, 0xFF, np.uint8).view(dtype)


@immutable
class _Memory:
    """A buffer's elements; `first`: where they start, for each lane that has its own."""

    elements: Array
    first: Any = 0


class Lanes:
    """Executes one kernel, again and again. What is derived from its statements is kept."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._memory: dict[Buffer, _Memory] = {}
        self._values: dict[Var, Any] = {}
        self._shape: tuple[int, ...] = ()
        self._mask: Any = True
        self._independent: dict[int, bool] = {}

    def run(self, memory: Mapping[Buffer, Array]) -> None:
        """`memory`: one-dimensional arrays for the kernel's buffers, changed in place."""
        self._memory = {buffer: _Memory(array) for buffer, array in memory.items()}
        self._values, self._shape, self._mask = {}, (), True
        with np.errstate(all="ignore"):
            self._run(self._kernel.body)

    def _run(self, body: Body) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, statement: Stmt) -> None:
        match statement:
            case Let(var, value):
                self._values[var] = self.value(value)
            case Store():
                self._store(statement)
            case For():
                self._loop(statement)
            case If():
                self._branch(statement)
            case Alloc(buffer):
                self._allocate(buffer)
            case CallC():
                self._call(statement)

    def _loop(self, loop: For) -> None:
        if not isinstance(loop.extent, int):
            self._uneven_loop(loop, self.value(loop.extent))
            return
        lanes = int(np.prod(self._shape))
        step = max(1, _MOST_LANES // max(1, lanes))
        if step == 1 or loop.extent == 1 or not self._is_independent(loop):
            self._turns(loop, loop.extent)
            return
        outside = self._shape
        for start in range(0, loop.extent, step):
            turns = np.arange(start, min(start + step, loop.extent))
            self._shape = (turns.size, *outside)
            self._values[loop.var] = turns.reshape(-1, *(1 for _ in outside))
            self._run(loop.body)
        self._shape = outside

    def _is_independent(self, loop: For) -> bool:
        if id(loop) not in self._independent:
            self._independent[id(loop)] = independent(loop)
        return self._independent[id(loop)]

    def _turns(self, loop: For, extent: int) -> None:
        turns = range(extent)
        for turn in turns if loop.kind is LoopKind.SERIAL else reversed(turns):
            self._values[loop.var] = turn
            self._run(loop.body)

    def _uneven_loop(self, loop: For, extent: Any) -> None:
        """A loop whose extent is computed, and may differ between lanes."""
        if np.ndim(extent) == 0:
            self._turns(loop, int(extent))
            return
        for turn in range(int(self._active(extent, 0).max())):
            self._values[loop.var] = turn
            with self._where(turn < extent) as any_lane:
                if any_lane:
                    self._run(loop.body)

    def _branch(self, branch: If) -> None:
        condition = self.value(branch.condition)
        if np.ndim(condition) == 0:
            self._run(branch.then if condition else branch.orelse)
            return
        for mask, body in (condition, branch.then), (~condition, branch.orelse):
            with self._where(mask) as any_lane:
                if any_lane:
                    self._run(body)

    @contextmanager
    def _where(self, condition: Any) -> Iterator[bool]:
        """Only in lanes in which the condition is true; yields whether there are any."""
        outside = self._mask
        self._mask = np.logical_and(outside, condition)
        try:
            yield bool(np.any(self._mask))
        finally:
            self._mask = outside

    def _active(self, value: Any, otherwise: int) -> Any:
        """The value, with another one in lanes that are masked out."""
        return value if self._mask is True else np.where(self._mask, value, otherwise)

    def _allocate(self, buffer: Buffer) -> None:
        count = int(np.prod(self._shape))
        elements = poisoned(count * buffer.size, buffer.type.dtype)
        first = np.arange(count).reshape(self._shape) * buffer.size if self._shape else 0
        self._memory[buffer] = _Memory(elements, first)

    def _call(self, call: CallC) -> None:
        if self._shape:
            raise self._error(f"calls {call.function} in several lanes at once")
        arrays = [self._memory[b].elements.reshape(b.dimensions) for b in call.buffers]
        effect_of(call)(arrays, [self.value(s) for s in call.scalars])

    def _store(self, store: Store) -> None:
        memory = self._memory[store.buffer]
        place = self._place(store.buffer, store.indices)
        value = np.asarray(self.value(store.value))
        if not memory.elements.flags.writeable:
            raise self._error(f"store to read-only {store.buffer.name}")
        if value.dtype != store.buffer.type.dtype:
            raise self._error(f"store of {value.dtype} to {store.buffer.name}")
        if self._mask is True:
            memory.elements[place] = value
            return
        place, value, mask = np.broadcast_arrays(place, value, self._mask)
        memory.elements[place[mask]] = value[mask]

    def _load(self, load: Load) -> Any:
        place = self._place(load.buffer, load.indices)
        return self._memory[load.buffer].elements[place]

    def _place(self, buffer: Buffer, indices: Index) -> Any:
        """Where in memory an element is, in every lane; checks bounds."""
        if buffer not in self._memory:
            raise self._error(f"{buffer.name} is not in scope")
        offset: Any = 0
        for expr, extent in zip(indices, buffer.dimensions, strict=True):
            index = self.value(expr)
            if self._mask is not True:
                index = np.where(self._mask, index, 0)
            outside = (
                np.any((index < 0) | (index >= extent))
                if isinstance(index, np.ndarray)
                else not 0 <= index < extent
            )
            if outside:
                raise self._error(f"index {index} of {buffer.name} is not below {extent}")
            offset = offset * extent + index
        return offset + self._memory[buffer].first

    def value(self, expr: Expr) -> Any:
        """A NumPy scalar or an array that broadcasts over the lanes, of the type's dtype; for INDEX
        and its comparisons it may be a Python int or bool."""
        match expr:
            case Const():
                return constant_array(expr)[()] if expr.type is not INDEX else int(expr.value)
            case Var():
                return self._variable(expr)
            case Load():
                return self._load(expr)
            case Apply("select", (condition, a, b)):
                return self._select(self.value(condition), a, b)
            case Apply("and" | "or", (a, b), ElementType.PRED):
                return self._logic(expr.operator == "and", self.value(a), b)
        arguments = [self.value(a) for a in expr.arguments]
        if expr.arguments[0].type is INDEX and expr.operator in _INDEX_OPERATORS:
            return _INDEX_OPERATORS[expr.operator](*arguments)
        return self._applied(expr, arguments)

    def _applied(self, expr: Apply, arguments: list[Any]) -> Any:
        types = [a.type for a in expr.arguments]
        arrays = [np.asarray(a, t.dtype) for a, t in zip(arguments, types, strict=True)]
        if any(a.shape != arrays[0].shape for a in arrays):
            arrays = list(np.broadcast_arrays(*arrays))
        return evaluate(expr.operator, arrays, expr.type)

    def _variable(self, var: Var) -> Any:
        if var not in self._values:
            raise self._error(f"{var.name} is not bound")
        return self._values[var]

    def _select(self, condition: Any, a: Expr, b: Expr) -> Any:
        if np.ndim(condition) == 0:
            return self.value(a if condition else b)
        with self._where(condition) as any_a:
            then = self.value(a) if any_a else None
        with self._where(~condition) as any_b:
            otherwise = self.value(b) if any_b else None
        if then is None or otherwise is None:
            return otherwise if then is None else then
        return np.where(condition, then, otherwise)

    def _logic(self, is_and: bool, a: Any, b: Expr) -> Any:
        if np.ndim(a) == 0:
            return self.value(b) if bool(a) == is_and else a
        with self._where(a if is_and else ~a) as undecided:
            second = self.value(b) if undecided else a
        return np.logical_and(a, second) if is_and else np.logical_or(a, second)

    def _error(self, message: str) -> InternalError:
        return InternalError(f"kernel {self._kernel.name}: {message}")


def _chosen(scalar: Callable[..., Any], vector: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """A function of ints that are Python's or arrays."""

    def apply(a: Any, b: Any) -> Any:
        if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
            return vector(a, b)
        return scalar(a, b)

    return apply


_minimum = _chosen(min, np.minimum)
_maximum = _chosen(max, np.maximum)

_INDEX_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": python.add,
    "subtract": python.sub,
    "multiply": python.mul,
    "divide": python.floordiv,
    "remainder": python.mod,
    "negate": python.neg,
    "minimum": _minimum,
    "maximum": _maximum,
    "clamp": lambda low, x, high: _minimum(_maximum(x, low), high),
    "compare-eq": python.eq,
    "compare-ne": python.ne,
    "compare-lt": python.lt,
    "compare-le": python.le,
    "compare-gt": python.gt,
    "compare-ge": python.ge,
}
