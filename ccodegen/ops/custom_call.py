"""custom-call: an op that HLO does not define, found by the name of its target.

`register_custom_call` tells what a target means; `ops/custom_calls/` holds what is built in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

from ccodegen.hlo.attributes import Attributes, AttrKind, DimLabels, Window, attr
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import Shape
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.backend_config import backend_config_text
from ccodegen.ops.build import derived
from ccodegen.ops.creation import Parameter
from ccodegen.ops.io import asked
from ccodegen.ops.lowering import NestScope
from ccodegen.support.errors import UnsupportedError
from ccodegen.support.hooks import IO, Function, Hook, Request
from ccodegen.support.immutable import frozen, immutable
from ccodegen.support.user_targets import add_user_target, is_user_target


@frozen
class CustomCall(Attributes):
    """`operand_layout_constraints` None: there are none; `literal`: `s32[] 1`, as written."""

    custom_call_target: str = attr(AttrKind.STRING)
    window: Window | None = attr(AttrKind.WINDOW, None)
    dim_labels: DimLabels | None = attr(AttrKind.DIM_LABELS, None)
    feature_group_count: int = attr(AttrKind.INT, 1)
    batch_group_count: int = attr(AttrKind.INT, 1)
    operand_layout_constraints: tuple[Shape, ...] | None = attr(AttrKind.SHAPES, None)
    custom_call_has_side_effect: bool = attr(AttrKind.BOOL, False)
    to_apply: Computation | None = attr(AttrKind.COMPUTATION, None)
    called_computations: tuple[Computation, ...] = attr(AttrKind.COMPUTATIONS, ())
    output_to_operand_aliasing: str = attr(AttrKind.RAW, "")
    padding_type: str = attr(AttrKind.ENUM, "")
    literal: str = attr(AttrKind.RAW, "")
    operand_precision: str = attr(AttrKind.RAW, "")
    schedule: str = attr(AttrKind.ENUM, "")
    api_version: str = attr(AttrKind.ENUM, "")


Expand: TypeAlias = Callable[[Instruction], Instruction]
Nest: TypeAlias = Callable[[NestScope, Instruction], None]
Evaluate: TypeAlias = Callable[..., Any]


@immutable
class CustomCallDef:
    """What a target of custom-call means: `expand` alone, `evaluate` with `nest`, or the host.

    `expand(instruction)`: an instruction of HLO's own ops that takes its place, or the very
    instruction where it cannot. `evaluate` and `nest`: as in OpDef. Operands and results are
    logical arrays: layouts do not matter here. `asks_host`: the caller of the program computes it;
    `host`, as in `IO.calls`, does where that names no other function. `honours_layouts`: `nest`
    gets arrays in the layouts that the call says.
    """

    target: str
    expand: Expand | None = None
    evaluate: Evaluate | None = None
    nest: Nest | None = None
    asks_host: bool = False
    host: Function | None = None
    honours_layouts: bool = False


_TARGETS: dict[str, CustomCallDef] = {}


def register_custom_call(definition: CustomCallDef) -> CustomCallDef:
    """Adds a target that is built in. Each is registered once."""
    assert definition.target not in _TARGETS, definition.target
    _TARGETS[definition.target] = definition
    return definition


def register_by_user(definition: CustomCallDef) -> None:
    """Adds a target that is no part of the package, or replaces what was known of it."""
    add_user_target(definition.target)
    _TARGETS[definition.target] = definition


def definition_of(instruction: Instruction) -> CustomCallDef | None:
    """What is known of a custom-call's target; None for other ops and unknown targets."""
    attributes = instruction.attributes
    if not isinstance(attributes, CustomCall):
        return None
    return _TARGETS.get(attributes.custom_call_target)


def is_routine(instruction: Instruction) -> bool:
    """Whether it is a custom call that is built in and computes its results from operands alone."""
    definition = definition_of(instruction)
    if definition is None or is_user_target(definition.target):
        return False
    return definition.nest is not None


def call_request(instruction: Instruction) -> Request | None:
    """What is asked of the host, where that computes this custom call."""
    definition = definition_of(instruction)
    if definition is None or not definition.asks_host:
        return None
    return Request(Hook.CALL, definition.target, backend_config_text(instruction))


def with_hosts(io: IO) -> IO:
    """With the functions that were registered, where it has none of its own."""
    registered = {t: d.host for t, d in _TARGETS.items() if d.host is not None}
    return replace(io, calls={**registered, **io.calls})


def expand(instruction: Instruction) -> Instruction:
    """The instruction as HLO's own ops, where its target means that; else itself."""
    definition = definition_of(instruction)
    if definition is None or definition.expand is None:
        return instruction
    return definition.expand(instruction)


def evaluate(evaluator: Any, instruction: Instruction, *operands: Any) -> Any:
    definition = definition_of(instruction)
    if definition is not None and definition.evaluate is not None:
        return definition.evaluate(evaluator, instruction, *operands)
    request = call_request(instruction)
    if request is not None:
        return asked(evaluator, instruction, request, operands, instruction.shape)
    parameters = tuple(
        derived(o, "parameter", o.shape, (), Parameter(n))
        for n, o in enumerate(instruction.operands)
    )
    alone = replace(instruction, operands=parameters, control_predecessors=())
    expanded = expand(alone)
    if expanded is alone:
        raise _unsupported(instruction, "in the evaluator")
    return evaluator.call(Computation("expanded", parameters, expanded), *operands)


def nest(scope: NestScope, instruction: Instruction) -> None:
    definition = definition_of(instruction)
    if definition is None or definition.nest is None:
        raise _unsupported(instruction, "in C")
    definition.nest(scope, instruction)


def _unsupported(instruction: Instruction, where: str) -> UnsupportedError:
    target = attributes_of(instruction, CustomCall).custom_call_target
    definition = definition_of(instruction)
    if definition is None:
        hint = f"tell what it means: ccodegen.register_custom_call({target!r}, …)"
        return UnsupportedError(f"custom-call to '{target}'", instruction.location, hint)
    hint = f"register_custom_call({target!r}, …, evaluate=f)" if is_user_target(target) else ""
    return UnsupportedError(f"this custom-call to '{target}' {where}", instruction.location, hint)


register(OpDef("custom-call", CustomCall, (0, None), evaluate=evaluate, nest=nest))
