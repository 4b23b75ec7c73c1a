"""HloInstructionProto → the op's attributes.

An attribute is looked up in TAKERS by its name in HLO text; what is not there is the proto field
of the same name. A taker returns None where the proto does not set the attribute: it then keeps
its default.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np

from ccodegen.hlo.attributes import (
    Attributes,
    DimLabels,
    PaddingDimension,
    SliceDimension,
    Window,
    WindowDimension,
)
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.limits import MAX_RANK
from ccodegen.hlo.proto.enums import spelling
from ccodegen.hlo.proto.literals import read_literal
from ccodegen.hlo.proto.shapes import read_shape
from ccodegen.hlo.proto.sharding import device_groups, sharding
from ccodegen.hlo.proto.spelling import braced
from ccodegen.hlo.shape import ArrayShape, Shape, leaves
from ccodegen.hlo.text.literals import literal_text
from ccodegen.support.element_type import ElementType, Kind
from ccodegen.support.errors import InputError
from ccodegen.support.immutable import frozen


@frozen
class Source:
    """An instruction of a proto, and what its operand and computation ids stand for."""

    proto: Any
    operands: tuple[Instruction, ...]
    called: tuple[Computation, ...]


Taker: TypeAlias = Callable[[Source], Any]


def read_attributes(cls: type[Attributes], source: Source) -> Attributes:
    """The attributes. Raises InputError where a required one is missing or out of range."""
    values = {}
    for text_name, (field_name, _) in cls.spelled().items():
        value = TAKERS.get(text_name, _same_name(text_name))(source)
        if value is not None:
            values[field_name] = value
    for field in fields(cls):
        if field.default is MISSING and field.name not in values:
            raise InputError(f"the attribute '{field.name}' is missing")
    return cls(**values)


def _same_name(name: str) -> Taker:
    def take(source: Source) -> Any:
        value = getattr(source.proto, name, None)
        if value is None or isinstance(value, bool | int | str):
            return value
        return _shortest(value) if isinstance(value, float) else tuple(value)

    return take


def _shortest(value: float) -> float:
    """The shortest decimal number that is this float32: 0.001, not 0.0010000000474974513."""
    return float(str(np.float32(value)))


def _ints(path: str) -> Taker:
    field = attrgetter(path)
    return lambda source: tuple(field(source.proto))


def _value(path: str) -> Taker:
    field = attrgetter(path)
    return lambda source: field(source.proto)


def _unless_zero(path: str) -> Taker:
    field = attrgetter(path)
    return lambda source: field(source.proto) or None


def _enum(path: str, enum: str) -> Taker:
    field = attrgetter(path)
    return lambda source: spelling(enum, field(source.proto)) or None


def _dot_dims(name: str) -> Taker:
    def take(source: Source) -> tuple[int, ...]:
        proto = source.proto
        ragged = proto.HasField("ragged_dot_dimension_numbers")
        owner = proto.ragged_dot_dimension_numbers if ragged else proto
        return tuple(getattr(owner.dot_dimension_numbers, name))

    return take


def _called(number: int) -> Taker:
    """The called computation of this number; None where there are fewer."""
    return lambda source: source.called[number] if number < len(source.called) else None


def _to_apply(source: Source) -> Computation | None:
    """The called computation; a custom call has all of its own in a list."""
    return None if source.proto.opcode == "custom-call" else _called(0)(source)


def _branch(number: int) -> Taker:
    take = _called(number)
    return lambda source: take(source) if _has_pred_index(source) else None


def _branches(source: Source) -> tuple[Computation, ...]:
    return () if _has_pred_index(source) else source.called


def _has_pred_index(source: Source) -> bool:
    """Whether the conditional has a true and a false branch instead of numbered ones."""
    shape = source.operands[0].shape if source.operands else None
    return isinstance(shape, ArrayShape) and shape.element_type is ElementType.PRED


def _first_dimension(source: Source) -> int | None:
    return next(iter(source.proto.dimensions), None)


def _window(source: Source) -> Window | None:
    if not source.proto.HasField("window"):
        return None
    return Window(
        tuple(
            WindowDimension(
                size=d.size,
                stride=d.stride,
                pad_low=d.padding_low,
                pad_high=d.padding_high,
                lhs_dilation=d.base_dilation,
                rhs_dilation=d.window_dilation,
                reversal=d.window_reversal,
            )
            for d in source.proto.window.dimensions
        )
    )


def _dim_labels(source: Source) -> DimLabels | None:
    if not source.proto.HasField("convolution_dimension_numbers"):
        return None
    numbers = source.proto.convolution_dimension_numbers
    lhs, kernel, output = (
        (
            getattr(numbers, f"{part}_{first}_dimension"),
            getattr(numbers, f"{part}_{second}_dimension"),
            tuple(getattr(numbers, f"{part}_spatial_dimensions")),
        )
        for part, first, second in (
            ("input", "batch", "feature"),
            ("kernel", "input_feature", "output_feature"),
            ("output", "batch", "feature"),
        )
    )
    unknown = (_unlabelled(lhs), _unlabelled(kernel), _unlabelled(output))
    return DimLabels(*lhs, *kernel, *output, unknown)


def _unlabelled(labels: tuple[int, int, tuple[int, ...]]) -> int:
    """How many dimensions before the last labelled one have no role."""
    first, second, spatial = labels
    positions = {first, second, *spatial}
    if len(positions) != 2 + len(spatial) or not positions <= set(range(MAX_RANK)):
        raise InputError("the dimension numbers of the convolution are inconsistent")
    return 1 + max(positions) - len(positions)


def _padding(source: Source) -> tuple[PaddingDimension, ...]:
    return tuple(
        PaddingDimension(d.edge_padding_low, d.edge_padding_high, d.interior_padding)
        for d in source.proto.padding_config.dimensions
    )


def _slice(source: Source) -> tuple[SliceDimension, ...]:
    dimensions = source.proto.slice_dimensions
    return tuple(SliceDimension(d.start, d.limit, d.stride) for d in dimensions)


def _slice_sizes(source: Source) -> tuple[int, ...] | str | None:
    """Of a gather, or the slices that a collective permute moves, one list after the other."""
    if source.proto.opcode == "gather":
        return tuple(source.proto.gather_slice_sizes)
    sizes = list(source.proto.dynamic_slice_sizes)
    moved = [leaf for operand in source.operands for leaf in leaves(operand.shape)]
    rank = moved[0].rank if moved and isinstance(moved[0], ArrayShape) else 0
    if not sizes or not rank:
        return None
    return braced(braced(sizes[i : i + rank]) for i in range(0, len(sizes), rank))


def _comparison_type(source: Source) -> str | None:
    """How to compare, where it is not the usual way for the operands' type."""
    written = source.proto.comparison_type
    shape = source.operands[0].shape if source.operands else None
    if not isinstance(shape, ArrayShape):
        return written or None
    kind = shape.element_type.kind
    usual = {Kind.SIGNED: "SIGNED", Kind.UNSIGNED: "UNSIGNED", Kind.PRED: "UNSIGNED"}
    return None if written == usual.get(kind, "FLOAT") else written or None


def _literal(source: Source) -> Any:
    if not source.proto.HasField("literal"):
        return None
    literal = read_literal(source.proto.literal)
    if source.proto.opcode == "constant":
        return literal
    return f"{literal.shape} {literal_text(literal)}"


def _operand_precision(source: Source) -> str | None:
    listed = source.proto.precision_config.operand_precision
    names = [spelling("precision", value) for value in listed]
    return braced(names) if set(names) - {"default"} else None


def _result_accuracy(source: Source) -> str | None:
    accuracy = source.proto.result_accuracy
    if accuracy.HasField("tolerance"):
        t = accuracy.tolerance
        return f"{{tolerance={{atol={t.atol:g},rtol={t.rtol:g},ulps={t.ulps}}}}}"
    return f"{{mode={spelling('accuracy mode', accuracy.mode)}}}" if accuracy.mode else None


def _operand_layouts(source: Source) -> tuple[Shape, ...] | None:
    if not source.proto.constrain_layout:
        return None
    return tuple(read_shape(shape) for shape in source.proto.operand_shapes_with_layout)


def _outfeed_shape(source: Source) -> Shape | None:
    set_ = source.proto.HasField("outfeed_shape")
    return read_shape(source.proto.outfeed_shape) if set_ else None


def _aliasing(source: Source) -> str | None:
    """`{{0}: (1, {})}`: output leaf, operand and its leaf."""
    pairs = [
        f"{braced(a.output_shape_index)}: ({a.operand_index}, {braced(a.operand_shape_index)})"
        for a in source.proto.output_operand_aliasing
    ]
    return f"{{{', '.join(pairs)}}}" if pairs else None


def _source_target_pairs(source: Source) -> str:
    return braced(braced((p.source, p.target)) for p in source.proto.source_target_pairs)


def _thread(source: Source) -> str | None:
    name: str = source.proto.async_execution_thread
    return None if name == "main" else name


def _config(name: str) -> Taker:
    return lambda source: getattr(source.proto, name).decode("utf-8", "surrogateescape")


def _prefetch_index(source: Source) -> int | None:
    return next(iter(source.proto.cross_program_prefetch_index), None)


def _domain(source: Source) -> str:
    """The proto's "entry" is the operand's side, which HLO text calls the exit."""
    entry, exit_ = (
        sharding(getattr(source.proto, name)) if source.proto.HasField(name) else "{}"
        for name in ("domain_exit_sharding", "domain_entry_sharding")
    )
    return f'{{kind="sharding", entry={entry}, exit={exit_}}}'


_GATHER = (
    "offset_dims",
    "collapsed_slice_dims",
    "start_index_map",
    "operand_batching_dims",
    "start_indices_batching_dims",
)
_SCATTER = (
    "update_window_dims",
    "inserted_window_dims",
    "scatter_dims_to_operand_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
)


def _index_vector_dim(source: Source) -> int:
    scatters = source.proto.opcode == "scatter"
    kind = "scatter" if scatters else "gather"
    number: int = getattr(source.proto, f"{kind}_dimension_numbers").index_vector_dim
    return number


def _rng_algorithm_or_dot_algorithm(source: Source) -> str | None:
    if source.proto.opcode == "rng-bit-generator":
        return spelling("random algorithm", source.proto.rng_algorithm)
    return spelling("dot algorithm", source.proto.precision_config.algorithm) or None


def _is_associative(source: Source) -> bool | None:
    return {"true": True, "false": False}.get(
        spelling("tri-state", source.proto.is_associative)
    )


TAKERS: dict[str, Taker] = {
    "algorithm": _rng_algorithm_or_dot_algorithm,
    "api_version": _enum("custom_call_api_version", "custom call version"),
    "async_execution_thread": _thread,
    "batch_group_count": _unless_zero("batch_group_count"),
    "body": _called(0),
    "branch_computations": _branches,
    "called_computations": lambda source: source.called,
    "calls": _called(0),
    "channel_id": _unless_zero("channel_id"),
    "condition": _called(1),
    "conv_kind": lambda source: None,  # an older name of convolution_kind
    "convolution_kind": _enum("conv_kind", "convolution kind"),
    "cross_program_prefetch_index": _prefetch_index,
    "dim_labels": _dim_labels,
    "direction": _value("comparison_direction"),
    "distribution": _enum("distribution", "random distribution"),
    "domain": _domain,
    "false_computation": _branch(1),
    "feature_group_count": _unless_zero("feature_group_count"),
    "fft_type": _enum("fft_type", "FFT type"),
    "index": _value("tuple_index"),
    "index_vector_dim": _index_vector_dim,
    "infeed_config": _config("infeed_config"),
    "inferred_dimension": _first_dimension,
    "iota_dimension": _first_dimension,
    "is_associative": _is_associative,
    "kind": _value("fusion_kind"),
    "left_side": _value("triangular_solve_options.left_side"),
    "lhs_batch_dims": _dot_dims("lhs_batch_dimensions"),
    "lhs_contracting_dims": _dot_dims("lhs_contracting_dimensions"),
    "lhs_ragged_dims": _ints("ragged_dot_dimension_numbers.lhs_ragged_dimensions"),
    "literal": _literal,
    "lower": lambda source: (
        source.proto.cholesky_options.lower or source.proto.triangular_solve_options.lower
    ),
    "number": _value("parameter_number"),
    "operand_layout_constraints": _operand_layouts,
    "operand_precision": _operand_precision,
    "outfeed_config": _config("outfeed_config"),
    "outfeed_shape": _outfeed_shape,
    "output_to_operand_aliasing": _aliasing,
    "padding": _padding,
    "padding_type": _enum("padding_type", "padding type"),
    "replica_groups": lambda source: device_groups(source.proto),
    "result_accuracy": _result_accuracy,
    "rhs_batch_dims": _dot_dims("rhs_batch_dimensions"),
    "rhs_contracting_dims": _dot_dims("rhs_contracting_dimensions"),
    "rhs_group_dims": _ints("ragged_dot_dimension_numbers.rhs_group_dimensions"),
    "scatter": _called(1),
    "schedule": _enum("custom_call_schedule", "custom call schedule"),
    "select": _called(0),
    "slice": _slice,
    "slice_sizes": _slice_sizes,
    "source_target_pairs": _source_target_pairs,
    "to_apply": _to_apply,
    "transpose_a": _enum("triangular_solve_options.transpose_a", "transpose"),
    "true_computation": _branch(0),
    "type": _comparison_type,
    "unit_diagonal": _value("triangular_solve_options.unit_diagonal"),
    "window": _window,
    **{name: _ints(f"gather_dimension_numbers.{name}") for name in _GATHER},
    **{name: _ints(f"scatter_dimension_numbers.{name}") for name in _SCATTER},
}
