"""The loop-nest IR, whole.

    expression := Const | Var | Load | Apply
    statement  := For | If | Let | Alloc | Store | CallC | Note
    kernel     := name, buffers, statements        a C function over pointers
    step       := CallKernel | CallHook | While | Switch    what the entry function does, in order
    program    := signature, buffers in one arena, constants, kernels, steps

An expression has one scalar value and no effect. Index expressions have type INDEX. A `select` and
a logical `and`/`or` on PRED evaluate only what they need; every other operator evaluates all its
arguments, and every evaluated load is in bounds. Buffers are dense and row-major; two buffers of
one kernel never overlap.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np

from ccodegen.support.element_type import ElementType
from ccodegen.support.hooks import Request
from ccodegen.support.immutable import frozen, frozen_object, immutable
from ccodegen.support.pieces import Array, Pieces, joined

INDEX = ElementType.INDEX


def _shape(element_type: ElementType, dimensions: tuple[int, ...]) -> str:
    """As HLO writes it: `f32[4,8]`."""
    return f"{element_type.text}[{','.join(map(str, dimensions))}]"


class Space(enum.Enum):
    """Where a buffer lives."""

    ARGUMENT = enum.auto()  # the caller's memory: a parameter or a result
    CONSTANT = enum.auto()  # read-only data of the program
    ARENA = enum.auto()  # at `offset` in the scratch arena
    LOCAL = enum.auto()  # declared by Alloc inside a kernel; rank 0 is a scalar variable


@frozen_object
class Buffer:
    """A dense row-major array of elements. Compared by identity.

    `offset`: bytes from the start of the arena, for Space.ARENA only.
    """

    name: str
    type: ElementType
    dimensions: tuple[int, ...]
    space: Space = Space.LOCAL
    offset: int = 0

    @property
    def size(self) -> int:
        return math.prod(self.dimensions)

    @property
    def bytes(self) -> int:
        return self.size * self.type.bytes

    @property
    def shape(self) -> str:
        return _shape(self.type, self.dimensions)


@immutable
class Const:
    """A literal of `type`: a Python bool, int, float or complex, or an ml_dtypes scalar."""

    type: ElementType
    value: Any

    def __eq__(self, other: object) -> bool:
        """Of the same bits: 0 is not -0, and a NaN equals itself."""
        if self is other:
            return True
        if not isinstance(other, Const) or self.type is not other.type:
            return False
        if self.type.is_float or self.type.is_complex:
            return self._bits == other._bits
        return bool(self.value == other.value)

    def __hash__(self) -> int:
        is_nan = self.value != self.value
        return 0 if is_nan else hash(self.value)

    @property
    def _bits(self) -> bytes:
        return np.asarray(self.value, self.type.dtype).tobytes()


@immutable
class Var:
    """A loop index or a name bound by Let. Unique within a kernel."""

    name: str
    type: ElementType = INDEX

    def __hash__(self) -> int:
        return hash(self.name)


@immutable
class Load:
    """The element of `buffer` at `indices`, one per dimension."""

    buffer: Buffer
    indices: tuple[Expr, ...] = ()

    @property
    def type(self) -> ElementType:
        return self.buffer.type


@immutable
class Apply:
    """A scalar operator of `loop.operators`. `type` is the result's; where arguments of other
    types are taken (convert, compare, bitcast-convert, …) the operator reads theirs."""

    operator: str
    arguments: tuple[Expr, ...]
    type: ElementType

    def __hash__(self) -> int:
        """Made once: expressions are deep, and looked up often."""
        known: int | None = self.__dict__.get("_hash")
        if known is None:
            known = self.__dict__["_hash"] = hash((self.operator, self.arguments))
        return known


Expr: TypeAlias = Const | Var | Load | Apply
Index: TypeAlias = tuple[Expr, ...]


MOST_UNROLLED = 16  # turns of a loop, by C compilers, before they look for vectors


class LoopKind(enum.Enum):
    SERIAL = enum.auto()
    PARALLEL = enum.auto()  # turns are independent and may run on several threads
    APART = enum.auto()  # likewise, though what the turns write is at places that are data
    VECTOR = enum.auto()  # turns are independent: the C compiler may vectorise
    LANES = enum.auto()  # likewise; there are as few as a vector has lanes, yet none stands alone
    SINGLE = enum.auto()  # turns are independent, and each reads arrays by itself


@immutable
class For:
    """for var = 0 … extent-1. The extent is a constant or an INDEX expression."""

    var: Var
    extent: int | Expr
    body: tuple[Stmt, ...]
    kind: LoopKind = LoopKind.SERIAL


def is_unrolled(turns: object) -> bool:
    """Whether C compilers unroll a loop whose turns are known to be so many, and then see the one
    around it as the innermost."""
    return isinstance(turns, int) and turns <= MOST_UNROLLED


@immutable
class If:
    condition: Expr
    then: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...] = ()


@immutable
class Let:
    """Names a value for the rest of the enclosing block."""

    var: Var
    value: Expr


@immutable
class Alloc:
    """Declares a LOCAL buffer for the rest of the block; its contents are undefined at first."""

    buffer: Buffer


@immutable
class Store:
    buffer: Buffer
    indices: tuple[Expr, ...]
    value: Expr


@immutable
class CallC:
    """A call of a function of runtime_c: pointers to buffers first, then scalars.

    `writes`: which of the buffers it writes. `loop.library` knows what it does to them.
    """

    function: str
    header: str
    buffers: tuple[Buffer, ...]
    scalars: tuple[Expr, ...] = ()
    writes: tuple[int, ...] = (0,)


@immutable
class Note:
    """A comment for the reader: the HLO instruction and source line the next statements are of."""

    text: str


Stmt: TypeAlias = For | If | Let | Alloc | Store | CallC | Note


@frozen_object
class Kernel:
    """A function over buffers: the C function's parameters, in order.

    A buffer is `restrict` and never overlaps another one; one that is read and written (in place)
    appears once. LOCAL buffers do not appear. `origin`: what it computes, for the reader.
    """

    name: str
    buffers: tuple[Buffer, ...]
    body: tuple[Stmt, ...]
    origin: str = ""


@immutable
class CallKernel:
    """Runs a kernel over other buffers of the same types and sizes than its own (identical kernels
    are shared)."""

    kernel: Kernel
    buffers: tuple[Buffer, ...]
    origin: str = ""


@immutable
class Handed:
    """What a hook reads: a buffer, as an array of these dimensions, which are the program's and
    may differ from the buffer's (it may be that of an array of another shape)."""

    buffer: Buffer
    dimensions: tuple[int, ...]

    @property
    def shape(self) -> str:
        return _shape(self.buffer.type, self.dimensions)


@immutable
class CallHook:
    """Asks the caller of the program: hands `reads` over, and has all elements of `writes` written.
    A hook may fail, which ends the program."""

    request: Request
    reads: tuple[Handed, ...]
    writes: tuple[Buffer, ...]
    origin: str = ""


@frozen
class While:
    """Runs `condition`, and while `predicate` (PRED, rank 0) is true `body` and `condition`."""

    condition: tuple[Step, ...]
    predicate: Buffer
    body: tuple[Step, ...]
    origin: str = ""


@immutable
class Switch:
    """Runs branch `selector` (S32 or PRED, rank 0): the last one where it is out of range. For a
    PRED the first branch is for true, the second for false."""

    selector: Buffer
    branches: tuple[tuple[Step, ...], ...]
    origin: str = ""


Step: TypeAlias = CallKernel | CallHook | While | Switch


@immutable
class Argument:
    """One pointer of the C interface.

    `name` is for people (HLO parameter name or JAX path) and not yet a C identifier.
    `parameter`: flat number of the entry parameter leaf it takes, None for a pure output.
    `output`: flat number of the result leaf it returns, None for a pure input. Both set: in-out.
    `logical`: HLO's spelling of the shape that the caller has, where the memory is not simply that
    array, row-major: `f32[2,3]{0,1}` for a buffer f32[3,2].
    `initial`: not empty for state of the program's own: whoever calls it keeps the memory from call
    to call, and begins with these elements. It is none of the arguments and results.
    `size_of`: (n, d) for an s32 that says how many elements count in dimension d of parameter n or,
    if this is an output, of output n. What lies behind them is padding, not defined in outputs.
    """

    name: str
    buffer: Buffer
    parameter: int | None = None
    output: int | None = None
    logical: str = ""
    initial: tuple[int, ...] = ()
    size_of: tuple[int, ...] = ()

    @property
    def direction(self) -> str:
        """in, out, or in-out for one that is updated in place."""
        if self.output is None:
            return "in"
        return "out" if self.parameter is None else "in-out"


@immutable
class ConstantData:
    """Bytes of a CONSTANT buffer. `data`: a read-only NumPy array of its type and dimensions, or
    what computes one."""

    buffer: Buffer
    data: Array | Pieces

    @property
    def array(self) -> Array:
        return joined(self.data) if callable(self.data) else self.data

    def pieces(self) -> Iterator[Array]:
        return self.data() if callable(self.data) else iter([self.data])


@frozen_object
class Program:
    """What `emit` prints: a signature, memory, kernels, and the steps of the entry function.

    `arena_size` in bytes, exact; every arena buffer's offset is a multiple of `alignment`.
    """

    name: str
    arguments: tuple[Argument, ...]
    constants: tuple[ConstantData, ...]
    arena_size: int
    alignment: int
    kernels: tuple[Kernel, ...]
    steps: tuple[Step, ...]
    signature: str = ""
    arena_buffers: tuple[BufferLife, ...] = ()


@immutable
class BufferLife:
    """For the memory report: the steps (numbered in order of printing) in which it is alive."""

    buffer: Buffer
    first: int
    last: int
    origin: str = ""
