"""Lives, sharing and places in the arena, over random programs."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccodegen.backend.build import build
from ccodegen.backend.options import BuildOptions
from ccodegen.loop.verify import overlap
from ccodegen.lower.assignment import Block, assign, lower_bound, merged
from ccodegen.lower.coalesce import check, coalesce
from ccodegen.lower.linearize import linearize
from ccodegen.lower.liveness import Life, lives
from ccodegen.lower.schedule import peak_bytes, schedule
from ccodegen.lower.steps import Copy, walk
from ccodegen.passes.context import PassContext
from ccodegen.passes.expose_sizes import expose_sizes
from ccodegen.passes.flatten_entry import flatten_entry
from ccodegen.passes.pad_dynamic import pad_dynamic
from ccodegen.support.errors import InternalError
from tests.random_modules import random_module
from tests.three_ways import check as check_three_ways
from tests.three_ways import module_of, plain_target

LIFE = st.tuples(st.integers(0, 12), st.integers(0, 4)).map(lambda p: Life(p[0], p[0] + p[1]))
BLOCKS = st.lists(st.tuples(st.integers(1, 200), st.lists(LIFE, min_size=1, max_size=3)))


@given(BLOCKS, st.sampled_from([1, 16, 64]))
def test_blocks_alive_at_once_lie_apart(facts: list[tuple[int, list[Life]]], align: int) -> None:
    blocks = [Block(n, size, merged(when)) for n, (size, when) in enumerate(facts)]
    made = assign(blocks, align)
    assert made.size >= made.lower_bound == lower_bound(blocks, align)
    for block in blocks:
        assert made.offsets[block.owner] % align == 0
        assert made.offsets[block.owner] + block.bytes <= made.size
    for a, b in combinations(blocks, 2):
        if a.meets(b):
            first, second = sorted((a, b), key=lambda block: made.offsets[block.owner])
            assert made.offsets[first.owner] + first.bytes <= made.offsets[second.owner]


@given(BLOCKS)
def test_the_lower_bound_is_what_is_alive_at_once(facts: list[tuple[int, list[Life]]]) -> None:
    blocks = [Block(n, size, merged(when)) for n, (size, when) in enumerate(facts)]
    alive = [
        sum(b.bytes for b in blocks if any(i.first <= step <= i.last for i in b.lives))
        for step in range(20)
    ]
    assert lower_bound(blocks, 1) == max(alive)


@given(st.lists(LIFE))
def test_merged_lives_are_apart_and_cover_the_same_steps(found: list[Life]) -> None:
    result = merged(found)
    assert all(a.last < b.first for a, b in pairwise(result))
    steps = {s for i in found for s in range(i.first, i.last + 1)}
    assert {s for i in result for s in range(i.first, i.last + 1)} == steps


def test_blocks_that_follow_each_other_take_one_place() -> None:
    blocks = [Block(n, 100, (Life(2 * n, 2 * n + 1),)) for n in range(5)]
    assert assign(blocks, 64).size == 128


@pytest.mark.parametrize("seed", range(40))
def test_values_that_share_memory_are_never_alive_at_once(seed: int) -> None:
    static = pad_dynamic(expose_sizes(random_module(seed)), PassContext(plain_target()))
    steps = linearize(flatten_entry(static), {})
    life = lives(steps)
    memory = coalesce(steps, life)
    check(memory, life)
    for storage in set(memory.values()):
        sources = [v for v in storage.values if v.constant is not None or v.parameter is not None]
        assert len(sources) <= 1
        assert len([v for v in storage.values if v.output is not None]) <= 1
        assert len({(v.shape.element_type, v.shape.size) for v in storage.values}) == 1
    for values in steps.together:
        assert len({memory[v] for v in values}) == 1
    for step in walk(steps.steps):
        if isinstance(step, Copy):
            assert step.source.shape.size == step.target.shape.size


@pytest.mark.parametrize("seed", range(40))
def test_schedules_keep_the_order_of_use(seed: int) -> None:
    for computation in random_module(seed).computations:
        order = schedule(computation)
        places = {instruction: n for n, instruction in enumerate(order)}
        assert len(places) == len(order) == len(computation.instructions)
        for instruction in order:
            before = (*instruction.operands, *instruction.control_predecessors)
            assert all(places[o] < places[instruction] for o in before)
        given_order = peak_bytes(computation.instructions, computation.root)
        assert peak_bytes(order, computation.root) <= given_order


def test_a_schedule_finishes_one_branch_before_the_next() -> None:
    """Each branch blows up what it reduces in the end; only one of them may be large at once."""
    lines = ["z = f32[] constant(0)"]
    for n in range(4):
        lines.append(f"x{n} = f32[] parameter({n})")
    for n in range(4):
        lines.append(f"b{n} = f32[1000] broadcast(x{n}), dimensions={{}}")
    for n in range(4):
        lines.append(f"r{n} = f32[] reduce(b{n}, z), dimensions={{0}}, to_apply=add")
    lines.append("s = f32[] add(r0, r1)  t = f32[] add(r2, r3)  ROOT u = f32[] add(s, t)")
    add = "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }\n"
    entry = module_of(f"{add}ENTRY e {{ {' '.join(lines)} }}").entry
    assert peak_bytes(schedule(entry), entry.root) < 2 * 4000


def test_overlapping_values_are_a_bug_of_ours() -> None:
    steps = linearize(module_of("ENTRY e { x = f32[3] parameter(0)  ROOT n = negate(x) }"), {})
    life = lives(steps)
    memory = coalesce(steps, life)
    storage = memory[steps.parameters[0]]
    storage.values = [steps.parameters[0], *steps.outputs]
    life.of[steps.parameters[0]].last = life.end + 1
    with pytest.raises(InternalError, match="overlap in memory"):
        check(memory, life)


def test_an_elementwise_chain_needs_no_memory_of_its_own() -> None:
    text = "x = f32[64,2] parameter(0)  s = f32[64,2] sort(x), dimensions={0}, to_apply=less\n"
    text += "n = f32[64,2] negate(s)  t = f32[64,2] sort(n), dimensions={0}, to_apply=less\n"
    text += "ROOT m = f32[64,2] sine(t)"
    less = "less { a = f32[] parameter(0)  b = f32[] parameter(1)\n"
    less += "ROOT l = pred[] compare(a, b), direction=LT }\n"
    built = check_three_ways(f"{less}ENTRY e {{ {text} }}")
    lasting = [b for b in built.program.arena_buffers if b.origin != "scratch"]
    assert len({life.buffer.offset for life in lasting}) <= 1


@pytest.mark.parametrize("seed", range(200, 220))
def test_the_report_of_the_arena_adds_up(seed: int) -> None:
    """Buffers alive in one step lie apart, and the last one ends where the arena does."""
    module = random_module(seed, exact=True)
    program = build(module, BuildOptions(plain_target())).program
    alive = program.arena_buffers
    ends = [life.buffer.offset + life.buffer.bytes for life in alive]
    assert max(ends, default=0) <= program.arena_size < max(ends, default=0) + program.alignment
    for a, b in combinations(alive, 2):
        together = a.first <= b.last and b.first <= a.last
        assert a.buffer is b.buffer or not (together and overlap(a.buffer, b.buffer)), (a, b)
