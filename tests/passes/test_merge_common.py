"""Common subexpressions: what is merged, and what only looks equal."""

from __future__ import annotations

from ccodegen.passes.merge_common import merge_common
from tests.passes.checking import STRICT, leaves_alone, module, rewrites

X = "x = f32[4] parameter(0)\n"


def test_equal_instructions_become_one() -> None:
    rewrites(
        X + "a = f32[4] negate(x)\n b = f32[4] negate(x)\n ROOT r = f32[4] add(a, b)",
        X + "a = f32[4] negate(x)\n ROOT r = f32[4] add(a, a)",
        merge_common,
    )


def test_equal_constants_become_one_bit_for_bit() -> None:
    rewrites(
        "a = f32[] constant(nan)\n b = f32[] constant(nan)\n ROOT r = f32[] add(a, b)",
        "a = f32[] constant(nan)\n ROOT r = f32[] add(a, a)",
        merge_common,
    )
    leaves_alone(
        "a = f32[] constant(0)\n b = f32[] constant(-0)\n ROOT r = f32[] add(a, b)", merge_common
    )


def test_operand_order_and_side_effects_count() -> None:
    leaves_alone(
        X + "y = f32[4] parameter(1)\n a = f32[4] add(x, y)\n b = f32[4] add(y, x)\n"
        "ROOT r = f32[4] multiply(a, b)",
        merge_common,
    )
    leaves_alone(
        "l = f32[] constant(0)\n h = f32[] constant(1)\n"
        "a = f32[4] rng(l, h), distribution=rng_uniform\n"
        "b = f32[4] rng(l, h), distribution=rng_uniform\n ROOT r = f32[4] add(a, b)",
        merge_common,
    )


def test_equal_factorisations_become_one() -> None:
    call = (
        '(f32[4,4]{0,1}, s32[4], s32[]) custom-call(x), custom_call_target="lapack_sgetrf_ffi",'
        " operand_layout_constraints={f32[4,4]{0,1}}"
    )
    first = (
        f"x = f32[4,4]{{0,1}} parameter(0)\na = {call}\n"
        "p = f32[4,4]{0,1} get-tuple-element(a), index=0\n"
    )
    root = "ROOT r = (f32[4,4]{0,1}, s32[4]) tuple(p, q)"
    rewrites(
        f"{first}b = {call}\nq = s32[4] get-tuple-element(b), index=1\n{root}",
        f"{first}q = s32[4] get-tuple-element(a), index=1\n{root}",
        merge_common,
    )


def test_factorisations_with_other_options_do_not() -> None:
    call = (
        '(f32[4,4]{0,1}, s32[]) custom-call(x), custom_call_target="lapack_spotrf_ffi",'
        " backend_config={uplo = %d : ui8}"
    )
    leaves_alone(
        f"x = f32[4,4]{{0,1}} parameter(0)\na = {call % 76}\nb = {call % 85}\n"
        "p = f32[4,4]{0,1} get-tuple-element(a), index=0\n"
        "q = f32[4,4]{0,1} get-tuple-element(b), index=0\n"
        "ROOT r = f32[4,4]{0,1} add(p, q)",
        merge_common,
    )


def test_equal_computations_become_one() -> None:
    body = "{ a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"
    text = (
        "f " + body + "g " + body + "ENTRY e { x = f32[4] parameter(0)\n z = f32[] constant(0)\n"
        "a = f32[] reduce(x, z), dimensions={0}, to_apply=f\n"
        "b = f32[] reduce(x, z), dimensions={0}, to_apply=g\n"
        "ROOT r = (f32[], f32[]) tuple(a, b) }"
    )
    merged = merge_common(module(text), STRICT)
    first, second = merged.entry.root.operands
    assert first is second
    assert len(merged.computations) == 2
