"""What tests of passes share: before → after as text, and the same bits by the evaluator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

import ccodegen.ops  # noqa: F401  (fills the registry)
from ccodegen.hlo.evaluate import evaluate, value_leaves
from ccodegen.hlo.ir import NO_METADATA, Computation, Instruction, Module
from ccodegen.hlo.rewrite import map_computations, rewrite_computation
from ccodegen.hlo.shape import ArrayShape, leaves
from ccodegen.hlo.text import parse
from ccodegen.loop.scalar_numpy import bits_of
from ccodegen.passes.context import Pass, PassContext
from ccodegen.support.element_type import Kind
from ccodegen.support.errors import UnsupportedError
from ccodegen.target import load

STRICT = PassContext(strict=True)
DEFAULT = PassContext()
WITHOUT_VECTORS_OR_STRICT = (
    PassContext(target=load("x86-64"), strict=True),
    PassContext(target=load("cortex-m4")),
    PassContext(),
)


def module(text: str) -> Module:
    """A module out of the lines of an entry, or of a whole text."""
    if "ENTRY" not in text:
        text = f"ENTRY e {{\n{text}\n}}"
    return parse(f"HloModule m\n{text}")


def rewrites(
    before: str, after: str, transform: Pass, context: PassContext = STRICT, exact: bool = True
) -> None:
    """The pass makes `after` of `before`, up to names, and the same bits come out."""
    old = module(before)
    new = transform(old, context)
    assert canonical(new) == canonical(module(after))
    if exact:
        assert same_bits(old, new)


def leaves_alone(text: str, transform: Pass, context: PassContext = STRICT) -> None:
    """The pass finds nothing to do, and says so by giving the same object."""
    old = module(text)
    assert transform(old, context) is old, canonical(transform(old, context))


def canonical(original: Module) -> str:
    """The module's text with all names made of numbers, and without metadata."""

    def transform(
        computation: Computation, callees: dict[Computation, Computation]
    ) -> Computation:
        numbers = {i: n for n, i in enumerate(computation.instructions)}
        assert len(numbers) == len(computation.instructions)
        supply = iter(range(len(numbers)))

        def visit(instruction: Instruction) -> Instruction:
            name = f"v{next(supply)}"
            return replace(instruction, name=name, metadata=NO_METADATA, annotations=())

        return replace(rewrite_computation(computation, visit, callees), name=f"f{len(callees)}")

    return map_computations(original, transform).to_text()


def same_bits(old: Module, new: Module, seed: int = 0) -> bool:
    """Both give the same bits for random arguments; a NaN is a NaN. False: cannot be evaluated."""
    arguments = list(random_arguments(old, np.random.default_rng(seed)))
    try:
        expected = evaluate(old, *arguments)
        got = evaluate(new, *arguments)
    except UnsupportedError:
        return False
    for a, b in zip(value_leaves(expected), value_leaves(got), strict=True):
        assert_same_bits(a, b)
    return True


def assert_same_bits(a: Any, b: Any) -> None:
    if a is None or b is None:
        assert a is b
        return
    assert (a.dtype, a.shape) == (b.dtype, b.shape)
    for x, y in zip(_parts(a), _parts(b), strict=True):
        different = bits_of(x) != bits_of(y)
        nan = (x != x) & (y != y)
        assert not np.any(different & ~nan), (a, b)


def random_arguments(program: Module, random: np.random.Generator) -> Iterator[Any]:
    """A value for each leaf of the entry's parameters, zeros and the infinite among them."""
    for parameter in program.entry.parameters:
        for leaf in leaves(parameter.shape):
            yield random_array(leaf, random) if isinstance(leaf, ArrayShape) else None


def random_array(shape: ArrayShape, random: np.random.Generator) -> np.ndarray[Any, Any]:
    element_type, size = shape.element_type, shape.dimensions
    if element_type.kind is Kind.PRED:
        return random.integers(0, 2, size).astype(np.bool_)
    if element_type.is_integer:
        return random.integers(-4, 5, size).astype(np.int64).astype(element_type.dtype)
    values = random.standard_normal(size) * 3
    special = random.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0], size)
    mixed = np.where(random.random(size) < 0.25, special, values)
    with np.errstate(all="ignore"):
        return np.asarray(mixed).astype(element_type.dtype)


def _parts(array: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
    return [array.real, array.imag] if np.iscomplexobj(array) else [array]
