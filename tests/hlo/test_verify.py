"""The verifier: what it lets pass, and where it points."""

from __future__ import annotations

from dataclasses import replace

import pytest

import ccodegen.ops  # noqa: F401  (fills the registry)
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
        (replace(root, shape=shape_from_text("f32[1]"), op="copy"), r"copy gives f32\[2\]"),
    ]
    for instruction, message in bad:
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


OPERANDS = """a = f32[4,2,3] parameter(0)
  b = bf16[4,3,5] parameter(1)
  groups = s32[7] parameter(2)
  experts = f32[7,4,3,5] parameter(3)
  image = f16[2,8,8,6] parameter(4)
  kernel = f16[3,3,3,4] parameter(5)
  scale = f8e8m0fnu[4,2,1] parameter(6)
  rhs_scale = f8e8m0fnu[4,1,5] parameter(7)
"""


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        (
            "dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
            "rhs_contracting_dims={1}",
            "f32[4,2,5]",
        ),
        ("dot(a, groups)", "f32[4,2,3,7]"),
        (
            "ragged-dot(a, experts, groups), lhs_batch_dims={0}, rhs_batch_dims={1}, "
            "lhs_contracting_dims={2}, rhs_contracting_dims={2}, lhs_ragged_dims={1}, "
            "rhs_group_dims={0}",
            "f32[4,2,5]",
        ),
        (
            "ragged-dot(a, b, groups), lhs_batch_dims={0}, rhs_batch_dims={0}, "
            "lhs_contracting_dims={2}, rhs_contracting_dims={1}, lhs_ragged_dims={2}",
            "f32[7,4,2,5]",
        ),
        (
            "scaled-dot(a, b, scale, rhs_scale), lhs_batch_dims={0}, rhs_batch_dims={0}, "
            "lhs_contracting_dims={2}, rhs_contracting_dims={1}",
            "f32[4,2,5]",
        ),
        (
            "convolution(image, kernel), window={size=3x3 stride=2x2 pad=0_1x0_1}, "
            "dim_labels=b01f_01io->bf01, feature_group_count=2",
            "f16[2,4,4,4]",
        ),
    ],
)
def test_contractions_without_a_result_shape(text: str, shape: str) -> None:
    module = parse(f"ENTRY e {{ {OPERANDS} ROOT r = {text} }}")
    verify(module)
    assert str(module.entry.root.shape) == shape
    wider = parse(f"ENTRY e {{ {OPERANDS} ROOT r = {shape.replace('f16', 'f32')} {text} }}")
    verify(wider)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dot(a, b), lhs_contracting_dims={2}, rhs_contracting_dims={2}", "contracting dimensions"),
        ("f32[2] dot(a, groups)", r"dot gives f32\[4,2,3,7\]"),
        ("ragged-dot(a, b, groups)", "one ragged dimension"),
        (
            "convolution(image, kernel), window={size=2x2}, dim_labels=b01f_01io->b01f, "
            "feature_group_count=2",
            "the window is of size",
        ),
        ("f32[2] rng(groups, groups), distribution=rng_uniform", "rng takes scalars"),
    ],
)
def test_wrong_contractions(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        verify(parse(f"ENTRY e {{ {OPERANDS} ROOT r = {text} }}"))


@pytest.mark.parametrize(
    ("target", "passes"),
    [("u32[10]{0:T(128)}", True), ("u32[5]{0:T(128)}", True), ("u32[5]", False)],
)
def test_bitcast_between_sizes_needs_tiles(target: str, passes: bool) -> None:
    layout = "{0:T(128)}" if "T" in target else ""
    text = f"ENTRY e {{ p = u32[10]{layout} parameter(0) ROOT b = {target} bitcast(p) }}"
    if passes:
        verify(parse(text))
    else:
        with pytest.raises(InputError, match="which has 160"):
            verify(parse(text))


def test_corpus_modules_that_parse_pass() -> None:
    """But for those that are wrong: on purpose in tests of XLA's verifier, or by mistake."""
    paths = sorted((corpus_dir() / "xla_parse").glob("*.hlo"))
    refused = []
    for path in paths:
        try:
            verify(parse(path.read_text(), path.name))
        except InputError:
            refused.append(path.name)
    ordinary = [name for name in refused if "hlo_verifier_test" not in name]
    assert len(refused) <= len(paths) * 0.0125, refused
    assert len(ordinary) <= 21, ordinary


@pytest.mark.parametrize(
    ("levels", "calls", "message"),
    [(120, 1, "more than 100 deep"), (25, 2, "more than 2^20 instructions")],
)
def test_calls_that_go_too_far(levels: int, calls: int, message: str) -> None:
    lines = ["f0 {\n  ROOT p = f32[] parameter(0)\n}"]
    for level in range(1, levels):
        body = "\n".join(
            f"  c{n} = f32[] call(c{n - 1}), to_apply=f{level - 1}" for n in range(1, calls + 1)
        )
        lines.append(f"f{level} {{\n  c0 = f32[] parameter(0)\n{body}\n}}")
    with pytest.raises(InputError) as caught:
        verify(parse("\n".join(lines)))
    assert message in caught.value.message
    assert caught.value.location is not None
