"""Builds loop nests: nested blocks that collect statements, and fresh names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ccodegen.loop.ir import (
    INDEX,
    MOST_UNROLLED,
    Alloc,
    Apply,
    Buffer,
    Const,
    Expr,
    For,
    If,
    Index,
    Let,
    Load,
    LoopKind,
    Note,
    Stmt,
    Store,
    Var,
)
from ccodegen.loop.linear import delinearize, linearize
from ccodegen.loop.ranges import KnownRanges
from ccodegen.support.element_type import ElementType

_LEAST_EVEN = 64  # elements of a block


class Builder:
    """Collects the statements of one kernel.

        with b.loop(4, "i") as i:
            b.store(out, (i,), b.add(b.load(x, (i,)), one))
    """

    def __init__(self) -> None:
        self.ranges = KnownRanges({})  # extents of loop variables, where it is told
        self._blocks: list[list[Stmt]] = [[]]
        self._names: dict[str, int] = {}

    @property
    def statements(self) -> tuple[Stmt, ...]:
        """What the open block holds so far."""
        return tuple(self._blocks[-1])

    @property
    def depth(self) -> int:
        """Number of open blocks; what is bound in a deeper one is out of scope after it."""
        return len(self._blocks)

    def fresh(self, hint: str) -> str:
        """A C identifier not used before in this kernel, after `hint`."""
        stem = re.sub(r"[^A-Za-z0-9_]", "_", hint).strip("_") or "t"
        stem = stem if stem[0].isalpha() else f"t{stem}"
        number = self._names.get(stem, 0)
        self._names[stem] = number + 1
        return self.fresh(f"{stem}_{number}") if number else stem

    def reindexed(self, at: Index, dimensions: Sequence[int], others: Sequence[int]) -> Index:
        """Where an element lies in an array of other dimensions, reshaped."""
        return delinearize(linearize(at, dimensions), others, self.ranges)

    def emit(self, statement: Stmt) -> None:
        self._blocks[-1].append(statement)

    def note(self, text: str) -> None:
        self.emit(Note(text))

    @contextmanager
    def block(self) -> Iterator[list[Stmt]]:
        """Collects statements into the list it yields instead of the open block."""
        collected: list[Stmt] = []
        self._blocks.append(collected)
        try:
            yield collected
        finally:
            self._blocks.pop()

    @contextmanager
    def loop(
        self, extent: int | Expr, hint: str = "i", kind: LoopKind = LoopKind.SERIAL
    ) -> Iterator[Expr]:
        """for var in 0 … extent-1."""
        var = Var(self.fresh(hint))
        with self.block() as body:
            yield var
        self.emit(For(var, extent, tuple(body), kind))

    @contextmanager
    def loops(
        self, extents: Sequence[int | Expr], hint: str = "i", kind: LoopKind = LoopKind.SERIAL
    ) -> Iterator[tuple[Expr, ...]]:
        """A perfect nest, first extent outermost."""
        variables = tuple(Var(self.fresh(hint)) for _ in extents)
        with self.block() as body:
            yield variables
        nest = tuple(body)
        for var, extent in reversed(tuple(zip(variables, extents, strict=True))):
            nest = (For(var, extent, nest, kind),)
        for statement in nest:
            self.emit(statement)

    @contextmanager
    def when(self, condition: Expr) -> Iterator[None]:
        with self.block() as body:
            yield
        self.emit(If(condition, tuple(body)))

    @contextmanager
    def otherwise(self) -> Iterator[None]:
        """The else of the `when` just closed."""
        with self.block() as body:
            yield
        last = self._blocks[-1].pop()
        assert isinstance(last, If)
        self.emit(If(last.condition, last.then, tuple(body)))

    def let(self, value: Expr, hint: str = "t") -> Expr:
        """A name for the value; constants and names are returned as they are."""
        if isinstance(value, Const | Var):
            return value
        var = Var(self.fresh(hint), value.type)
        self.emit(Let(var, value))
        return var

    def local(
        self, element_type: ElementType, dimensions: tuple[int, ...] = (), hint: str = "local"
    ) -> Buffer:
        """A local array, or with no dimensions a scalar variable that stores may change."""
        buffer = Buffer(self.fresh(hint), element_type, dimensions)
        self.emit(Alloc(buffer))
        return buffer

    def variable(self, initial: Expr, hint: str = "v") -> Buffer:
        """A scalar variable with a first value."""
        buffer = self.local(initial.type, (), hint)
        self.store(buffer, (), initial)
        return buffer

    def store(self, buffer: Buffer, indices: Index, value: Expr) -> None:
        assert len(indices) == len(buffer.dimensions), (buffer, indices)
        self.emit(Store(buffer, indices, value))

    def load(self, buffer: Buffer, indices: Index = ()) -> Load:
        assert len(indices) == len(buffer.dimensions), (buffer, indices)
        return Load(buffer, indices)


def compare(direction: str, a: Expr, b: Expr) -> Expr:
    """`direction`: eq ne lt le gt ge."""
    return Apply(f"compare-{direction}", (a, b), ElementType.PRED)


def vector_kind(extent: int) -> LoopKind:
    """The kind of a loop whose turns are independent. Compilers unroll a short one before they look
    for vectors, if it is not said that its turns are lanes."""
    return LoopKind.LANES if 4 <= extent <= MOST_UNROLLED else LoopKind.VECTOR


def even_width(count: int, most: int, lines: int, threads: int) -> int:
    """Of blocks of at most so many out of `count`, in each of so many lines: the most, or, if the
    lines are too few to share, what gives each thread as many blocks, if these are not short and
    leave nothing over."""
    if lines >= threads:
        return min(count, most)
    fewest = max(1, -(-count // (most * threads))) * threads
    for blocks in range(fewest, 2 * fewest + 1, threads):
        if count % blocks == 0 and count >= _LEAST_EVEN * blocks:
            return count // blocks
    return min(count, most)


def in_blocks(
    builder: Builder,
    extent: int,
    size: int,
    hint: str,
    emit: Callable[[Expr, int], None],
    kind: LoopKind = LoopKind.SERIAL,
) -> None:
    """A loop over `extent` turns, `size` at a time: emit(first, count) for a block of them, and for
    the fewer that are left over."""
    if extent >= size:
        with builder.loop(extent // size, hint, kind) as number:
            emit(apply("multiply", number, index(size)), size)
    if extent % size:
        emit(index(extent - extent % size), extent % size)


def index(value: int) -> Const:
    """A constant of type INDEX."""
    return Const(INDEX, value)


def const(element_type: ElementType, value: object) -> Const:
    return Const(element_type, value)


def apply(operator: str, *arguments: Expr, type: ElementType | None = None) -> Apply:
    """An operator's application; the result has the last argument's type unless `type` is given.

    (`select` takes its type from its arms, `compare-*` need PRED.)
    """
    return Apply(operator, arguments, type or arguments[-1].type)
