"""The builder that kernels are made with: splits loops on request, knows what is in scope."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from ccodegen.loop.affine import count
from ccodegen.loop.builder import Builder, apply, index
from ccodegen.loop.ir import Expr, For, Index, LoopKind, Stmt, Var
from ccodegen.loop.linear import split_request
from ccodegen.loop.simplify import simplify_index

_MOST_SPLITS = 64

Values = tuple[Expr, ...]
Axes = list[tuple[Var, int | Expr]]


class SplitRequest(Exception):
    """A loop whose indices are simple only if it runs as two, and the extent of the inner one."""

    def __init__(self, var: Var, inner: int) -> None:
        super().__init__(f"{var.name} by {inner}")
        self.var = var
        self.inner = inner


class KernelBuilder(Builder):
    """A builder that remembers loop extents, splits loops, and forgets values with their block.

    `splits`: inner extent by name of loop variable. A loop that is split runs as two, and its
    body sees outer * inner extent + inner.
    """

    def __init__(self, splits: Mapping[str, int]) -> None:
        super().__init__()
        self.splits = splits
        self._known: list[dict[Hashable, Values]] = [{}]

    def recall(self, key: Hashable) -> Values | None:
        """The values of an instruction at an index, if they are in scope."""
        return next((known[key] for known in self._known if key in known), None)

    def remember(self, key: Hashable, values: Values) -> None:
        self._known[-1][key] = values

    @contextmanager
    def block(self) -> Iterator[list[Stmt]]:
        self._known.append({})
        try:
            with super().block() as collected:
                yield collected
        finally:
            self._known.pop()

    @contextmanager
    def loop(
        self, extent: int | Expr, hint: str = "i", kind: LoopKind = LoopKind.SERIAL
    ) -> Iterator[Expr]:
        with self.loops((extent,), hint, kind) as (i,):
            yield i

    @contextmanager
    def loops(
        self, extents: Sequence[int | Expr], hint: str = "i", kind: LoopKind = LoopKind.SERIAL
    ) -> Iterator[tuple[Expr, ...]]:
        axes: Axes = []
        indices = tuple(self._axis(self.fresh(hint), extent, axes) for extent in extents)
        with self.block() as body:
            yield indices
        nest = tuple(body)
        for var, extent in reversed(axes):
            nest = (For(var, extent, nest, kind),)
        for statement in nest:
            self.emit(statement)

    def _axis(self, name: str, extent: int | Expr, axes: Axes) -> Expr:
        """Adds the loop or loops of one axis; returns the index that they make."""
        if extent == 1:
            return index(0)
        inner = self.splits.get(name)
        if isinstance(extent, int) and inner is not None:
            outer_index = self._axis(self.fresh(f"{name}o"), extent // inner, axes)
            inner_index = self._axis(self.fresh(f"{name}i"), inner, axes)
            return apply("add", apply("multiply", outer_index, index(inner)), inner_index)
        var = Var(name)
        axes.append((var, extent))
        count(var, extent, self.ranges)
        return var

    def reindexed(self, at: Index, dimensions: Sequence[int], others: Sequence[int]) -> Index:
        """Raises SplitRequest where the index would not be simple."""
        new = super().reindexed(at, dimensions, others)
        self.ask_for_splits(new)
        return new

    def ask_for_splits(self, expressions: Iterable[Expr]) -> None:
        """Raises SplitRequest for the first of the expressions that a split makes simpler."""
        if len(self.splits) == _MOST_SPLITS:
            return
        for expression in expressions:
            request = split_request(expression, self.ranges)
            if request is not None:
                raise SplitRequest(*request)

    def simplify(self, indices: Index) -> Index:
        return tuple(simplify_index(i, self.ranges) for i in indices)
