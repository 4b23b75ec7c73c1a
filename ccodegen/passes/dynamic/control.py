"""while, conditional and call: what they hand over carries its sizes with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ccodegen.hlo.ir import Computation
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.control import Call, Conditional, While
from ccodegen.passes.dynamic.values import (
    Flags,
    Padded,
    bundled,
    declared_flags,
    flags_of,
    unbundled,
    union,
)
from ccodegen.passes.dynamic.writer import Writer


class Convert(Protocol):
    def __call__(
        self, computation: Computation, given: Sequence[Flags], wanted: Flags | None = None
    ) -> tuple[Computation, Flags]:
        """The computation over bundles (see `values.bundled`), `given` being the flags of its
        parameters; and the flags of what it returns, those `wanted` among them."""


def while_loop(convert: Convert, write: Writer, operands: Sequence[Padded]) -> Padded:
    """The state is what is dynamic before the loop or after any turn of it."""
    (state,) = operands
    attributes = attributes_of(write.plain, While)
    flags = union(flags_of(state), declared_flags(write.old.shape))
    body, found = convert(attributes.body, [flags], flags)
    while found != flags:
        flags = found
        body, found = convert(attributes.body, [flags], flags)
    condition, _ = convert(attributes.condition, [flags])
    initial = bundled(state, flags)
    made = write.over(initial, condition=condition, body=body, shape=initial.shape)
    return unbundled(made, flags)


def conditional(convert: Convert, write: Writer, operands: Sequence[Padded]) -> Padded:
    """A dimension of the result is dynamic where it is so in any branch."""
    selector, *arguments = operands
    attributes = attributes_of(write.plain, Conditional)
    given = [flags_of(argument) for argument in arguments]
    wanted = declared_flags(write.old.shape)
    for branch, flags in zip(attributes.branches(), given, strict=True):
        _, found = convert(branch, [flags], wanted)
        wanted = union(wanted, found)
    made = [
        convert(branch, [flags], wanted)[0]
        for branch, flags in zip(attributes.branches(), given, strict=True)
    ]
    values = [bundled(a, flags) for a, flags in zip(arguments, given, strict=True)]
    shape = made[0].root.shape
    pair = attributes.true_computation is not None
    changed = (
        {"true_computation": made[0], "false_computation": made[1]}
        if pair
        else {"branch_computations": tuple(made)}
    )
    return unbundled(write.over(selector.value, *values, shape=shape, **changed), wanted)


def call(convert: Convert, write: Writer, operands: Sequence[Padded]) -> Padded:
    """The computation may be written anew for each set of dynamic dimensions."""
    given = [flags_of(operand) for operand in operands]
    made, found = convert(attributes_of(write.plain, Call).to_apply, given)
    values = (bundled(o, flags) for o, flags in zip(operands, given, strict=True))
    return unbundled(write.over(*values, shape=made.root.shape, to_apply=made), found)
