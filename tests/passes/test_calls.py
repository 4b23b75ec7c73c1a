"""flatten_calls, unfuse, drop_dead and expand_custom_calls: what only wraps goes away."""

from __future__ import annotations

from dataclasses import replace

from ccodegen.passes.drop_dead import drop_dead
from ccodegen.passes.expand_custom_calls import expand_custom_calls
from ccodegen.passes.flatten_calls import flatten_calls
from ccodegen.passes.unfuse import unfuse
from tests.passes.checking import STRICT, canonical, leaves_alone, module, rewrites

NEGATE = "f { a = f32[4] parameter(0)\n ROOT b = f32[4] negate(a) }\n"
X = "x = f32[4] parameter(0)\n"


def test_calls_are_put_in_place() -> None:
    rewrites(
        NEGATE + "g { c = f32[4] parameter(0)\n d = f32[4] call(c), to_apply=f\n"
        "ROOT e = f32[4] add(d, c) }\n"
        "ENTRY e { " + X + "ROOT r = f32[4] call(x), to_apply=g }",
        X + "n = f32[4] negate(x)\n ROOT r = f32[4] add(n, x)",
        flatten_calls,
    )


def test_side_effects_of_a_call_stay() -> None:
    text = (
        "f { a = f32[4] parameter(0)\n t = token[] after-all()\n"
        "o = token[] outfeed(a, t), outfeed_shape=f32[4]\n ROOT b = f32[4] negate(a) }\n"
        "ENTRY e { " + X + "ROOT r = f32[4] call(x), to_apply=f }"
    )
    flat = drop_dead(flatten_calls(module(text), STRICT), STRICT)
    assert [r.op for r in flat.entry.side_roots] == ["outfeed"]


def test_calls_beyond_the_limit_stay() -> None:
    text = NEGATE + "ENTRY e { " + X + "ROOT r = f32[4] call(x), to_apply=f }"
    leaves_alone(text, flatten_calls, replace(STRICT, inlining_limit=2))


def test_a_deep_chain_needs_no_recursion() -> None:
    lines = [f"v{i + 1} = f32[4] call(v{i}), to_apply=f" for i in range(10_000)]
    text = NEGATE + "ENTRY e { v0 = f32[4] parameter(0)\n" + "\n".join(lines[:-1])
    text += "\nROOT " + lines[-1] + " }"
    assert len(flatten_calls(module(text), STRICT).entry.instructions) == 10_001


def test_asynchronous_becomes_synchronous() -> None:
    rewrites(
        NEGATE + "ENTRY e { " + X + "s = ((f32[4]), f32[4], s32[]) async-start(x), calls=f\n"
        "u = ((f32[4]), f32[4], s32[]) async-update(s)\n ROOT r = f32[4] async-done(u) }",
        X + "ROOT r = f32[4] negate(x)",
        flatten_calls,
    )


def test_fusions_are_taken_apart() -> None:
    rewrites(
        NEGATE + "ENTRY e { " + X + "ROOT r = f32[4] fusion(x), kind=kLoop, calls=f }",
        X + "ROOT r = f32[4] negate(x)",
        unfuse,
    )


def test_dead_code_vanishes() -> None:
    rewrites(
        X + "u = f32[4] negate(x)\n ROOT r = f32[4] abs(x)",
        X + "ROOT r = f32[4] abs(x)",
        drop_dead,
    )


def test_custom_calls_that_say_nothing_vanish() -> None:
    rewrites(
        X + 's = f32[4] custom-call(x), custom_call_target="Sharding"\n'
        "o = f32[4] opt-barrier(s)\n ROOT r = f32[4] negate(o)",
        X + "ROOT r = f32[4] negate(x)",
        expand_custom_calls,
        exact=False,
    )


def test_top_k_becomes_an_op() -> None:
    text = X + 'ROOT r = (f32[2], s32[2]) custom-call(x), custom_call_target="TopK"'
    assert "topk(%v0), k=2" in canonical(expand_custom_calls(module(text), STRICT))
