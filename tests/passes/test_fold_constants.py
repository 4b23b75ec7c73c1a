"""Folding: by the evaluator's bits, and never into something much larger."""

from __future__ import annotations

from dataclasses import replace

from ccodegen.passes.fold_constants import fold_constants
from tests.passes.checking import STRICT, canonical, leaves_alone, module, rewrites, same_bits


def test_constants_are_computed() -> None:
    rewrites(
        "a = s32[2] constant({1, 2})\n b = s32[2] constant({3, 4})\n ROOT r = s32[2] add(a, b)",
        "ROOT r = s32[2] constant({4, 6})",
        fold_constants,
    )


def test_a_chain_is_folded_in_one_sweep() -> None:
    rewrites(
        "a = f32[2,2] constant({{1, 2}, {3, 4}})\n"
        "t = f32[2,2] transpose(a), dimensions={1,0}\n n = f32[2,2] negate(t)\n"
        "ROOT r = f32[4] reshape(n)",
        "ROOT r = f32[4] constant({-1, -3, -2, -4})",
        fold_constants,
    )


def test_what_is_the_same_everywhere_is_computed_once() -> None:
    rewrites(
        "a = f32[] constant(2)\n b = f32[1000,1000] broadcast(a), dimensions={}\n"
        "ROOT r = f32[1000,1000] multiply(b, b)",
        "a = f32[] constant(4)\n ROOT r = f32[1000,1000] broadcast(a), dimensions={}",
        fold_constants,
    )


def test_a_small_mask_from_iota_becomes_a_constant() -> None:
    rewrites(
        "i = s32[4] iota(), iota_dimension=0\n a = s32[] constant(2)\n"
        "b = s32[4] broadcast(a), dimensions={}\n"
        "ROOT r = pred[4] compare(i, b), direction=LT",
        "ROOT r = pred[4] constant({1, 1, 0, 0})",
        fold_constants,
    )


def test_a_large_mask_from_iota_stays_an_expression() -> None:
    leaves_alone(
        "i = s32[100000] iota(), iota_dimension=0\n a = s32[] constant(2)\n"
        "b = s32[100000] broadcast(a), dimensions={}\n"
        "ROOT r = pred[100000] compare(i, b), direction=LT",
        fold_constants,
    )


def test_broadcast_and_side_effects_stay() -> None:
    leaves_alone(
        "a = f32[2] constant({1, 2})\n ROOT b = f32[9,2] broadcast(a), dimensions={1}",
        fold_constants,
    )
    leaves_alone(
        "a = f32[] constant(0)\n b = f32[] constant(1)\n"
        "ROOT r = f32[8] rng(a, b), distribution=rng_uniform",
        fold_constants,
    )


def test_a_large_constant_with_other_users_is_not_copied() -> None:
    text = (
        "a = f32[2,2] constant({{1, 2}, {3, 4}})\n t = f32[2,2] transpose(a), dimensions={1,0}\n"
        "ROOT r = (f32[2,2], f32[2,2]) tuple(a, t)"
    )
    leaves_alone(text, fold_constants, replace(STRICT, folding_limit=8))
    folded = fold_constants(module(text), STRICT)
    assert "transpose" not in canonical(folded)


_SUM = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }\n"
_CENTERED = (
    "w = f32[2,3] constant({{1, 2, 3}, {4, 5, 9}})\n zero = f32[] constant(0)\n"
    "sums = f32[2] reduce(w, zero), dimensions={1}, to_apply=add\n three = f32[] constant(3)\n"
    "threes = f32[2] broadcast(three), dimensions={}\n means = f32[2] divide(sums, threes)\n"
    "wide = f32[2,3] broadcast(means), dimensions={0}\n centered = f32[2,3] subtract(w, wide)\n"
)


def test_large_weights_are_normalised_where_nothing_else_reads_them() -> None:
    small = replace(STRICT, folding_limit=8)
    old = module(f"{_SUM}ENTRY e {{ {_CENTERED} ROOT r = f32[2,3] multiply(centered, centered) }}")
    new = old
    for _ in range(3):  # as the pipeline repeats it
        new = fold_constants(new, small)
    assert new.entry.root.op == "constant"
    assert same_bits(old, new)
    two = "ROOT r = (f32[2,3], f32[2,3]) tuple(w, centered)"
    kept = fold_constants(module(f"{_SUM}ENTRY e {{ {_CENTERED} {two} }}"), small)
    assert "subtract" in canonical(kept)
