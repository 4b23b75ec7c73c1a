"""One random module with its arguments and the way in which it is tried."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace

import numpy as np

from ccodegen.hlo.ir import Module
from ccodegen.hlo.layout import same_memory
from ccodegen.hlo.shape import leaves
from ccodegen.hlo.text import parse
from ccodegen.hlo.verify import verify
from ccodegen.loop import interpret
from tests.random_modules.generator import random_module
from tests.random_modules.values import arguments
from tests.three_ways import Case, Prepared, plain_target, prepare


class Mode(enum.Enum):
    """What is compared, and how closely.

    STRICT: any module in strict mode; all ways agree to the bit. EXACT: one of small integers in
    default mode; all ways agree within tolerance. LOOSE: any module in default mode, where sums may
    be ordered as it likes; the C has the bits of the loop program that it is made of. XLA: an exact
    one of what XLA:CPU gives HLO's meaning.
    """

    STRICT = "strict"
    EXACT = "exact"
    LOOSE = "loose"
    XLA = "xla"

    @property
    def is_exact(self) -> bool:
        return self in (Mode.EXACT, Mode.XLA)


@dataclass(frozen=True)
class Trial:
    seed: int
    mode: Mode

    @property
    def name(self) -> str:
        return f"{self.mode.value}-{self.seed}"

    def text(self) -> str:
        for_xla = self.mode is Mode.XLA
        return random_module(self.seed, self.mode.is_exact, for_xla=for_xla).to_text()

    def case(self) -> Case:
        """The module, read back from its text, so that the text is all that a find needs."""
        module = parse(self.text(), f"{self.name}.hlo")
        verify(module)
        given = arguments(module, self.seed, self.mode.is_exact)
        donate = donatable(module) if self.seed % 3 == 0 else ()
        return Case(module, given, self.mode is Mode.STRICT, donate)

    def prepare(self) -> Prepared:
        """Evaluates, builds and interprets it. Raises whatever goes wrong, AssertionError for
        results that differ."""
        prepared = prepare(self.case(), plain_target())
        if self.mode is not Mode.LOOSE:
            prepared.interpret()
            return prepared
        case = replace(prepared.case, strict=True)
        found = interpret.run(prepared.built.program, case.arguments)
        return replace(prepared, case=case, expected=tuple(np.asarray(v) for v in found))


def donatable(module: Module) -> tuple[int, ...]:
    """Parameters that have an output of their own shape and layout."""
    outputs = dict(enumerate(leaves(module.entry.root.shape)))
    found = []
    for number, parameter in enumerate(module.entry.parameters):
        shape = parameter.shape
        fitting = [n for n, o in outputs.items() if o == shape and same_memory(o, shape)]
        if fitting:
            del outputs[fitting[0]]  # not any equal one: layouts may differ
            found.append(number)
    return tuple(found)
