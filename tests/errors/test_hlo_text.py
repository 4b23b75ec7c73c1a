"""Bad HLO text: one clear error with line and column."""

from __future__ import annotations

import pytest

import ccodegen.ops  # noqa: F401  (fills the registry)
from ccodegen.hlo.limits import MAX_NESTING
from ccodegen.hlo.text import parse
from ccodegen.support.errors import InputError

P = "p = f32[2] parameter(0)\n"

BAD = [
    ("", 1, 1, "expected a computation"),
    ("HloModule m", 1, 12, "expected a computation"),
    ("HloModule m, colour=3\nENTRY e { " + P + "}", 1, 14, "no attribute 'colour'"),
    ("HloModule m, replica_count=2, replica_count=2", 1, 31, "given twice"),
    ("ENTRY e {\n  a = f32[2] parameter(0)\n  b = f32[2] negate(x)\n}", 3, 21, "instruction 'x'"),
    ("ENTRY e {\n  b = f32[2] negate(a)\n  a = f32[2] parameter(0)\n}", 2, 21, "'a' before"),
    ("ENTRY e { " + P + "p = f32[2] negate(p) }", 2, 1, "'p' is defined twice"),
    ("f { " + P + "}\nf { " + P + "}", 3, 1, "'f' is defined twice"),
    ("ENTRY e { " + P + "}\nENTRY f { " + P + "}", 3, 1, "more than one ENTRY"),
    ("ENTRY e { ROOT " + P + "ROOT q = f32[2] negate(p) }", 2, 1, "more than one ROOT"),
    ("ENTRY e { " + P + "q = f32[2] negat(p) }", 2, 12, "unknown opcode 'negat'"),
    ("ENTRY e { " + P + "q = f32[2] add(p) }", 2, 12, "add takes 2 operands, not 1"),
    ("ENTRY e { " + P + "q = f32[2] negate(p), axis=1 }", 2, 23, "negate has no attribute 'axis'"),
    ("ENTRY e { " + P + "q = f32[2] negate(f32[3] p) }", 2, 19, "'p' has the shape f32[2]"),
    ("ENTRY e { q = f32[2,2] iota() }", 1, 24, "needs the attribute 'iota_dimension'"),
    ("ENTRY e { " + P + "q = f32[2] parameter(0) }", 2, 1, "number 0 is given twice"),
    ("ENTRY e { p = f32[2] parameter(1) }", 1, 9, "none is number 0"),
    ("ENTRY e { p = f32[2] parameter(-1) }", 1, 32, "cannot be negative"),
    ("ENTRY e { " + P + "q = f32[2] call(p), to_apply=g }", 2, 30, "no computation 'g'"),
    ("ENTRY e { " + P + "q = f32[2] call(p), to_apply=e }", 2, 30, "no computation 'e'"),
    ("ENTRY e { " + P + "q = f32[2] neg", 2, 12, "expected an opcode"),
    ("ENTRY e { " + P, 2, 1, "the text ends here"),
    ("ENTRY e { p = f32[2", 1, 15, "expected a shape"),
    ("ENTRY e { }", 1, 9, "has no instructions"),
    ("ENTRY e (p: f32[2]) -> f32[3] { " + P + "}", 1, 24, "said to return f32[3]"),
    ("ENTRY e { p = f33[2] parameter(0) }", 1, 15, "unknown element type 'f33'"),
    ("ENTRY e { p = f32[x] parameter(0) }", 1, 15, "are no dimensions"),
    ("ENTRY e { p = f32[2]{1} parameter(0) }", 1, 15, "is no order"),
    ("ENTRY e { p = f32[1099511627777] parameter(0) }", 1, 15, "more than 2^40 elements"),
    ("ENTRY e { p = f32[" + ",".join(["1"] * 65) + "] parameter(0) }", 1, 15, "65 dimensions"),
    ("ENTRY e { c = f32[2] constant({...}) }", 1, 31, "left out"),
    ("ENTRY e { c = f32[2] constant({1, ...}) }", 1, 31, "left out"),
    ("ENTRY e { c = constant(1) }", 1, 24, "a constant needs a shape"),
    ("ENTRY e { c = f32[2] constant({1}) }", 1, 33, "',' after 1 of 2 elements"),
    ("ENTRY e { c = f32[2] constant({1, 2, 3}) }", 1, 36, "'}' after 2 elements"),
    ("ENTRY e { c = f32[2,2] constant({{1, 2}, {x, 4}}) }", 1, 43, "expected a number"),
    ("ENTRY e { c = s8[3] constant({1, 2, 128}) }", 1, 37, "out of range for s8: -128 to 127"),
    ("ENTRY e { c = f32[] constant(1e39) }", 1, 30, "out of range for f32"),
    ("ENTRY e { c = s32[] constant(1.5) }", 1, 30, "expected an integer of type s32"),
    ("ENTRY e { c = pred[1] constant({maybe}) }", 1, 33, "expected true, false, 0 or 1"),
    ("ENTRY e { c = token[] constant(1) }", 1, 32, "no literals of shape token[]"),
    ("/* never closed\nENTRY e { " + P + "}", 1, 1, "the comment is never closed"),
    ("ENTRY e { p = f32[] parameter(0), sharding={replicated", 1, 55, "expected '}'"),
    ("ENTRY e { p = f32[] parameter(0), metadata={op_name=\"x }", 1, 53, "the string is never"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "column", "message"), BAD)
def test_location_and_message(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(text, "model.hlo")
    location = caught.value.location
    assert message in caught.value.message
    assert location and (location.line, location.column) == (line, column)
    assert str(caught.value).startswith(f"model.hlo:{line}:{column}: error: ")


def test_caret_and_hint() -> None:
    with pytest.raises(InputError) as caught:
        parse("ENTRY e {\n  alpha = f32[] parameter(0)\n  b = f32[] negate(alpa)\n}", "m.hlo")
    assert str(caught.value) == (
        "m.hlo:3:20: error: there is no instruction 'alpa' before this one\n"
        "    b = f32[] negate(alpa)\n"
        "                     ^\n"
        "hint: did you mean 'alpha'?"
    )


def test_elided_constant_says_how_to_print_it() -> None:
    with pytest.raises(InputError) as caught:
        parse("ENTRY e { c = f32[2] constant({...}) }")
    assert "print_large_constants" in caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "ENTRY e { p = " + "(" * 10_000 + ")" * 10_000 + " parameter(0) }",
        "ENTRY e { p = f32[] parameter(0) q = f32[] " + "negate(" * 5_000 + "p" + ")" * 5_000 + "}",
        "ENTRY e { p = f32[] parameter(0), sharding=" + "{" * 10_000 + "}" * 10_000 + "}",
        "ENTRY e { c = " + "(" * 200 + ")" * 200 + " constant(" + "(" * 200 + ")" * 200 + ") }",
    ],
)
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=f"nested more than {MAX_NESTING} deep"):
        parse(text)


def test_every_truncation_is_an_input_error() -> None:
    text = (
        'HloModule m, input_output_alias={ {}: (0, {}, may-alias) }\n\nFileNames\n1 "a.py"\n\n'
        "f {\n  x = f32[] parameter(0)\n  ROOT y = f32[] negate(x)\n}\n\n"
        "ENTRY e (p: f32[2,2]) -> f32[2] {\n  p = f32[2,2]{1,0} parameter(0)\n"
        '  c = f32[] constant(nan(0x1)), metadata={op_name="n" source_line=3}\n'
        "  ROOT r = f32[2] reduce(p, c), dimensions={1}, to_apply={\n"
        "    a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n}\n"
    )
    parse(text)
    for end in range(text.rindex("}")):
        try:
            parse(text[:end])
        except InputError as error:
            assert error.location
        else:
            # What ends after a whole computation is a module.
            assert text[:end].rstrip().endswith("}")
