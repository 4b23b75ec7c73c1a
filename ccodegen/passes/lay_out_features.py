"""Layout of convolutional networks: features in the last dimension, where vectors run along them.

    c = convolution(x, k), dim_labels=bf01_oi01->bf01    →    x' = transpose(x)
    y = tanh(c)                                               c' = convolution(x', k), …b01f_…->b01f
                                                              y' = tanh(c'), y = transpose(y')

What is computed from such transposes element by element, by windows, slices or reduces is computed
before them instead, and so are reshapes that leave batch and features alone, so that those between
the layers meet no reader and vanish; with them such that the program has itself, around layers that
want features last.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from ccodegen.hlo import opdef
from ccodegen.hlo.attributes import Attributes, DimLabels
from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.rewrite import rewrite_computation, transform_computations
from ccodegen.hlo.shape import ArrayShape
from ccodegen.ops.build import broadcast, constant, is_static, turned
from ccodegen.ops.contraction import contraction
from ccodegen.ops.convolution import Convolution, has_features_behind_batch, is_depthwise
from ccodegen.ops.creation import Constant
from ccodegen.ops.gather import Gather
from ccodegen.ops.lines import reads_runs
from ccodegen.ops.movement import (
    Broadcast,
    Concatenate,
    Pad,
    Reshape,
    Reverse,
    Slice,
    Transpose,
)
from ccodegen.ops.reduce import Reduce
from ccodegen.ops.reduce_window import ReduceWindow
from ccodegen.passes.context import PassContext
from ccodegen.passes.fusion_reads import is_free
from ccodegen.support.decisions import decided

_Item = TypeVar("_Item")

_DEEPEST = 32  # what is computed, made of other operands
# In floating-point operations of a matrix product, by measurement.
_PRICE_OF_ELEMENT = 20  # transposed, beyond what packing takes where features are not last
_GAIN = 0.2  # of the operations of a convolution, more where it can be done by Winograd's algorithm
_GAIN_OF_DEPTHWISE = 20  # vectors run along features, else there are none
_GAIN_OF_FEW = 15  # or fewer as there are more: of lines that need not be packed


def lay_out_features(module: Module, context: PassContext) -> Module:
    """Convolutions with features behind the batch get them behind all other dimensions, and what is
    computed from them too, where that gains more than the transposes that stay take.

    The order of sums changes: not in strict mode. Not on processors without vectors.
    """
    if context.strict or not context.has_vectors:
        return module
    return transform_computations(module, _laid_out)


def _laid_out(computation: Computation) -> Computation:
    sweep = _Sweep(computation)
    moved = rewrite_computation(computation, sweep.visit)
    if not sweep.gain:
        return computation
    price = sweep.price(moved)
    layout = "last" if sweep.gain > price else "where they are"
    why = f"worth {sweep.gain:.2g} operations, transposes {price:.2g}"
    decided(computation.name, f"features of convolutions {layout}", why)
    return moved if sweep.gain > price else computation


def _gain(convolution: Instruction) -> float:
    shape, gain = contraction(convolution), _GAIN
    if is_depthwise(convolution):
        gain = _GAIN_OF_DEPTHWISE
    elif reads_runs(convolution):
        gain = _GAIN_OF_FEW / shape.sizes[1]
    return gain * 2 * math.prod(shape.sizes) * math.prod(shape.batch)


def _last(items: Sequence[_Item]) -> tuple[_Item, ...]:
    """What belongs to dimensions with features behind the batch, for those with features last."""
    return (items[0], *items[2:], items[1])


def _places(rank: int) -> tuple[int, ...]:
    """Where dimensions with features behind the batch are among those with features last."""
    return (0, rank - 1, *range(1, rank - 1))


class _Sweep:
    """`_moved`: of an array with features behind the batch, the one with features last. `_fixed`:
    those that are transposed for it, or made of such."""

    def __init__(self, computation: Computation) -> None:
        self.gain = 0.0
        self._users = computation.users
        self._fixed: set[Instruction] = set()
        self._moved: dict[Instruction, Instruction] = {}
        self._transposes: set[Instruction] = set()
        self._computed: set[Instruction] = set()  # those of which the moved one is not made

    def price(self, computation: Computation) -> float:
        """Of the transposes that the computation has of those made here."""
        there = self._transposes.intersection(computation.instructions)
        return sum(_PRICE_OF_ELEMENT * t.array_shape.size for t in there)

    def visit(self, instruction: Instruction) -> Instruction:
        if not _may_move(instruction):
            return instruction
        attributes = instruction.attributes
        if isinstance(attributes, Convolution):
            return self._convolution(instruction, attributes)
        if not self._computed.intersection(_images(instruction)):
            return instruction
        if isinstance(attributes, Reduce):
            return self._reduce(instruction, attributes)
        if isinstance(attributes, Transpose):
            return turned(instruction, instruction.operands[0], attributes.dimensions)
        moved = _alike(instruction, self._forth)
        return instruction if moved is None else self._back(moved)

    def _convolution(self, instruction: Instruction, attributes: Convolution) -> Instruction:
        labels = attributes.dim_labels
        if not has_features_behind_batch(labels):
            return instruction
        self.gain += _gain(instruction)
        lhs, rhs = instruction.operands
        moved = _features_last(len(labels.kernel_spatial))
        if isinstance(rhs.attributes, Constant) or attributes.feature_group_count > 1:
            features = labels.kernel_input_feature, labels.kernel_output_feature
            rhs = self._transposed(rhs, (*labels.kernel_spatial, *features))
        else:  # it is packed in any case
            moved = replace(
                moved,
                kernel_input_feature=labels.kernel_input_feature,
                kernel_output_feature=labels.kernel_output_feature,
                kernel_spatial=labels.kernel_spatial,
            )
        result = replace(
            instruction,
            shape=_moved_shape(instruction.array_shape),
            operands=(self._forth(lhs), rhs),
            attributes=replace(attributes, dim_labels=moved),
        )
        return self._back(result)

    def _reduce(self, instruction: Instruction, attributes: Reduce) -> Instruction:
        """A reduce whose result is the same either way: of what stays, the order does."""
        rank = instruction.operands[0].array_shape.rank
        kept = [d for d in _last(range(rank)) if d not in attributes.dimensions]
        if len(instruction.operands) != 2 or kept != sorted(kept):
            return instruction
        dimensions = tuple(sorted(_places(rank)[d] for d in attributes.dimensions))
        reduced = replace(attributes, dimensions=dimensions)
        value, initial = instruction.operands
        return replace(instruction, operands=(self._forth(value), initial), attributes=reduced)

    def _forth(self, value: Instruction) -> Instruction:
        """The value with features last."""
        if value not in self._moved:
            self._moved[value] = self._made(value)
        return self._moved[value]

    def _made(self, value: Instruction) -> Instruction:
        is_computed_twice = len(self._users.get(value, ())) > 1 and not is_free(value)
        made = None if is_computed_twice else self._free(value, 0)
        if made is None and _regroups(value):
            made = _alike(value, self._forth)
        return made or self._transposed(value, _last(range(value.array_shape.rank)))

    def _free(self, value: Instruction, depth: int) -> Instruction | None:
        """The value with features last, where that takes no more transposes."""
        if value in self._moved:
            return self._moved[value]
        if value in self._fixed or depth > _DEEPEST or not _may_move(value):
            return None
        made = self._free_of(value, depth)
        if made is None:
            self._fixed.add(value)
        else:
            self._moved[value] = made
        return made

    def _free_of(self, value: Instruction, depth: int) -> Instruction | None:
        rank = value.array_shape.rank
        places = _places(rank)
        match value.attributes:
            case Broadcast(dimensions):
                sizes, along = _last(value.array_shape.dimensions), [places[d] for d in dimensions]
                return broadcast(value, value.operands[0], sizes, along)
            case Constant():
                return self._transposed(value, _last(range(rank)))
            case Transpose(dimensions):
                return value.operands[0] if dimensions == places else None
        return _alike(value, lambda operand: self._free(operand, depth + 1))

    def _transposed(self, value: Instruction, order: Sequence[int]) -> Instruction:
        if isinstance(value.attributes, Constant):
            return constant(value, value.attributes.literal.array.transpose(order))
        result = turned(value, value, order)
        if result not in (value, *value.operands):
            self._transposes.add(result)
        return result

    def _back(self, moved: Instruction) -> Instruction:
        """The transpose with features behind the batch, which has the name of the original."""
        result = self._transposed(moved, _places(moved.array_shape.rank))
        self._moved[result] = moved
        self._computed.add(result)
        return result


def _features_last(spatial: int) -> DimLabels:
    """Of so many spatial dimensions: the kernel's features come last too."""
    inner, last = tuple(range(1, spatial + 1)), spatial + 1
    kernel = tuple(range(spatial))
    return DimLabels(0, last, inner, spatial, last, kernel, 0, last, inner)


def _regroups(instruction: Instruction) -> bool:
    """Whether it is a reshape that leaves batch and features alone."""
    if not isinstance(instruction.attributes, Reshape):
        return False
    (operand,) = instruction.operands
    before, after = operand.array_shape.dimensions, instruction.array_shape.dimensions
    return min(len(before), len(after)) >= 2 and before[:2] == after[:2]


def _moved_shape(shape: ArrayShape) -> ArrayShape:
    return shape.with_dimensions(_last(shape.dimensions))


def _may_move(instruction: Instruction) -> bool:
    return not instruction.control_predecessors and is_static(instruction)


def _images(instruction: Instruction) -> tuple[Instruction, ...]:
    """The operands that have features where the result has them."""
    is_gather = isinstance(instruction.attributes, Gather)
    return instruction.operands[:1] if is_gather else instruction.operands


def _alike(
    instruction: Instruction, forth: Callable[[Instruction], Instruction | None]
) -> Instruction | None:
    """The instruction's result with features last, made of the operands that `forth` gives; None
    where that is not so simple."""
    attributes = _moved_attributes(instruction)
    if attributes is None:
        return None
    images = _images(instruction)
    moved = [forth(image) if image.array_shape.rank else image for image in images]
    found = [image for image in moved if image is not None]
    if len(found) < len(images):
        return None
    operands = (*found, *instruction.operands[len(images) :])
    shape = _moved_shape(instruction.array_shape)
    return replace(instruction, shape=shape, operands=operands, attributes=attributes)


def _moved_attributes(instruction: Instruction) -> Attributes | None:
    """Those of the same op over arrays with features last; None where that is not so simple."""
    if not isinstance(instruction.shape, ArrayShape):
        return None
    attributes, rank = instruction.attributes, instruction.array_shape.rank
    if isinstance(attributes, Gather):
        return _moved_gather(attributes, instruction.operands[0].array_shape.rank, rank)
    if _regroups(instruction):
        return attributes
    shapes = [o.shape for o in instruction.operands]
    if not all(isinstance(s, ArrayShape) and s.rank in (0, rank) for s in shapes):
        return None
    match attributes:
        case Pad(padding):
            return Pad(_last(padding))
        case Slice(parts):
            return Slice(_last(parts))
        case Reverse(dimensions) | Concatenate(dimensions):
            return replace(attributes, dimensions=tuple(_places(rank)[d] for d in dimensions))
        case ReduceWindow(_, window):
            window = replace(window, dimensions=_last(window.dimensions))
            return replace(attributes, window=window)
    return attributes if opdef.get(instruction.op).elementwise else None


def _moved_gather(gather: Gather, operand_rank: int, rank: int) -> Gather | None:
    """One that takes all features as they are, such as an image's for a larger one."""
    pairs = zip(gather.offset_dims, gather.offset_operand_dims(), strict=True)
    if (1, 1) not in pairs:
        return None

    def moved(dimensions: Sequence[int]) -> tuple[int, ...]:
        return tuple(_places(operand_rank)[d] for d in dimensions)

    return replace(
        gather,
        offset_dims=tuple(sorted(_places(rank)[d] for d in gather.offset_dims)),
        collapsed_slice_dims=moved(gather.collapsed_slice_dims),
        start_index_map=moved(gather.start_index_map),
        slice_sizes=_last(gather.slice_sizes),
        operand_batching_dims=moved(gather.operand_batching_dims),
    )
