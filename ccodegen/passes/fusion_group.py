"""A group of instructions that are to be one kernel, and what may be in one."""

from __future__ import annotations

from dataclasses import dataclass, field

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.shape import ArrayShape, leaves
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.creation import Constant
from ccodegen.ops.reduce import Reduce
from ccodegen.support.immutable import immutable

CONTRACTIONS = frozenset({"dot", "convolution"})
_NOT_COMPUTED = frozenset(
    {"parameter", "constant", "tuple", "get-tuple-element", "while", "conditional", "fusion"}
)


@immutable
class Rows:
    """What the reduces of a group have in common: the operand's dimensions, those kept."""

    dimensions: tuple[int, ...]
    kept: tuple[int, ...]

    @property
    def row_dimensions(self) -> tuple[int, ...]:
        return tuple(self.dimensions[d] for d in self.kept)

    @property
    def keeps_last(self) -> bool:
        """Accumulators lie side by side; whole rows cannot be read again at little cost."""
        return bool(self.kept) and self.kept[-1] == len(self.dimensions) - 1

    @property
    def are_in_pieces(self) -> bool:
        """Whether others lie between the pieces of a row, which takes long to read again."""
        large = [d for d, size in enumerate(self.dimensions) if size > 1]
        kept = [d for d in large if d in self.kept]
        return not self.keeps_last and kept != large[: len(kept)]

    @property
    def output_dimensions(self) -> tuple[tuple[int, ...], ...]:
        """What a kernel with such reduces can store."""
        whole = () if self.keeps_last else (self.dimensions,)
        return (self.row_dimensions, *whole)


@dataclass(eq=False)
class Group:
    """One kernel to be. `roots`: what it stores; `read`: what it reads from memory. `straight`:
    members that an output element reads at its own index alone; `depths`: of the others, how many
    of them read each other on the way from what the kernel stores. `places`: the indices at which
    members are read, one number each; `times`: how often an element of each is computed. `hero`: a
    contraction or an op that writes in a way of its own; `before`: members that it reads. `cut`: of
    reshapes that cut rows, and of members that are read through them, the dimensions of what they
    read along which an element takes a division to find."""

    roots: list[Instruction]
    members: dict[Instruction, None] = field(default_factory=dict)
    read: set[Instruction] = field(default_factory=set)
    straight: set[Instruction] = field(default_factory=set)
    depths: dict[Instruction, int] = field(default_factory=dict)
    places: dict[Instruction, frozenset[int]] = field(default_factory=dict)
    times: dict[Instruction, float] = field(default_factory=dict)
    before: set[Instruction] = field(default_factory=set)
    cut: dict[Instruction, frozenset[int]] = field(default_factory=dict)
    hero: Instruction | None = None
    rows: Rows | None = None

    @property
    def dimensions(self) -> tuple[int, ...]:
        return result_dimensions(self.roots[0])

    def add(self, member: Instruction) -> None:
        self.members[member] = None
        self.read.discard(member)
        outside = (o for o in member.operands if o not in self.members)
        self.read.update(o for o in outside if not is_written_out(o))

    def inputs(self) -> list[Instruction]:
        """What it reads, in the order of first use if the members are."""
        return list(dict.fromkeys(o for m in self.members for o in m.operands if o in self.read))


def result_dimensions(instruction: Instruction) -> tuple[int, ...]:
    """Of an array, or of all the arrays that a reduce of several operands returns."""
    first = next(leaves(instruction.shape))
    assert isinstance(first, ArrayShape)
    return first.dimensions


def is_written_out(instruction: Instruction) -> bool:
    """Scalar constants stand in the code of each kernel that needs them."""
    attributes = instruction.attributes
    is_array = isinstance(instruction.shape, ArrayShape)
    return isinstance(attributes, Constant) and is_array and instruction.array_shape.size == 1


def is_fusible(instruction: Instruction) -> bool:
    """Whether it can be computed element by element inside of a kernel with others."""
    if instruction.op in _NOT_COMPUTED:
        return False
    if instruction.op != "reduce" and not isinstance(instruction.shape, ArrayShape):
        return False
    definition = opdef.get(instruction.op)
    return definition.element is not None and not definition.lowers_by_nest(instruction)


def rows_of(reduce: Instruction) -> Rows:
    dimensions = reduce.operands[0].array_shape.dimensions
    reduced = attributes_of(reduce, Reduce).dimensions
    return Rows(dimensions, tuple(d for d in range(len(dimensions)) if d not in reduced))
