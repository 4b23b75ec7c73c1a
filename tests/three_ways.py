"""One module, three ways: the evaluator, the loop program interpreted, the loop program as C.

    check("ENTRY e { x = f32[3] parameter(0)  ROOT y = negate(x) }", x)
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import ccodegen.ops  # noqa: F401  (fills the registry)
from ccodegen.backend.build import Build, build
from ccodegen.backend.memory_form import inputs_in_memory, outputs_in_memory
from ccodegen.backend.options import BuildOptions, Parameter
from ccodegen.hlo.evaluate import evaluate, value_leaves
from ccodegen.hlo.ir import Module
from ccodegen.hlo.text import parse
from ccodegen.hlo.verify import verify as verify_module
from ccodegen.loop import interpret
from ccodegen.loop.verify import verify as verify_program
from ccodegen.support.element_type import from_dtype
from ccodegen.target import Target, load
from tests.c_library import CLibrary
from tests.passes.checking import assert_same_bits, random_arguments

Array = np.ndarray[Any, Any]

# Relative and absolute; narrower floats than f16 agree within their last bits.
TOLERANCES = {"f32": 1e-4, "c64": 1e-4, "f64": 1e-6, "c128": 1e-6, "f16": 2e-3, "bf16": 2e-2}
NARROW_TOLERANCE = 0.07


@dataclass(frozen=True)
class Case:
    """A module to try. `arguments`: by flat parameter."""

    module: Module
    arguments: tuple[Array, ...]
    strict: bool = False
    donate: tuple[Parameter, ...] = ()


@dataclass(frozen=True)
class Prepared:
    """A case built, with what the evaluator says; arrays as they lie in memory. `counts`: by
    output, which elements are defined; None: all."""

    case: Case
    built: Build
    expected: tuple[Array, ...]
    counts: tuple[Array | None, ...] = ()

    def compare(self, got: Sequence[Array], way: str) -> None:
        """Asserts that these results are the expected ones."""
        assert len(got) == len(self.expected), way
        for number, (e, g) in enumerate(zip(self.expected, got, strict=True)):
            assert (e.dtype, e.shape) == (g.dtype, g.shape), (way, number)
            counts = dict(enumerate(self.counts)).get(number)
            if counts is not None:
                e, g = e[counts > 0], g[counts > 0]
            if self.case.strict:
                assert_same_bits(e, g)
            else:
                assert_close(e, g, f"{way}, output {number}")

    def interpret(self) -> None:
        """Runs the loop program in the interpreter, and compares."""
        self.compare(interpret.run(self.built.program, self.case.arguments), "interpreted")


@functools.cache
def plain_target() -> Target:
    """A machine with vectors of 16 bytes, whose code any compiler for this processor takes."""
    target = load("x86-64")
    return replace(target, machine=replace(target.machine, vector_bytes=16, vector_registers=16))


def with_vectors(target: Target, size: int) -> Target:
    """With vectors of so many bytes, 32 or 64, whatever this machine has: what is decided after
    their width is decided so everywhere."""
    machine = replace(target.machine, vector_bytes=size, vector_registers=size // 2)
    return replace(target, machine=machine)


def check(
    program: Module | str,
    *arguments: Array | np.generic,
    strict: bool = False,
    donate: Sequence[Parameter] = (),
    target: Target | None = None,
) -> Build:
    """Asserts that all three ways agree: to the bit in strict mode, else within tolerance.

    In default mode the C is optimised by gcc. `program`: a module, or HLO text, of which the first
    line may be left out. Without arguments the parameters get random values. Returns what was
    built.
    """
    module = module_of(program)
    given = tuple(map(np.asarray, arguments))
    given = given or tuple(random_arguments(module, np.random.default_rng(0)))
    chosen = target or plain_target()
    prepared = prepare(Case(module, given, strict, tuple(donate)), chosen)
    prepared.interpret()
    compilers = ("tcc", "gcc") if strict else ("gcc",)
    library = CLibrary([prepared.built.program], chosen, strict, compilers)
    prepared.compare(library.run(0, prepared.case.arguments), "compiled")
    return prepared.built


def module_of(program: Module | str) -> Module:
    if isinstance(program, Module):
        return program
    return parse(program if program.startswith("HloModule") else f"HloModule m\n{program}")


def prepare(case: Case, target: Target) -> Prepared:
    """Evaluates, builds and verifies a case."""
    result = evaluate(case.module, *case.arguments)
    expected = tuple(np.asarray(v) for v in value_leaves(result) if v is not None)
    options = BuildOptions(target, donate=case.donate, strict=case.strict)
    built = build(case.module, options)
    verify_module(built.optimized)
    verify_program(built.program)
    assert built.program.arena_size >= built.lower_bound
    there = tuple(inputs_in_memory(built.program, case.arguments))
    results, counts = outputs_in_memory(built.program, expected)
    return Prepared(replace(case, arguments=there), built, tuple(results), tuple(counts))


def assert_close(expected: Array, got: Array, what: str) -> None:
    """Within the tolerance of the type; integers and pred exactly."""
    element_type = from_dtype(expected.dtype)
    if element_type.is_float or element_type.is_complex:
        tolerance = TOLERANCES.get(element_type.text, NARROW_TOLERANCE)
        wide = np.complex128 if element_type.is_complex else np.float64
        with np.errstate(all="ignore"):
            close = np.isclose(
                expected.astype(wide), got.astype(wide), tolerance, tolerance, equal_nan=True
            )
    else:
        close = expected == got
    assert np.all(close), f"{what}: expected\n{expected}\ngot\n{got}"
