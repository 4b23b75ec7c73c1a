"""The passes in their order, and what runs them."""

from __future__ import annotations

from typing import TypeAlias

from ccodegen.hlo.ir import Module
from ccodegen.hlo.verify import verify
from ccodegen.passes.absorb_reduced import absorb_reduced
from ccodegen.passes.absorb_transposes import absorb_transposes
from ccodegen.passes.arrange_dots import arrange_dots
from ccodegen.passes.attend_in_blocks import attend_in_blocks
from ccodegen.passes.context import Pass, PassContext
from ccodegen.passes.depthwise_in_floats import depthwise_in_floats
from ccodegen.passes.drop_dead import drop_dead
from ccodegen.passes.expand_batch_norm import expand_batch_norm
from ccodegen.passes.expand_custom_calls import expand_custom_calls
from ccodegen.passes.expand_ops import expand_ops
from ccodegen.passes.expose_padding import expose_padding
from ccodegen.passes.few_features_in_f32 import few_features_in_f32
from ccodegen.passes.flatten_calls import flatten_calls
from ccodegen.passes.flatten_rows import flatten_rows
from ccodegen.passes.fold_constants import fold_constants
from ccodegen.passes.frame_updates import frame_updates
from ccodegen.passes.fuse import fuse
from ccodegen.passes.fuse_loops import fuse_loops
from ccodegen.passes.hoist_invariant import hoist_invariant
from ccodegen.passes.join_narrow_rows import join_narrow_rows
from ccodegen.passes.lay_out_features import lay_out_features
from ccodegen.passes.lay_out_weights import lay_out_weights
from ccodegen.passes.merge_common import merge_common
from ccodegen.passes.normalise_layouts import normalise_layouts
from ccodegen.passes.pad_dynamic import pad_dynamic
from ccodegen.passes.pointwise_as_dots import pointwise_as_dots
from ccodegen.passes.reduce_in_f32 import reduce_in_f32
from ccodegen.passes.reduce_parts import reduce_parts
from ccodegen.passes.repeat_features import repeat_features
from ccodegen.passes.round_in_floats import round_in_floats
from ccodegen.passes.settle_call_layouts import settle_call_layouts
from ccodegen.passes.settle_entry_layout import settle_entry_layout
from ccodegen.passes.settle_types import settle_types
from ccodegen.passes.simplify_algebra import simplify_algebra
from ccodegen.passes.simplify_control import simplify_control
from ccodegen.passes.simplify_movement import simplify_movement
from ccodegen.passes.split_complex import split_complex
from ccodegen.passes.split_dilated import split_dilated
from ccodegen.passes.split_reductions import split_reductions
from ccodegen.passes.split_windows import split_windows
from ccodegen.passes.thread_random_state import thread_random_state
from ccodegen.passes.trim_loops import trim_loops
from ccodegen.passes.turn_short_rows import turn_short_rows
from ccodegen.passes.unfuse import unfuse
from ccodegen.passes.unzip_narrow import unzip_narrow
from ccodegen.passes.use_winograd import use_winograd
from ccodegen.passes.widen_narrow import widen_narrow
from ccodegen.passes.windows_in_f32 import windows_in_f32
from ccodegen.support.errors import CcodegenError, InternalError
from ccodegen.support.immutable import immutable


@immutable
class Repeat:
    """Runs the passes in turn until a round changes nothing, or `limit` rounds are done."""

    passes: tuple[Pass, ...]
    limit: int = 10


Pipeline: TypeAlias = tuple[Pass | Repeat, ...]

_SIMPLIFY = Repeat(
    (
        simplify_algebra,
        simplify_movement,
        # After both: what they made of constants is folded.
        fold_constants,
        # After folding, which makes equal constants; before loops, whose elements it makes one.
        merge_common,
        # Both want constants as operands, and leave tuples for the next round's algebra.
        simplify_control,
        trim_loops,
    )
)

SIMPLIFICATION: Pipeline = (
    # First, as the other passes know no mixed precision.
    settle_types,
    # Dead code need not be copied where its computation is called.
    drop_dead,
    # The header's layouts count, not those that the root happens to have.
    settle_entry_layout,
    # Before layouts vanish.
    settle_call_layouts,
    # A bitcast means what its operand's layout says, so that no pass may replace that before.
    normalise_layouts,
    # While the order of instructions with side effects is the program's.
    thread_random_state,
    # Some become loops that call.
    expand_ops,
    # A fusion may call, and a called computation hold fusions: each inlines callees first.
    unfuse,
    flatten_calls,
    # Both leave arithmetic and tuples to simplify.
    expand_custom_calls,
    # The passes that follow know no dynamic shapes; custom calls that are ops are such by now.
    pad_dynamic,
    expand_batch_norm,
    # Leaves constants to fold.
    split_complex,
    _SIMPLIFY,
    # Dots and reduces read any order as well as another; before loops, so that no transpose is
    # hoisted.
    absorb_transposes,
    absorb_reduced,
    reduce_parts,
    # Behind those that turn dots around, or make some.
    arrange_dots,
    # Only from simplified bodies, else the state grows by what simplifying would have removed.
    hoist_invariant,
    _SIMPLIFY,
    drop_dead,
)

COMPILATION: Pipeline = (
    *SIMPLIFICATION,
    # Before all that looks for features in the last dimension.
    lay_out_features,
    pointwise_as_dots,
    few_features_in_f32,
    # These leave constants to fold; the second reads what the first converts.
    depthwise_in_floats,
    round_in_floats,
    windows_in_f32,
    # After features, as the turns in which results come have more dimensions.
    split_dilated,
    fold_constants,
    # Pads by itself, and makes products whose weights are laid out.
    use_winograd,
    # What it repeats becomes part of the padded copy.
    repeat_features,
    expose_padding,
    split_windows,
    # Its loops are updates, whose bodies are simple.
    attend_in_blocks,
    # Before fusion, which both change; several reduces may make one column.
    frame_updates,
    # Before what asks for types whose reduces may take any order.
    reduce_in_f32,
    flatten_rows,
    turn_short_rows,
    unzip_narrow,
    # What is computed has been taken apart before.
    widen_narrow,
    split_reductions,
    merge_common,
    # Folding would undo it.
    lay_out_weights,
    # Late: no pass but the last two look into fusions.
    fuse_loops,
    fuse,
    join_narrow_rows,
    # Layers that repeat are one computation, whose kernel is made once.
    merge_common,
)


def run(module: Module, pipeline: Pipeline, context: PassContext) -> Module:
    """The module after all passes, or after the first one named `context.stop_after`.

    Verifies and dumps after each pass as the context asks. Raises InternalError with the name of
    the pass that made an invalid module.
    """
    runner = _Runner(context)
    runner.dump(module, "input")
    for step in pipeline:
        module = runner.repeat(module, step) if isinstance(step, Repeat) else runner(module, step)
        if runner.stopped:
            break
    return module


class _Runner:
    """Numbers the passes run, for the names of dumps."""

    def __init__(self, context: PassContext) -> None:
        self.context = context
        self.stopped = False
        self.count = 0
        self._unchanged: dict[Pass, Module] = {}  # what each left as it was when it last ran

    def __call__(self, module: Module, transform: Pass) -> Module:
        name = transform.__name__
        known = self._unchanged.get(transform) is module
        changed = module if known else transform(module, self.context)
        self.count += 1
        if changed is not module:
            self._verify(changed, name)
            self.dump(changed, name)
        else:
            self._unchanged[transform] = module
        self.stopped = name == self.context.stop_after
        return changed

    def repeat(self, module: Module, group: Repeat) -> Module:
        for _ in range(group.limit):
            before = module
            for transform in group.passes:
                module = self(module, transform)
                if self.stopped:
                    return module
            if module is before:
                break
        return module

    def dump(self, module: Module, name: str) -> None:
        """Writes `NN_name.hlo`, which parses back to the module."""
        if self.context.dump_dir is not None:
            path = self.context.dump_dir / f"{self.count:02}_{name}.hlo"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(module.to_text(), encoding="utf-8")

    def _verify(self, module: Module, name: str) -> None:
        if not self.context.verify:
            return
        try:
            verify(module, mixed_precision=False)
        except CcodegenError as error:
            message = f"the pass {name} made an invalid module: {error.message}"
            raise InternalError(message, error.location) from error
