"""Which rule writes which op."""

from __future__ import annotations

from collections.abc import Sequence

from ccodegen.hlo import opdef
from ccodegen.hlo.dynamic import dynamic_dimensions
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.fft import Fft
from ccodegen.passes.dynamic import (
    contractions,
    elementwise,
    movement,
    reductions,
    reshaping,
    scattering,
    sizes,
)
from ccodegen.passes.dynamic.values import Padded
from ccodegen.passes.dynamic.writer import Rule, Writer


def _fft(write: Writer, operands: Sequence[Padded]) -> Padded:
    return movement.leading(len(attributes_of(write.plain, Fft).fft_length))(write, operands)


_RULES: dict[str, Rule] = {
    "add-dependency": sizes.handed_on,
    "batch-norm-grad": reductions.batch_norm,
    "batch-norm-inference": reductions.batch_norm,
    "batch-norm-training": reductions.batch_norm,
    "bitcast-convert": sizes.batch_of_bits,
    "broadcast": movement.whole_dimensions,
    "cholesky": movement.leading(2),
    "concatenate": movement.concatenate,
    "convolution": contractions.convolution,
    "copy": sizes.handed_on,
    "domain": sizes.handed_on,
    "dot": contractions.dot,
    "dynamic-reshape": reshaping.dynamic_reshape,
    "dynamic-slice": movement.whole_dimensions,
    "dynamic-update-slice": movement.dynamic_update_slice,
    "fft": _fft,
    "gather": movement.whole_dimensions,
    "get-dimension-size": sizes.get_dimension_size,
    "get-tuple-element": sizes.get_tuple_element,
    "opt-barrier": sizes.handed_on,
    "pad": movement.pad,
    "reduce": reductions.reduce,
    "reduce-window": reductions.reduce_window,
    "reshape": reshaping.reshape,
    "reverse": movement.reverse,
    "scatter": scattering.scatter,
    "select-and-scatter": reductions.select_and_scatter,
    "set-dimension-size": sizes.set_dimension_size,
    "slice": movement.whole_dimensions,
    "sort": reductions.sort,
    "topk": movement.leading(1),
    "transpose": movement.whole_dimensions,
    "triangular-solve": movement.leading(2),
    "tuple": sizes.make_tuple,
}
# Without a dynamic operand all of their result counts, even if its shape says that it is dynamic.
_WHOLE = frozenset({"constant", "iota", "rng"})
_ALWAYS = frozenset({"dynamic-reshape", "get-dimension-size", "set-dimension-size"})


def written(write: Writer, operands: Sequence[Padded]) -> Padded | None:
    """The value by the op's rule; None where nothing is dynamic, and no rule needed."""
    op, usual = write.old.op, elementwise.elementwise
    rule = _RULES.get(op, usual if opdef.get(op).elementwise else None)
    if op in _ALWAYS or any(o.is_dynamic for o in operands):
        return rule(write, operands) if rule else write.refuse()
    if rule is None and op not in _WHOLE and dynamic_dimensions([write.old.shape]):
        write.refuse()
    return None
