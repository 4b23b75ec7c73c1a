"""Every op on every element type that it takes: three ways of running it give the same bits."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import ccodegen.ops  # noqa: F401  (fills the registry)
from ccodegen.commands.support_matrix import Key, Probe, markdown, probe_all
from ccodegen.hlo.opdef import all_ops
from ccodegen.loop import interpret
from ccodegen.ops.samples import filled, texts
from ccodegen.support.element_type import HLO_TYPES
from tests.c_library import CLibrary
from tests.passes.checking import assert_same_bits, random_arguments
from tests.three_ways import plain_target

DOCS = Path(__file__).resolve().parents[2] / "docs" / "support.md"
OPCODES = [op.opcode for op in all_ops() if texts(op)]
# XLA infers a shape for these, and no backend of it computes them.
FLOATS = {n for n, t in HLO_TYPES.items() if t.is_float}
COMPLEX = {"c64", "c128"}
UNDEFINED = {
    "clamp": COMPLEX,
    "maximum": COMPLEX,
    "minimum": COMPLEX,
    "mulhi": FLOATS | COMPLEX | {"pred"},
    "remainder": COMPLEX,
    "shift-left": FLOATS | COMPLEX,
    "shift-right-arithmetic": FLOATS | COMPLEX,
    "shift-right-logical": FLOATS | COMPLEX,
    "sort": COMPLEX,
    "stochastic-convert": HLO_TYPES.keys() - FLOATS,
    "topk": COMPLEX,
}


@pytest.fixture(scope="module")
def probes() -> dict[Key, Probe]:
    draw = partial(random_arguments, random=np.random.default_rng(0))
    return probe_all(plain_target(), lambda module: [np.asarray(a) for a in draw(module)])


@pytest.fixture(scope="module")
def library(probes: dict[Key, Probe]) -> tuple[CLibrary, dict[Key, int]]:
    """All samples that compile, in strict mode, and their numbers."""
    keys = [key for key, found in probes.items() if found.built]
    programs = [found.built.program for found in probes.values() if found.built]
    return CLibrary(programs, plain_target(), strict=True), {k: n for n, k in enumerate(keys)}


@pytest.mark.parametrize("opcode", OPCODES)
def test_three_ways_agree_to_the_bit(
    opcode: str, probes: dict[Key, Probe], library: tuple[CLibrary, dict[Key, int]]
) -> None:
    compiled, numbers = library
    for key, number in numbers.items():
        found = probes[key]
        if key[0] != opcode or found.results is None or found.built is None:
            continue
        interpreted = interpret.run(found.built.program, found.arguments)
        ran = compiled.run(number, found.arguments)
        for expected, *got in zip(found.results, interpreted, ran, strict=True):
            for array in got:
                assert_same_bits(expected, array)


def test_the_page_is_up_to_date(probes: dict[Key, Probe]) -> None:
    hint = "run `ccodegen ops --markdown > docs/support.md`"
    assert DOCS.read_text(encoding="utf-8") == markdown(probes), hint


def test_what_xla_takes_is_taken(probes: dict[Key, Probe]) -> None:
    """XLA's parser infers the shape of each sample's root, and so checks its types."""
    pytest.importorskip("jaxlib")
    missing = [
        f"{opcode} {name}"
        for opcode, name in _taken_by_xla()
        if (opcode, HLO_TYPES[name]) not in probes and name not in UNDEFINED.get(opcode, ())
    ]
    assert not missing


def _taken_by_xla() -> Iterator[tuple[str, str]]:
    """In another process, for jaxlib ends the process for some modules."""
    pending = [
        (op.opcode, t.text, filled(text, t))
        for op in all_ops()
        for text in texts(op)
        for t in HLO_TYPES.values()
    ]
    while pending:
        lines = "\n".join(json.dumps(text) for _, _, text in pending)
        done = subprocess.run(
            [sys.executable, "-c", _ASK], input=lines, text=True, capture_output=True
        )
        answers = done.stdout.split()
        for (opcode, name, _), answer in zip(pending, answers, strict=False):
            if answer == "yes":
                yield opcode, name
        pending = pending[len(answers) + 1 :]


_ASK = """
import json, sys
from jaxlib import _hlo
for line in sys.stdin:
    try:
        _hlo.hlo_module_from_text(json.loads(line))
        print("yes", flush=True)
    except Exception:
        print("no", flush=True)
"""
