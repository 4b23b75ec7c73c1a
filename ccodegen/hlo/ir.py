"""HLO's immutable IR: instructions form a graph, a computation names its ends, a module its entry.

Nothing here is changed in place. A pass builds new instructions and leaves the old ones alone;
what the root and the side roots do not reach is gone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from functools import cached_property

from ccodegen.hlo.attributes import NO_ATTRIBUTES, Attributes
from ccodegen.hlo.shape import ArrayShape, Shape
from ccodegen.hlo.stack_frames import StackFrames
from ccodegen.support import graph
from ccodegen.support.errors import InternalError
from ccodegen.support.immutable import frozen, frozen_object
from ccodegen.support.location import Location


@frozen
class Metadata:
    """Where an instruction comes from in the user's program.

    `other` keeps the remaining fields of `metadata={…}` in HLO's spelling, e.g.
    (("profile_type", "{1}"),).
    """

    op_type: str = ""
    op_name: str = ""
    source_file: str = ""
    source_line: int = 0
    stack_frame_id: int = 0
    other: tuple[tuple[str, str], ...] = ()


NO_METADATA = Metadata()


@frozen_object
class Instruction:
    """One operation. Compared by identity.

    `location` is its place in the text it was read from. `annotations` are attributes that any
    instruction may have and that we carry without reading them (sharding, frontend_attributes,
    statistics, backend_config, …), as (name, text in HLO's spelling).
    """

    op: str
    shape: Shape
    operands: tuple[Instruction, ...] = ()
    attributes: Attributes = NO_ATTRIBUTES
    name: str = ""
    metadata: Metadata = NO_METADATA
    location: Location | None = None
    control_predecessors: tuple[Instruction, ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()

    @property
    def array_shape(self) -> ArrayShape:
        """The shape, of which the verifier has said that it is an array's."""
        if not isinstance(self.shape, ArrayShape):
            raise InternalError(f"{self.op} '{self.name}' is not an array", self.location)
        return self.shape

    def with_operands(self, operands: tuple[Instruction, ...]) -> Instruction:
        """This instruction over other operands; itself where they are the same ones."""
        if operands == self.operands:
            return self
        # Passes make most of their instructions here, and `replace` takes four times as long.
        new = object.__new__(Instruction)
        vars(new).update(vars(self), operands=operands)
        return new

    def annotation(self, name: str) -> str | None:
        return dict(self.annotations).get(name)

    def __repr__(self) -> str:
        operands = ", ".join(o.name for o in self.operands)
        return f"<{self.name} = {self.shape} {self.op}({operands})>"


@frozen_object
class Computation:
    """A function: parameters by number, the root whose value it returns, and side roots.

    Side roots are kept although the root does not need them: instructions with side effects and,
    as long as no pass has run, dead ones that the text has.
    """

    name: str
    parameters: tuple[Instruction, ...]
    root: Instruction
    side_roots: tuple[Instruction, ...] = ()
    execution_thread: str = ""

    @cached_property
    def instructions(self) -> tuple[Instruction, ...]:
        """All of them, each after its operands and control predecessors; parameters first."""
        return post_order((*self.parameters, *self.side_roots, self.root))

    @cached_property
    def users(self) -> dict[Instruction, tuple[Instruction, ...]]:
        """The instructions that have this one as an operand, each once, in order."""
        return users_of(self.instructions)

    def __repr__(self) -> str:
        return f"<computation {self.name}>"


@frozen
class Alias:
    """Output leaf `output_index` shares memory with a leaf of parameter `parameter`."""

    output_index: tuple[int, ...]
    parameter: int
    parameter_index: tuple[int, ...] = ()
    must_alias: bool = False


@frozen_object
class Module:
    """A program. `annotations` are module attributes carried unread, in HLO's spelling;
    `stack_frames` the tables that `stack_frame_id` points into."""

    name: str
    entry: Computation
    aliases: tuple[Alias, ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()
    stack_frames: StackFrames | None = None
    extra_computations: tuple[Computation, ...] = field(default=())
    file: str = ""

    @cached_property
    def computations(self) -> tuple[Computation, ...]:
        """All computations, called ones before their callers, the entry last."""
        return called_first((*self.extra_computations, self.entry))

    def to_text(self) -> str:
        """HLO text that `hlo.text.parse` reads back to an equal module."""
        from ccodegen.hlo.text import to_text

        return to_text(self)


def users_of(instructions: Iterable[Instruction]) -> dict[Instruction, tuple[Instruction, ...]]:
    """Those of them that have one of them, or one of their operands, as an operand, each once."""
    found: dict[Instruction, dict[Instruction, None]] = {}
    for instruction in instructions:
        found.setdefault(instruction, {})
        for operand in instruction.operands:
            found.setdefault(operand, {})[instruction] = None
    return {i: tuple(users) for i, users in found.items()}


def post_order(roots: Iterable[Instruction]) -> tuple[Instruction, ...]:
    """What the roots reach, each after its operands and control predecessors."""
    return graph.post_order(roots, lambda i: (*i.control_predecessors, *i.operands))


def called_first(roots: Iterable[Computation]) -> tuple[Computation, ...]:
    """The computations that the roots reach through calls, callees first."""
    return graph.post_order(
        roots, lambda c: [called for i in c.instructions for called in i.attributes.computations()]
    )
