"""Layouts: bitcast and copy become what they do to the logical value."""

from __future__ import annotations

from ccodegen.hlo.text import parse
from ccodegen.passes.normalise_layouts import normalise_layouts
from ccodegen.passes.settle_entry_layout import settle_entry_layout
from tests.passes.checking import STRICT, canonical, module, rewrites


def test_bitcast_of_equal_layouts_is_a_reshape() -> None:
    rewrites(
        "x = f32[2,3]{1,0} parameter(0)\n b = f32[6]{0} bitcast(x)\n ROOT r = f32[6] negate(b)",
        "x = f32[2,3] parameter(0)\n b = f32[6] reshape(x)\n ROOT r = f32[6] negate(b)",
        normalise_layouts,
    )


def test_bitcast_to_another_layout_is_a_transpose() -> None:
    rewrites(
        "x = f32[2,3]{1,0} parameter(0)\n b = f32[3,2]{0,1} bitcast(x)\n"
        "ROOT r = f32[3,2]{1,0} negate(b)",
        "x = f32[2,3] parameter(0)\n b = f32[3,2] transpose(x), dimensions={1,0}\n"
        "ROOT r = f32[3,2] negate(b)",
        normalise_layouts,
    )


def test_bitcast_reads_the_layout_of_a_bitcast() -> None:
    rewrites(
        "x = f32[2,2]{1,0} parameter(0)\n a = f32[2,2]{0,1} bitcast(x)\n"
        "b = f32[2,2]{0,1} bitcast(a)\n c = f32[4]{0} bitcast(b)\n ROOT r = f32[4] negate(c)",
        "x = f32[2,2] parameter(0)\n a = f32[2,2] transpose(x), dimensions={1,0}\n"
        "t = f32[2,2] transpose(a), dimensions={1,0}\n c = f32[4] reshape(t)\n"
        "ROOT r = f32[4] negate(c)",
        normalise_layouts,
    )


def test_arrays_that_go_in_and_out_are_row_major() -> None:
    rewrites(
        "x = f32[2,3]{0,1} parameter(0)\n c = f32[2,3]{1,0} copy(x)\n"
        "n = f32[2,3]{0,1} negate(c)\n ROOT r = (f32[2,3]{0,1}) tuple(n)",
        "x = f32[2,3] parameter(0)\n n = f32[2,3] negate(x)\n ROOT r = (f32[2,3]) tuple(n)",
        normalise_layouts,
    )


def test_twice_is_once() -> None:
    once = normalise_layouts(
        module("x = f32[2,3]{1,0} parameter(0)\n ROOT r = f32[2,3]{0,1} copy(x)"), STRICT
    )
    assert canonical(normalise_layouts(once, STRICT)) == canonical(once)


def test_the_header_says_the_layouts_of_the_interface() -> None:
    text = (
        "HloModule m, entry_computation_layout={(f32[2,3]{0,1})->f32[2,3]{1,0}}\n"
        "ENTRY e { x = f32[2,3]{1,0} parameter(0)\n ROOT n = f32[2,3]{0,1} negate(x) }"
    )
    settled = settle_entry_layout(parse(text), STRICT)
    assert canonical(settled) == canonical(
        module(
            "x = f32[2,3]{0,1} parameter(0)\n c = f32[2,3]{1,0} copy(x)\n"
            "n = f32[2,3]{0,1} negate(c)\n ROOT r = f32[2,3]{1,0} copy(n)"
        )
    )
