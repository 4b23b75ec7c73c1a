"""Running pipelines: repetition, dumps that parse back, stopping, and naming the culprit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ccodegen.hlo.ir import Module
from ccodegen.hlo.text import parse
from ccodegen.passes.context import PassContext
from ccodegen.passes.pipelines import SIMPLIFICATION, Repeat, run
from ccodegen.passes.simplify_algebra import simplify_algebra
from ccodegen.passes.simplify_movement import simplify_movement
from ccodegen.support.errors import InternalError
from tests.passes.checking import STRICT, canonical, module

# The transposes meet only after the negations between them have gone.
TEXT = (
    "x = f32[2,3] parameter(0)\n t = f32[3,2] transpose(x), dimensions={1,0}\n"
    "n = f32[3,2] negate(t)\n m = f32[3,2] negate(n)\n"
    "u = f32[2,3] transpose(m), dimensions={1,0}\n o = f32[2,3] negate(u)\n"
    "ROOT r = f32[2,3] negate(o)"
)


def test_a_group_repeats_until_nothing_changes() -> None:
    done = run(module(TEXT), (Repeat((simplify_movement, simplify_algebra)),), STRICT)
    assert done.entry.root.op == "parameter"


def test_a_pass_is_not_run_again_over_what_it_left_as_it_was() -> None:
    seen: list[Module] = []

    def look(program: Module, context: PassContext) -> Module:
        seen.append(program)
        return program

    run(module(TEXT), (look, look, Repeat((simplify_algebra, look)), look), STRICT)
    assert len(seen) == len({id(program) for program in seen}) == 2


def test_dumps_are_numbered_and_parse_back(tmp_path: Path) -> None:
    done = run(module(TEXT), SIMPLIFICATION, replace(STRICT, dump_dir=tmp_path / "dumps"))
    dumps = sorted((tmp_path / "dumps").iterdir())
    assert dumps[0].name == "00_input.hlo"
    assert canonical(parse(dumps[-1].read_text())) == canonical(done)


def test_stops_after_the_pass_asked_for() -> None:
    done = run(module(TEXT), SIMPLIFICATION, replace(STRICT, stop_after="simplify_algebra"))
    assert "transpose" in canonical(done)
    assert "negate" not in canonical(done)


def break_arity(program: Module, context: PassContext) -> Module:
    root = replace(program.entry.root, op="add")
    return replace(program, entry=replace(program.entry, root=root))


def test_the_verifier_names_the_pass_that_broke_the_module() -> None:
    with pytest.raises(InternalError, match="the pass break_arity made an invalid module"):
        run(module(TEXT), (simplify_movement, break_arity), replace(STRICT, verify=True))


def test_chains_may_be_ten_thousand_deep() -> None:
    lines = ["v0 = f32[4] parameter(0)", "y = f32[4] parameter(1)"]
    lines += [f"v{i + 1} = f32[4] {'add' if i % 2 else 'multiply'}(v{i}, y)" for i in range(9_999)]
    text = "\n".join(lines) + "\nROOT r = f32[4] negate(v9999)"
    done = run(module(text), SIMPLIFICATION, STRICT)
    assert len(done.entry.instructions) == 10_002
