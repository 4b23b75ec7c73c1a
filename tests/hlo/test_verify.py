"""The verifier: what it lets pass, and where it points."""

from __future__ import annotations

from dataclasses import replace

import pytest

import ccodegen.ops  # noqa: F401  (fills the registry)
from ccodegen.hlo import opdef
from ccodegen.hlo.attributes import NO_ATTRIBUTES
from ccodegen.hlo.ir import Alias, Instruction
from ccodegen.hlo.shape import shape_text
from ccodegen.hlo.text import parse
from ccodegen.hlo.text.shapes import shape_from_text
from ccodegen.hlo.verify import compatible, verify
from ccodegen.support.errors import CcodegenError, InputError
from tests.shared import corpus_dir

REDUCE = """
f { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY e {
  p = f32[2,3] parameter(0)
  z = f32[] constant(0)
  ROOT r = RESULT reduce(p, z), dimensions={1}, to_apply=f
}"""


def test_right_module_passes() -> None:
    verify(parse(REDUCE.replace("RESULT", "f32[2]{0}")))


@pytest.mark.parametrize("result", ["f32[3]", "s32[2]", "f32[2,1]", "(f32[2])"])
def test_wrong_result_shape_is_located(result: str) -> None:
    with pytest.raises(InputError, match="reduce gives f32") as caught:
        verify(parse(REDUCE.replace("RESULT", result)))
    location = caught.value.location
    assert location and (location.line, location.column) == (6, 8)


def test_dot_may_declare_its_type() -> None:
    text = """ENTRY e { a = s8[2,3] parameter(0) b = s8[3,4] parameter(1)
      c = s32[2,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} }"""
    verify(parse(text))


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("f32[2]{0}", "f32[2]", True),
        ("f32[<=2]", "f32[2]", True),
        ("f32[?]", "f32[7]", True),
        ("f32[2]", "f32[3]", False),
        ("f32[2]", "f64[2]", False),
        ("(f32[2], token[])", "(f32[2], token[])", True),
        ("(f32[2])", "(f32[2], f32[2])", False),
        ("token[]", "opaque[]", False),
    ],
)
def test_compatible(a: str, b: str, same: bool) -> None:
    assert compatible(shape_from_text(a), shape_from_text(b)) is same


def test_hand_made_instructions() -> None:
    module = parse("ENTRY e { p = f32[2] parameter(0) ROOT r = f32[2] negate(p) }")
    (p,) = module.entry.parameters
    root = module.entry.root
    stranger = replace(p, name="q")
    bad: list[tuple[Instruction, str]] = [
        (replace(root, op="negated"), "unknown opcode"),
        (replace(root, operands=(p, p)), "negate takes 1 operand, not 2"),
        (replace(root, op="iota", attributes=NO_ATTRIBUTES), "attributes of iota"),
        (replace(root, operands=(stranger,)), "'q' is not a parameter of 'e'"),
        (replace(root, shape=shape_from_text("f32[1]"), op="copy"), ""),
    ]
    for instruction, message in bad:
        if not message and opdef.get("copy").infer is None:
            continue
        with pytest.raises(InputError, match=message):
            verify(replace(module, entry=replace(module.entry, root=instruction)))


def test_parameter_numbers() -> None:
    module = parse("ENTRY e { p = f32[] parameter(0) q = f32[] parameter(1) }")
    p, q = module.entry.parameters
    with pytest.raises(InputError, match="has another number"):
        verify(replace(module, entry=replace(module.entry, parameters=(q, p))))


@pytest.mark.parametrize(
    ("aliases", "message"),
    [
        ((Alias((), 1),), "there is no parameter 1"),
        ((Alias((0,), 0),), r"f32\[2\] has no element 0"),
        ((Alias((), 0), Alias((), 0)), "twice"),
    ],
)
def test_aliases(aliases: tuple[Alias, ...], message: str) -> None:
    module = parse("ENTRY e { p = f32[2] parameter(0) ROOT r = f32[2] negate(p) }")
    verify(replace(module, aliases=(Alias((), 0),)))
    with pytest.raises(InputError, match=message):
        verify(replace(module, aliases=aliases))


def test_corpus_modules_that_run_pass() -> None:
    failures = []
    for suite in ("stablehlo_testdata", "xla_run"):
        for path in sorted((corpus_dir() / suite).glob("*.hlo"))[::4]:
            module = parse(path.read_text(), path.name)
            try:
                verify(module)
            except CcodegenError as error:
                failures.append(str(error))
    assert not failures


def test_shape_text_without_layouts() -> None:
    assert shape_text(shape_from_text("b(f32[2]{0})"), layouts=False) == "b(f32[2])"
