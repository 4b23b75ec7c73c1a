"""HLO text: what each part of the grammar means, and its canonical form."""

from __future__ import annotations

from dataclasses import replace

import pytest

import ccodegen.ops  # noqa: F401  (fills the registry)
from ccodegen.hlo.attributes import AttrKind, PaddingDimension, SliceDimension
from ccodegen.hlo.ir import Alias, Instruction, Module
from ccodegen.hlo.shape import UNBOUNDED, ArrayShape, BufferShape
from ccodegen.hlo.stack_frames import StackFrames
from ccodegen.hlo.text import parse, to_text
from ccodegen.hlo.text.attributes import parse_value, value_text
from ccodegen.hlo.text.cursor import Cursor
from ccodegen.hlo.text.shapes import shape_from_text
from ccodegen.hlo.verify import verify
from ccodegen.support.element_type import ElementType
from ccodegen.support.errors import InputError


def entry(body: str) -> Instruction:
    return parse(f"ENTRY e {{ {body} }}").entry.root


def round_trip(text: str) -> str:
    printed = to_text(parse(text))
    assert to_text(parse(printed)) == printed
    return printed


CANONICAL = """\
HloModule m, replica_count=2, input_output_alias={ {0}: (0, {}, may-alias) }

FileNames
1 "a \\"b\\".py"

FunctionNames
1 "<module>"

FileLocations
1 {file_name_id=1 function_name_id=1 line=9 end_line=9 column=2 end_column=7}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b)
}, execution_thread="host"

ENTRY %main (x: f32[2,3]) -> (f32[2,3], f32[2]) {
  %x = f32[2,3]{1,0:T(8,128)} parameter(0), sharding={replicated}
  %dead = f32[2,3] negate(%x)
  %zero = f32[] constant(0)
  %r = f32[2] reduce(%x, %zero), dimensions={1}, to_apply=%sum, control-predecessors={%dead}, \
metadata={op_type="red" op_name="r" source_line=3 profile_type={1} stack_frame_id=1}
  ROOT %t = (f32[2,3], f32[2]) tuple(%x, %r), backend_config={"k": [1, "}"]}
}
"""


def test_canonical_text_is_printed_as_it_was() -> None:
    assert to_text(parse(CANONICAL)) == CANONICAL


def test_module_parts() -> None:
    module = parse(CANONICAL, "a.hlo")
    assert module.name == "m" and module.file == "a.hlo"
    assert module.aliases == (Alias((0,), 0),)
    assert module.annotations == (("replica_count", "2"),)
    assert isinstance(module.stack_frames, StackFrames)
    assert module.stack_frames.source(1) == ('a "b".py', 9)
    assert module.stack_frames.frames[0].parent_frame_id == 0
    reduce = module.entry.root.operands[1]
    assert reduce.metadata.op_type == "red" and reduce.metadata.source_line == 3
    assert reduce.metadata.other == (("profile_type", "{1}"),)
    assert [i.name for i in reduce.control_predecessors] == ["dead"]
    assert reduce.location and (reduce.location.line, reduce.location.column) == (25, 3)
    assert module.entry.root.annotation("backend_config") == '{"k": [1, "}"]}'
    (callee,) = reduce.attributes.computations()
    assert callee.execution_thread == "host"


def test_optional_parts_are_inferred() -> None:
    text = """
    f { a = f32[2] parameter(0) // ROOT, %, ENTRY and shapes are missing
      z = f32[] constant(0)
      r = reduce(a, /* nested */ f32[] negate(f32[] z)), dimensions={0}, to_apply={
        x = f32[] parameter(0) y = f32[] parameter(1) s = f32[] add(x, y) } }"""
    module = parse(text)
    assert module.entry.name == "f" and str(module.entry.root.shape) == "f32[]"
    assert module.entry.root.operands[1].op == "negate"
    assert "%negate = f32[] negate(%z)" in round_trip(text)


def test_inline_computations_get_names() -> None:
    text = """ENTRY e { a = f32[2] parameter(0) b = f32[2] parameter(1)
      c = f32[2] map(a, b), dimensions={0}, to_apply={
        x = f32[] parameter(0) y = f32[] parameter(1) ROOT z = f32[] add(x, y) } }"""
    assert "to_apply=%computation" in round_trip(text)


def test_names_that_clash_are_made_unique() -> None:
    module = parse("ENTRY e { a = f32[] parameter(0) b = f32[] negate(a) c = f32[] negate(b) }")
    root = module.entry.root
    inner = replace(root.operands[0], name="a")
    again = replace(root, name='a"*/', operands=(inner,))
    side = replace(root, name="a.1", operands=module.entry.parameters)
    changed = Module("m", replace(module.entry, root=again, side_roots=(side,)))
    text = to_text(changed)
    assert "%a.2 = f32[] negate(%a)" in text and "%a.1 = f32[] negate(%a)" in text
    assert "ROOT %a___ = f32[] negate(%a.2)" in text
    assert to_text(parse(text)) == text


def test_async_sugar_wraps_the_op() -> None:
    text = """ENTRY e { a = f32[2] parameter(0)
      s = ((f32[2], f32[2]), f32[2], u32[]) add-start(a, a), async_execution_thread="t"
      u = ((f32[2], f32[2]), f32[2], u32[]) add-update(s)
      ROOT d = f32[2] add-done(u), metadata={op_name="n"} }"""
    done = parse(text).entry.root
    start = done.operands[0].operands[0]
    assert [done.op, start.op] == ["async-done", "async-start"]
    (wrapped,) = start.attributes.computations()
    assert wrapped.root.op == "add" and wrapped.execution_thread == "t"
    assert "async-start(%a, %a), calls=%s.async" in round_trip(text)


def test_async_sugar_must_end_what_was_started() -> None:
    with pytest.raises(InputError, match="started as add, not as negate"):
        entry(
            "a = f32[2] parameter(0) s = ((f32[2], f32[2]), f32[2]) add-start(a, a) "
            "d = f32[2] negate-done(s)"
        )


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("((f32[2]), f32[2], s32[]) copy-start(a)", "f32[2] copy-done(s)"),
        (
            "((f32[2], token[]), (f32[2], u32[], token[]), s32[]) send-start(a, t), channel_id=1",
            "(f32[2], u32[], token[]) send-done(s)",
        ),
    ],
)
def test_opcodes_that_are_also_async_sugar(start: str, end: str) -> None:
    text = f"ENTRY e {{ a = f32[2] parameter(0) t = token[] after-all() s = {start} d = {end} }}"
    done = parse(text).entry.root
    assert [done.op, done.operands[0].op] == ["async-done", "async-start"]
    verify(parse(round_trip(text)))


def test_plain_copy_start_is_no_sugar() -> None:
    root = entry(
        "a = f32[2] parameter(0) s = (f32[2], f32[2], u32[]) copy-start(a) "
        "d = f32[2] copy-done(s)"
    )
    assert [root.op, root.operands[0].op] == ["copy-done", "copy-start"]


def test_side_effects_and_dead_code_are_kept() -> None:
    text = """ENTRY e { t = token[] after-all() p = f32[] parameter(0)
      o = token[] outfeed(p, t), outfeed_shape=f32[]
      dead = f32[] negate(p) ROOT r = f32[] abs(p) }"""
    printed = round_trip(text)
    assert "outfeed(" in printed and "%dead" in printed


def test_uncalled_computations_are_kept_and_the_last_is_the_entry() -> None:
    text = "f { p = f32[] parameter(0) } g { q = f32[] parameter(0) }"
    module = parse(text)
    assert module.entry.name == "g" and [c.name for c in module.extra_computations] == ["f"]
    assert round_trip(text).count("parameter(0)") == 2


def test_entry_layout_is_kept_where_it_says_more() -> None:
    body = "ENTRY e { p = f32[2,3]{1,0} parameter(0) }"
    same = "HloModule m, entry_computation_layout={(f32[2,3]{1,0})->f32[2,3]{1,0}}\n" + body
    other = "HloModule m, entry_computation_layout={(f32[2,3]{0,1})->f32[2,3]{1,0}}\n" + body
    assert parse(same).annotations == ()
    assert "entry_computation_layout={(f32[2,3]{0,1})->f32[2,3]{1,0}}" in round_trip(other)


@pytest.mark.parametrize(
    "text",
    [
        "f32[]",
        "f32[2,3]{0,1}",
        "s32[<=8,?,4]",
        "bf16[1,2]{1,0:T(8,128)(2,1)L(3)#(u32)*(u32)E(4)S(1)SC(0:3,4)P(f32[2]{0})M(1024)}",
        "s32[]{:T(128)}",
        "(f32[2]{0}, (token[], opaque[]), ())",
        "b(f32[2,4]{1,0})",
    ],
)
def test_shapes(text: str) -> None:
    assert str(shape_from_text(text)) == text


def test_shape_values() -> None:
    shape = shape_from_text("s32[ <=8, ? ]")
    assert shape == ArrayShape(ElementType.S32, (8, UNBOUNDED), (True, True))
    assert shape_from_text("b(f32[2])") == BufferShape(ArrayShape(ElementType.F32, (2,)))


@pytest.mark.parametrize(
    ("kind", "text", "canonical"),
    [
        (AttrKind.INT, "-3", "-3"),
        (AttrKind.BOOL, "true", "true"),
        (AttrKind.FLOAT, "0.001", "0.001"),
        (AttrKind.FLOAT, "1", "1"),
        (AttrKind.INTS, "{ 0, 1 }", "{0,1}"),
        (AttrKind.INTS, "{}", "{}"),
        (AttrKind.ENUM, "API_VERSION_TYPED_FFI", "API_VERSION_TYPED_FFI"),
        (AttrKind.STRING, r'"a\n\"b\"\303\251"', r'"a\n\"b\"\303\251"'),
        (AttrKind.STRING, '"é\t"', r'"\303\251\t"'),
        (AttrKind.SHAPE, "(f32[2]{0}, s32[])", "(f32[2]{0}, s32[])"),
        (AttrKind.SHAPES, "{f32[2]{0},s32[]}", "{f32[2]{0}, s32[]}"),
        (AttrKind.WINDOW, "{size=3x3 pad=0_1x0_-1 stride=1x1}", "{size=3x3 pad=0_1x0_-1}"),
        (AttrKind.WINDOW, "{rhs_reversal=1 size=2}", "{size=2 rhs_reversal=1}"),
        (AttrKind.WINDOW, "{}", "{}"),
        (AttrKind.PADDING, "0_1x-2_2_0", "0_1x-2_2"),
        (AttrKind.PADDING, "0_1x-2_2_3", "0_1_0x-2_2_3"),
        (AttrKind.SLICE, "{[0:3:1],[2:8:3]}", "{[0:3], [2:8:3]}"),
        (AttrKind.DIM_LABELS, "0b1f_i01o->?b01f?", "0b1f_i01o->?b01f?"),
        (AttrKind.LITERAL, "s32[2]{0} {1,2}", "s32[2]{0} {1, 2}"),
        (AttrKind.LITERAL, "s32[] 1", "s32[] 1"),
        (AttrKind.RAW, "[2,4]<=[8]T(1,0), more", "[2,4]<=[8]T(1,0)"),
        (AttrKind.RAW, "{ {0,1},\n /* c */ {2,3} } b = x", "{ {0,1}, {2,3} }"),
        (AttrKind.RAW, '{a="two  spaces  }"}', '{a="two  spaces  }"}'),
    ],
)  # fmt: skip
def test_attribute_kinds(kind: AttrKind, text: str, canonical: str) -> None:
    def no_computation() -> None:
        raise AssertionError

    value = parse_value(Cursor(text), kind, no_computation)  # type: ignore[arg-type]
    assert value_text(kind, value, {}) == canonical
    assert parse_value(Cursor(canonical), kind, no_computation) == value  # type: ignore[arg-type]


def test_attribute_values() -> None:
    root = entry("p = f32[4] parameter(0) c = f32[] constant(0) q = f32[5] pad(p, c), padding=0_1")
    assert root.attributes.padding == (PaddingDimension(0, 1),)  # type: ignore[attr-defined]
    root = entry("p = f32[4] parameter(0) q = f32[2] slice(p), slice={[1:3]}")
    assert root.attributes.slice == (SliceDimension(1, 3),)  # type: ignore[attr-defined]


def test_long_chains_need_no_recursion() -> None:
    lines = [f"a{i} = f32[] negate(a{i - 1})" for i in range(1, 10_000)]
    text = "ENTRY e {\na0 = f32[] parameter(0)\n" + "\n".join(lines) + "\n}"
    assert len(parse(text).entry.instructions) == 10_000
    round_trip(text)
