"""flatten_entry and bind_constants: the entry's parameters one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ccodegen.hlo.ir import Alias
from ccodegen.passes.bind_constants import bind_constants
from ccodegen.passes.flatten_entry import flatten_entry
from ccodegen.support.errors import InputError
from tests.passes.checking import STRICT, canonical, leaves_alone, module

TUPLE = (
    "x = f32[2] parameter(0)\n p = (f32[2], (s32[], f32[2])) parameter(1)\n"
    "q = (s32[], f32[2]) get-tuple-element(p), index=1\n"
    "a = f32[2] get-tuple-element(q), index=1\n ROOT r = f32[2] add(x, a)"
)
SUM = (
    "x = f32[2] parameter(0)\n w = f32[2] parameter(1)\n y = f32[2] parameter(2)\n"
    "a = f32[2] add(x, w)\n ROOT r = f32[2] subtract(a, y)"
)


def test_tuple_parameters_become_arrays() -> None:
    flat = flatten_entry(module(TUPLE), STRICT)
    assert [str(p.shape) for p in flat.entry.parameters] == ["f32[2]", "f32[2]", "s32[]", "f32[2]"]
    assert [p.name for p in flat.entry.parameters] == ["x", "p.0", "p.1.0", "p.1.1"]


def test_flat_parameters_are_left_alone() -> None:
    leaves_alone(SUM, flatten_entry)


def test_aliases_follow_their_leaf() -> None:
    aliased = replace(module(TUPLE), aliases=(Alias((), 1, (1, 1)),))
    assert flatten_entry(aliased, STRICT).aliases == (Alias((), 3),)


def test_bound_parameters_are_constants_and_the_others_move_up() -> None:
    bound = bind_constants(module(SUM), {1: np.asarray([1, 2], np.float32)})
    assert bound.parameters == (0, 2)
    assert canonical(bound.module) == canonical(
        module(
            "x = f32[2] parameter(0)\n y = f32[2] parameter(1)\n w = f32[2] constant({1, 2})\n"
            "a = f32[2] add(x, w)\n ROOT r = f32[2] subtract(a, y)"
        )
    )


def test_leaves_of_tuples_are_bound_by_flat_number() -> None:
    bound = bind_constants(module(TUPLE), {2: np.asarray(7, np.int32)})
    assert bound.parameters == (0, 1, 3)
    assert len(bound.module.entry.parameters) == 3


def test_nothing_bound_changes_nothing() -> None:
    old = module(SUM)
    bound = bind_constants(old, {})
    assert bound.module is old
    assert bound.parameters == (0, 1, 2)


@pytest.mark.parametrize(
    ("constants", "message"),
    [
        ({3: np.zeros(2, np.float32)}, "there is no parameter 3"),
        ({1: np.zeros(3, np.float32)}, "the constant for it is f32[3]"),
        ({1: np.zeros(2, np.float64)}, "the constant for it is f64[2]"),
    ],
)
def test_what_does_not_fit_is_the_users_error(
    constants: dict[int, np.ndarray[Any, Any]], message: str
) -> None:
    with pytest.raises(InputError, match=message.replace("[", r"\[")):
        bind_constants(module(SUM), constants)


def test_a_donated_parameter_cannot_be_a_constant() -> None:
    donated = replace(module(SUM), aliases=(Alias((), 1),))
    with pytest.raises(InputError, match="shares memory"):
        bind_constants(donated, {1: np.zeros(2, np.float32)})
    kept = bind_constants(donated, {0: np.zeros(2, np.float32)})
    assert kept.module.aliases == (Alias((), 0),)
