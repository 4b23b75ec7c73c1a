"""How much memory and copying the programs of JAX take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from ccodegen.backend.build import Build, build
from ccodegen.backend.options import BuildOptions
from ccodegen.loop.ir import CallKernel, Step, Switch, While
from tests.three_ways import plain_target

jax = pytest.importorskip("jax")

from ccodegen.frontends.read import read  # noqa: E402
from tests.jax_programs import MODELS, SMALL  # noqa: E402

PROGRAMS = SMALL | MODELS


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_arena_is_near_the_lower_bound(name: str) -> None:
    built = compiled(name)
    assert built.program.arena_size <= 1.05 * built.lower_bound


@pytest.mark.parametrize("name", ["lstm", "heat"])
def test_loops_copy_no_arrays(name: str) -> None:
    steps = compiled(name).program.steps
    (loop,) = (step for step in steps if isinstance(step, While))
    assert not [name for name in called(loop.body) if name.startswith("copy_f32")]


def test_donated_caches_are_updated_in_place() -> None:
    built = compiled("decode_step", donate=(1, 2))
    assert not [name for name in called(built.program.steps) if name.startswith("copy")]


def compiled(name: str, donate: Sequence[int] = ()) -> Build:
    function, arguments = PROGRAMS[name]
    module = read(jax.jit(function).lower(*arguments))
    return build(module, BuildOptions(plain_target(), donate=tuple(donate)))


def called(steps: Sequence[Step]) -> Iterator[Any]:
    """The names of the kernels that the steps call, in order."""
    for step in steps:
        match step:
            case CallKernel():
                yield step.kernel.name
            case While():
                yield from called((*step.condition, *step.body))
            case Switch():
                for branch in step.branches:
                    yield from called(branch)
