"""simplify_control, trim_loops and hoist_invariant: what is done to while and conditional."""

from __future__ import annotations

import pytest

from ccodegen.hlo.ir import Instruction, Module
from ccodegen.ops.control import While
from ccodegen.passes.context import Pass, PassContext
from ccodegen.passes.hoist_invariant import hoist_invariant
from ccodegen.passes.pipelines import SIMPLIFICATION, run
from ccodegen.passes.simplify_algebra import simplify_algebra
from ccodegen.passes.simplify_control import simplify_control
from ccodegen.passes.trim_loops import trim_loops
from ccodegen.target import load
from tests.passes.checking import STRICT, canonical, module, rewrites, same_bits


def loop(
    state: str, init: str, body: str, following: str, limit: int = 7, after: str = "0"
) -> str:
    """A for loop over element 0 of the state; the root is a tuple of the elements `after`."""
    shapes = state.split("; ")
    gets = "\n".join(
        f"e{i} = {s} get-tuple-element(p), index={i}" for i, s in enumerate(shapes)
    )
    full = f"({', '.join(shapes)})"
    results = "\n".join(
        f"r{i} = {shapes[int(i)]} get-tuple-element(w), index={i}" for i in after.split()
    )
    return f"""
cond {{ p = {full} parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant({limit})
  ROOT c = pred[] compare(i, n), direction=LT }}
body {{ p = {full} parameter(0)
  {gets}
  one = s32[] constant(1)
  next = s32[] add(e0, one)
  {body}
  ROOT t = {full} tuple(next, {following}) }}
ENTRY e {{ {init}
  zero = s32[] constant(0)
  z = {full} tuple(zero, {', '.join(f'i{n}' for n in range(1, len(shapes)))})
  w = {full} while(z), condition=cond, body=body
  {results}
  ROOT out = ({', '.join(shapes[int(i)] for i in after.split())})"""+""" tuple({}) }}""".format(
        ", ".join(f"r{i}" for i in after.split())
    )


def the_while(program: Module) -> Instruction:
    (found,) = [i for i in program.entry.instructions if i.op == "while"]
    return found


def simplified(text: str, *passes: Pass) -> Module:
    """After the passes and a sweep that takes the tuples apart; the bits are checked."""
    old = module(text)
    new = old
    for transform in (*passes, simplify_algebra):
        new = transform(new, STRICT)
    assert same_bits(old, new)
    return new


SUM = loop(
    "s32[]; f32[4]; f32[4]",
    "i1 = f32[4] parameter(0)\n i2 = f32[4] parameter(1)",
    "s = f32[4] add(e1, e2)",
    "s, e2",
    after="1 2",
)


def test_conditional_by_a_constant() -> None:
    branches = (
        "f { a = f32[] parameter(0)\n ROOT b = f32[] negate(a) }\n"
        "g { a = f32[] parameter(0)\n ROOT b = f32[] abs(a) }\n"
    )
    entry = (
        "ENTRY e { x = f32[] parameter(0)\n i = s32[] constant(9)\n"
        "ROOT r = f32[] conditional(i, x, x), branch_computations={f, g} }"
    )
    rewrites(
        branches + entry, "x = f32[] parameter(0)\n ROOT r = f32[] abs(x)", simplify_control
    )


def test_a_loop_without_turns_is_its_operand() -> None:
    text = loop("s32[]; f32[4]", "i1 = f32[4] parameter(0)", "n = f32[4] negate(e1)", "n", 0, "1")
    new = simplified(text, simplify_control)
    assert new.entry.root.operands[0] is new.entry.parameters[0]


def test_a_loop_of_one_turn_is_its_body() -> None:
    text = loop("s32[]; f32[4]", "i1 = f32[4] parameter(0)", "n = f32[4] negate(e1)", "n", 1, "1")
    new = simplified(text, simplify_control)
    assert [i.op for i in new.entry.instructions] == ["parameter", "negate", "tuple"]


@pytest.mark.parametrize(
    ("target", "turns", "op", "whiles"),
    [
        ("x86-64", 5, "negate(e1)", 0),
        ("x86-64", 500, "negate(e1)", 1),
        ("x86-64", 50, "sine(e1)", 1),
        ("x86-64", 5, "cholesky(e1), lower=true", 1),
        ("x86-64", 5, "reverse(e1), dimensions={0}", 1),
        ("cortex-m4", 5, "negate(e1)", 1),
    ],
)
def test_a_few_turns_over_single_elements_are_written_out(
    target: str, turns: int, op: str, whiles: int
) -> None:
    text = loop(
        "s32[]; f32[4,4]", "i1 = f32[4,4] parameter(0)", f"n = f32[4,4] {op}", "n", turns, "1"
    )
    new = simplify_control(module(text), PassContext(target=load(target)))
    assert [i.op for i in new.entry.instructions].count("while") == whiles
    assert [i.op for i in new.entry.instructions].count("negate") == (0 if whiles else turns)
    assert same_bits(module(text), new)


def test_the_number_of_turns_is_marked() -> None:
    assert 'backend_config={"known_trip_count":{"n":"7"}}' in simplified(
        SUM, simplify_control
    ).to_text()


def test_invariant_elements_are_read_from_before_the_loop() -> None:
    new = simplified(SUM, trim_loops)
    assert new.entry.root.operands[1] is new.entry.parameters[1]


def test_constants_move_into_the_loop() -> None:
    text = loop(
        "s32[]; f32[]; f32[]",
        "i1 = f32[] parameter(0)\n i2 = f32[] constant(3)",
        "s = f32[] add(e1, e2)",
        "s, e2",
        after="1",
    )
    new = the_while(simplified(text, trim_loops))
    assert str(new.shape) == "(s32[], f32[])"
    assert isinstance(new.attributes, While)
    assert "constant" in [o.op for o in new.attributes.body.root.operands[1].operands]


def test_elements_that_only_feed_themselves_vanish() -> None:
    text = loop(
        "s32[]; f32[4]; f32[4]",
        "i1 = f32[4] parameter(0)\n i2 = f32[4] parameter(1)",
        "n = f32[4] negate(e1)\n m = f32[4] add(e2, e1)",
        "n, m",
        after="1",
    )
    assert str(the_while(simplified(text, trim_loops)).shape) == "(s32[], f32[4])"


def test_invariant_work_moves_before_the_loop() -> None:
    text = loop(
        "s32[]; f32[4]; f32[4]",
        "i1 = f32[4] parameter(0)\n i2 = f32[4] parameter(1)",
        "x = f32[4] exponential(e2)\n s = f32[4] add(e1, x)",
        "s, e2",
        after="1",
    )
    new = simplified(text, hoist_invariant, trim_loops)
    assert "exponential" in [i.op for i in new.entry.instructions]
    attributes = the_while(new).attributes
    assert isinstance(attributes, While)
    assert "exponential" not in [i.op for i in attributes.body.instructions]
    assert hoist_invariant(new, STRICT) is new


def test_cheap_invariant_work_stays() -> None:
    text = SUM.replace("add(e1, e2)", "add(e1, k)").replace(
        "s = f32[4]", "k = f32[4] negate(e2)\n s = f32[4]"
    )
    old = module(text)
    assert hoist_invariant(old, STRICT) is old


@pytest.mark.parametrize(
    ("state", "factor"),
    [("4,4", "negate(e2)"), ("2,4", "concatenate(e2, e2), dimensions={0}")],
)
def test_cheap_work_on_a_factor_of_a_product_moves_before_the_loop(
    state: str, factor: str
) -> None:
    text = loop(
        f"s32[]; f32[4]; f32[{state}]",
        f"i1 = f32[4] parameter(0)\n i2 = f32[{state}] parameter(1)",
        f"k = f32[4,4] {factor}\n"
        "s = f32[4] dot(k, e1), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "s, e2",
        after="1",
    )
    attributes = the_while(simplified(text, hoist_invariant, trim_loops)).attributes
    assert isinstance(attributes, While)
    assert {"negate", "concatenate"}.isdisjoint(i.op for i in attributes.body.instructions)


def test_the_pipeline_comes_to_rest() -> None:
    once = run(module(SUM), SIMPLIFICATION, STRICT)
    assert canonical(run(once, SIMPLIFICATION, STRICT)) == canonical(once)
