"""Damaged programs end in one clear error: no traceback, no hang, no bug of ours."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ccodegen.backend.build import build
from ccodegen.backend.options import BuildOptions
from ccodegen.frontends.read import read
from ccodegen.support.errors import InputError, UnsupportedError
from ccodegen.target import load
from tests.random_modules import random_module
from tests.shared import corpus_dir

PROGRAM = """HloModule sample, input_output_alias={ {1}: (0, {}, may-alias) }

add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }

body { p = (s32[], f32[8,3]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  v = f32[8,3] get-tuple-element(p), index=1
  one = s32[] constant(1)
  n = s32[] add(i, one)
  w = f32[8,3] multiply(v, v)
  ROOT t = (s32[], f32[8,3]) tuple(n, w) }

cond { p = (s32[], f32[8,3]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  c = s32[] constant(3)
  ROOT l = pred[] compare(i, c), direction=LT }

ENTRY main {
  x = f32[4,8]{1,0} parameter(0), metadata={op_name="x" source_file="a.py" source_line=3}
  w = f32[8,3] constant({{1,2,3},{4,5,-6},{7,8,9},{0.5,nan,inf},{1,2,3},{4,5,6},{7,8,9},{1,1,1}})
  zero = s32[] constant(0)
  init = (s32[], f32[8,3]) tuple(zero, w)
  loop = (s32[], f32[8,3]) while(init), condition=cond, body=body
  u = f32[8,3] get-tuple-element(loop), index=1
  d = f32[4,3] dot(x, u), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  z = f32[] constant(0)
  r = f32[4] reduce(d, z), dimensions={1}, to_apply=add
  b = f32[4,8] broadcast(r), dimensions={0}
  s = f32[4,8] add(b, x)
  p = f32[6,8] pad(s, z), padding=1_1x0_0
  g = f32[2,8] slice(p), slice={[0:4:2], [0:8]}
  ROOT out = (f32[2,8], f32[4,8]) tuple(g, s)
}
"""

_TOKENS = [
    "{", "}", "(", ")", ",", "=", "%x", "f32[4,8]", "1099511627776", "-1", '"', "/*", "ROOT",
    "nan", "constant({...})", "parameter(0)", "while(", "\\", "\0", "é", "add", "x0_0", "{0}",
]  # fmt: skip


def attempt(text: str) -> None:
    """Reads and lowers: what is wrong is the user's to mend or a limit of ours, and says so."""
    try:
        build(read(text), BuildOptions(load("x86-64")))
    except (InputError, UnsupportedError) as error:
        assert error.message


def mutated(text: str, source: random.Random) -> str:
    """The text with a few spans cut, doubled, swapped, or replaced by a token."""
    for _ in range(source.randint(1, 3)):
        start = source.randrange(len(text))
        end = min(len(text), start + source.choice([1, 1, 2, 5, 30]))
        old = text[start:end]
        new = source.choice(["", old * 2, old[::-1], source.choice(_TOKENS)])
        text = text[:start] + new + text[end:]
    return text


def test_the_sample_is_right() -> None:
    build(read(PROGRAM), BuildOptions(load("x86-64")))


@settings(max_examples=300, deadline=None, database=None)
@given(st.randoms(use_true_random=False))
def test_mutated_program(source: random.Random) -> None:
    attempt(mutated(PROGRAM, source))


@settings(max_examples=200, deadline=None, database=None)
@given(st.integers(0, len(PROGRAM)))
def test_truncated_program(length: int) -> None:
    attempt(PROGRAM[:length])


@settings(max_examples=200, deadline=None, database=None)
@given(st.lists(st.sampled_from(_TOKENS), max_size=30))
def test_words_of_the_grammar_in_any_order(words: list[str]) -> None:
    attempt("HloModule m\nENTRY e {\n" + " ".join(words) + "\n}\n")


@settings(max_examples=100, deadline=None, database=None)
@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    attempt(text + "\n")


@settings(max_examples=150, deadline=None, database=None)
@given(st.integers(0, 10**6), st.randoms(use_true_random=False))
def test_mutated_random_module(seed: int, source: random.Random) -> None:
    attempt(mutated(random_module(seed).to_text(), source))


@pytest.mark.parametrize("seed", range(4))
def test_mutated_corpus(seed: int) -> None:
    source = random.Random(seed)
    paths = sorted((corpus_dir() / "xla_parse").glob("*.hlo"))
    for path in source.sample(paths, 60):
        text = path.read_text()
        if len(text) < 20_000:
            attempt(mutated(text, source))
