"""Computations in their static form: each instruction in order, by the rule of its op."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ccodegen.hlo.dynamic import static
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.ops.build import constant, tuple_of
from ccodegen.passes.dynamic import control
from ccodegen.passes.dynamic.rules import written
from ccodegen.passes.dynamic.values import (
    Flags,
    Padded,
    as_declared,
    bundled,
    flags_of,
    unbundled,
    union,
    whole,
)
from ccodegen.passes.dynamic.writer import Writer


class Converter:
    """Writes computations, one for each set of dynamic dimensions that it is called with."""

    def __init__(self) -> None:
        self._made: dict[tuple[object, ...], tuple[Computation, Flags]] = {}

    def entry(self, old: Computation) -> Computation:
        """An entry whose parameters are static."""
        env = {parameter: whole(parameter) for parameter in old.parameters}
        self._write(old, env)
        return replace(old, root=env[old.root].value, side_roots=_side_roots(old, env))

    def computation(
        self, computation: Computation, given: Sequence[Flags], wanted: Flags | None = None
    ) -> tuple[Computation, Flags]:
        """As `control.Convert`."""
        key = (computation, tuple(given), wanted)
        if key not in self._made:
            self._made[key] = self._converted(computation, given, wanted)
        return self._made[key]

    def _converted(
        self, old: Computation, given: Sequence[Flags], wanted: Flags | None
    ) -> tuple[Computation, Flags]:
        env: dict[Instruction, Padded] = {}
        parameters = []
        for parameter, flags in zip(old.parameters, given, strict=True):
            count = sum(map(sum, flags))
            plain = replace(parameter, shape=static(parameter.shape))
            sizes = [constant(plain, np.asarray(0, np.int32))] * count
            shape = tuple_of(plain, (plain, *sizes)).shape if count else plain.shape
            parameters.append(replace(plain, shape=shape))
            env[parameter] = unbundled(parameters[-1], flags)
        self._write(old, env)
        root = env[old.root]
        flags = flags_of(root) if wanted is None else union(flags_of(root), wanted)
        new = replace(
            old,
            parameters=tuple(parameters),
            root=bundled(root, flags),
            side_roots=_side_roots(old, env),
        )
        return new, flags

    def _write(self, computation: Computation, env: dict[Instruction, Padded]) -> None:
        for instruction in computation.instructions:
            if instruction not in env:
                env[instruction] = self._value(instruction, env)

    def _value(self, old: Instruction, env: dict[Instruction, Padded]) -> Padded:
        operands = [env[o] for o in old.operands]
        plain = replace(
            old,
            shape=static(old.shape),
            operands=tuple(o.value for o in operands),
            control_predecessors=tuple(env[c].value for c in old.control_predecessors),
        )
        write = Writer(old, plain)
        if old.op == "while":
            return control.while_loop(self.computation, write, operands)
        if old.op == "conditional":
            return control.conditional(self.computation, write, operands)
        if old.op == "call":
            return control.call(self.computation, write, operands)
        return as_declared(written(write, operands) or whole(plain), old.shape)


def _side_roots(old: Computation, env: dict[Instruction, Padded]) -> tuple[Instruction, ...]:
    return tuple(dict.fromkeys(env[root].value for root in old.side_roots))
