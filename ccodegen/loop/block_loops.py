"""Loops that write along one dimension and read along another run in square blocks.

    for v < 100: for i < 100: y[v * 100 + i] = x[i * 100 + v]

reads each cache line as often as it has elements, and one after the other. In blocks, each line is
read whole into a local buffer, of which the block takes its elements in its own order. Where
vectors have many elements, the block is turned by shuffles of its two halves: as many as take the
places' upper bits down. Elsewhere blocks pay where the cache does not keep the lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ccodegen.loop.affine import affine, is_inside
from ccodegen.loop.builder import apply, index, vector_kind
from ccodegen.loop.cost import CACHE_LINE, GATHERED
from ccodegen.loop.cse import computed
from ccodegen.loop.ir import (
    INDEX,
    Alloc,
    Buffer,
    Const,
    Expr,
    For,
    If,
    Let,
    Load,
    LoopKind,
    Stmt,
    Store,
    Var,
)
from ccodegen.loop.parts import loads, parts
from ccodegen.loop.ranges import Interval, counted
from ccodegen.loop.rebuild import (
    Body,
    expressions,
    is_straight,
    rebuild,
    rebuild_expr,
    replacing,
    written_buffers,
)
from ccodegen.loop.rename import renamed, stem
from ccodegen.loop.shuffle import shuffle
from ccodegen.loop.turns import most_turns
from ccodegen.loop.widen_masks import widen_block_masks
from ccodegen.support.immutable import immutable

_MOST_ELEMENTS = 32  # in a row of a block, of however small a type
_LEAST_NARROW = 16
_NARROW_APART = 4  # elements that lie so far apart are no two halves of a vector
_RESIDENT = 128  # lines that stay in the nearest cache until their next element is read
_COLLIDING = 1024  # bytes: lines that far apart share a few places of it
_LEAST_LANES = 8  # of vectors for shuffles to be less work than scattered elements
_MOST_TURNED = 4  # buffers, as registers and the code are finite


def block_loops(body: Body, fresh: Callable[[str], str], vector_bytes: int = 0) -> Body:
    """Statements of equal effect, nests of independent loops over flat buffers in blocks where
    that saves cache lines. `fresh` gives names that the kernel does not have yet, after a hint."""
    return tuple(new for statement in body for new in _blocked(statement, fresh, vector_bytes))


def _blocked(statement: Stmt, fresh: Callable[[str], str], vector_bytes: int) -> Body:
    match statement:
        case For(var, extent, body, kind):
            nest = _nest(statement)
            found = _turned(nest, vector_bytes) if nest else None
            if nest and found:
                return _Blocks(nest, *found, fresh, vector_bytes).statements()
            return (For(var, extent, block_loops(body, fresh, vector_bytes), kind),)
        case If(condition, then, orelse):
            arms = (block_loops(arm, fresh, vector_bytes) for arm in (then, orelse))
            return (If(condition, *arms),)
    return (statement,)


@immutable
class _Nest:
    """Independent loops around straight code: the outer ones, the outermost first, and their
    extents; the innermost one and its own, which may be an expression."""

    outer: dict[Var, int]
    inner: Var
    extent: int | Expr
    body: Body


def _nest(loop: For) -> _Nest | None:
    outer: dict[Var, int] = {}
    inner = loop
    while inner.kind is not LoopKind.SERIAL:
        if len(inner.body) != 1 or not isinstance(following := inner.body[0], For):
            plain = is_straight(inner.body)
            return _Nest(outer, inner.var, inner.extent, inner.body) if plain else None
        if not isinstance(inner.extent, int):
            return None
        outer[inner.var] = inner.extent
        inner = following
    return None


def _turned(nest: _Nest, vector_bytes: int) -> tuple[Var, list[Load]] | None:
    """The loop along which some buffers are read, and those loads: where the innermost loop
    writes from element to element and these buffers from line to line."""
    stores = [s for s in nest.body if isinstance(s, Store)]
    if any(_step(s.indices, nest.inner) != 1 for s in stores):
        return None
    if not isinstance(nest.extent, int) and not nest.outer.keys().isdisjoint(parts(nest.extent)):
        return None
    written = written_buffers(nest.body)
    found: dict[Load, Var] = {}
    for load in _loads(nest):
        along = [
            v
            for v, n in nest.outer.items()
            if _step(load.indices, v) == 1 and n >= _block_size(load.buffer, n)
        ]
        pays = _is_shuffled(load.buffer, vector_bytes) or _reads_lines_again(nest, load)
        if along and _skips_lines(nest, load) and pays and load.buffer not in written:
            found[load] = along[0]
    if not 0 < len(found) <= _MOST_TURNED or len(set(found.values())) > 1:
        return None
    return next(iter(found.values())), list(found)


def _is_shuffled(buffer: Buffer, vector_bytes: int) -> bool:
    """Whether vectors have elements enough for shuffles."""
    return not buffer.type.is_complex and vector_bytes // buffer.type.bytes >= _LEAST_LANES


def _skips_lines(nest: _Nest, load: Load) -> bool:
    """Whether the innermost loop reads another line each time, or bytes out of it, which processors
    do not gather; a whole block of them."""
    element = load.buffer.type.bytes
    apart = CACHE_LINE if element >= GATHERED else _NARROW_APART * element
    is_whole = most_turns(nest.extent) >= _block_size(load.buffer)
    return _bytes_apart(nest, load) >= apart and is_whole


def _reads_lines_again(nest: _Nest, load: Load) -> bool:
    """Whether the innermost loop reads more lines than a cache keeps for the loops around it."""
    resident = _RESIDENT // 8 if _bytes_apart(nest, load) % _COLLIDING == 0 else _RESIDENT
    return most_turns(nest.extent) > resident


def _bytes_apart(nest: _Nest, load: Load) -> int:
    """Of elements that the innermost loop reads one after the other."""
    return abs(_step(load.indices, nest.inner)) * load.buffer.type.bytes


def _step(indices: Sequence[Expr], var: Var) -> int:
    (position,) = indices or (Const(INDEX, 0),)
    return affine(position).terms.get(var, 0)


def _block_size(buffer: Buffer, lines: int = _MOST_ELEMENTS) -> int:
    """Elements of a cache line; of bytes half as many where there are fewer lines."""
    size = min(_MOST_ELEMENTS, CACHE_LINE // buffer.type.bytes)
    return min(size, _LEAST_NARROW) if lines < size else size


def _loads(nest: _Nest) -> list[Load]:
    """What may be read in any case: not what depends on names bound here, nor, in an arm of a
    choice, what may be outside of its array."""
    bound: set[Expr] = set()
    found: dict[Load, None] = {}
    ranges: dict[Expr, int | Interval] = {nest.inner: counted(nest.extent, {})}
    ranges.update(nest.outer.items())
    for statement in nest.body:
        certain = set(computed(statement))
        for load in loads(*expressions((statement,))):
            if load in certain or is_inside(load, ranges):
                found |= {load: None} if bound.isdisjoint(parts(*load.indices)) else {}
        if isinstance(statement, Let):
            bound.add(statement.var)
    return list(found)


@immutable
class _Blocks:
    """A nest in blocks of `across` × its innermost loop."""

    nest: _Nest
    across: Var
    turned: list[Load]
    fresh: Callable[[str], str]
    vector_bytes: int

    @property
    def size(self) -> int:
        lines = self.nest.outer[self.across]
        return max(_block_size(load.buffer, lines) for load in self.turned)

    def statements(self) -> Body:
        """The blocks, and behind them what is left along both dimensions."""
        inner, rows = self.nest.inner, self.nest.outer[self.across]
        columns, rest = self._cut(self.nest.extent)
        whole = affine(columns).scaled(self.size).expr
        result = [self._around(self._blocks(rows // self.size, columns))]
        if rest != index(0):
            result.append(self._part({inner: (whole, rest)}))
        left = rows % self.size
        if left:
            part = {self.across: (index(rows - left), index(left)), inner: (index(0), whole)}
            result.append(self._part(part))
        return tuple(result)

    def _cut(self, extent: int | Expr) -> tuple[Expr, Expr]:
        """How many whole blocks there are, and how many turns are left over."""
        size = index(self.size)
        if isinstance(extent, int):
            return index(extent // self.size), index(extent % self.size)
        return apply("divide", extent, size), apply("remainder", extent, size)

    def _part(self, ranges: Mapping[Var, tuple[Expr, Expr]]) -> Stmt:
        """The nest as it was over a part of some loops: first turn and number of turns."""
        extents = {**self.nest.outer, self.nest.inner: self.nest.extent}
        names = {v: Var(self.fresh(stem(v.name))) for v in extents}
        values: dict[Var, Expr] = {
            v: (affine(name) + affine(ranges[v][0])).expr if v in ranges else name
            for v, name in names.items()
        }
        body = renamed(self.nest.body, self.fresh, values)
        for v, extent in reversed(extents.items()):
            turns = ranges[v][1] if v in ranges else extent
            body = (For(names[v], turns, body, LoopKind.PARALLEL),)
        return body[0]

    def _around(self, body: Body) -> Stmt:
        """The loops that are not blocked."""
        for v, extent in reversed(self.nest.outer.items()):
            if v is not self.across:
                body = (For(v, extent, body, LoopKind.PARALLEL),)
        return body[0]

    def _blocks(self, rows: int, columns: Expr) -> Body:
        """All whole blocks: the local buffers are filled in the order of the memory that is read,
        then the body runs in the order of the memory that is written."""
        inner = self.nest.inner
        row, column = (Var(self.fresh(stem(v.name))) for v in (self.across, inner))
        firsts = {self.across: row, inner: column}
        body: list[Stmt] = []
        own: dict[Load, Buffer] = {}
        for load in self.turned:
            own[load], filled = self._filled(load, firsts)
            body += filled
        inside = self._inside()
        values = self._values(firsts, inside)
        taken: dict[Expr, Expr] = {
            rebuild_expr(load, replacing(values)): Load(local, (self._place(inside, self.across),))
            for load, local in own.items()
        }
        work = rebuild(renamed(self.nest.body, self.fresh, values), lambda e: taken.get(e, e))
        copies = all(isinstance(s, Store) and isinstance(s.value, Load) for s in work)
        kind = LoopKind.PARALLEL if copies else vector_kind(self.size)
        block = self._loops((self.across, inner), inside, work, kind)
        body += widen_block_masks(block, self.size, self.fresh, self.vector_bytes)
        blocks = For(column, columns, tuple(body), LoopKind.PARALLEL)
        return (For(row, rows, (blocks,), LoopKind.PARALLEL),)

    def _filled(self, load: Load, firsts: dict[Var, Var]) -> tuple[Buffer, list[Stmt]]:
        """A local buffer with what a block reads, in the order in which it is wanted."""
        inside, inner = self._inside(), self.nest.inner
        value = rebuild_expr(load, replacing(self._values(firsts, inside)))
        local = self._local(load)
        if not _is_shuffled(local, self.vector_bytes):
            store = Store(local, (self._place(inside, self.across),), value)
            return local, [Alloc(local), self._loops((inner, self.across), inside, (store,))]
        other = self._local(load)
        store = Store(local, (self._place(inside, inner),), value)
        lines = self._loops((inner, self.across), inside, (store,), vector_kind(self.size))
        filled: list[Stmt] = [Alloc(local), lines, Alloc(other)]
        for _ in range(self.size.bit_length() - 1):
            filled.append(shuffle(local, other, Var(self.fresh("place"))))
            local, other = other, local
        return local, filled

    def _local(self, load: Load) -> Buffer:
        return Buffer(self.fresh("turned"), load.buffer.type, (self.size**2,))

    def _inside(self) -> dict[Var, Var]:
        """Names for the places in a block."""
        return {v: Var(self.fresh(stem(v.name))) for v in (self.across, self.nest.inner)}

    def _values(self, firsts: dict[Var, Var], inside: dict[Var, Var]) -> dict[Var, Expr]:
        return {v: (affine(firsts[v]).scaled(self.size) + affine(inside[v])).expr for v in inside}

    def _place(self, inside: dict[Var, Var], outer: Var) -> Expr:
        """Where in a local buffer the element lies that lies in this place of the block, line after
        line of that loop."""
        (within,) = (v for v in inside if v is not outer)
        return (affine(inside[outer]).scaled(self.size) + affine(inside[within])).expr

    def _loops(
        self,
        order: tuple[Var, Var],
        inside: dict[Var, Var],
        body: Body,
        kind: LoopKind = LoopKind.PARALLEL,
    ) -> For:
        outer, inner = (inside[v] for v in order)
        loop = For(inner, self.size, body, kind)
        return For(outer, self.size, (loop,), LoopKind.PARALLEL)
