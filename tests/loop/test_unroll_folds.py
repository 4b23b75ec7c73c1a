"""Short folds written out: the same effect, and no loop left in what becomes vectors."""

from __future__ import annotations

import pytest

from ccodegen.loop.ir import For, LoopKind
from ccodegen.loop.rebuild import statements
from ccodegen.target import load
from tests.three_ways import check

# Windows of products stay whole.
_MULTIPLY = "m { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = multiply(a, b) }\n"


def written_out(text: str, target: str = "x86-64", strict: bool = False) -> bool:
    """Whether the program is right, and all innermost loops of its kernel became vectors."""
    built = check(text, target=load(target), strict=strict)
    (kernel,) = built.program.kernels
    loops = [s for s in statements(kernel.body) if isinstance(s, For)]
    innermost = [loop for loop in loops if not any(isinstance(s, For) for s in loop.body)]
    return all(loop.kind is LoopKind.VECTOR for loop in innermost)


def pool(sizes: str, window: str, shape: str) -> str:
    return f"""{_MULTIPLY}ENTRY e {{ x = f32[{sizes}] parameter(0)  i = f32[] constant(1)
  ROOT p = f32[{shape}] reduce-window(x, i), window={{{window}}}, to_apply=m }}"""


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("sizes", "window", "shape", "found"),
    [
        ("9,11,21", "size=3x3x1 stride=2x2x1 pad=1_1x1_1x0_0", "5,6,21", True),
        ("8,10,5", "size=2x2x1 stride=2x2x1", "4,5,5", True),
        ("9,11,7", "size=4x4x1", "6,8,7", True),
        ("9,11,7", "size=5x4x1", "5,8,7", False),  # long
        ("9,11,3", "size=2x2x1", "8,10,3", False),  # few
        ("9,22", "size=3x2 stride=1x2", "7,11", False),  # not side by side
    ],
)
def test_pooling(sizes: str, window: str, shape: str, found: bool, strict: bool) -> None:
    assert written_out(pool(sizes, window, shape), strict=strict) is found


def test_not_without_vectors() -> None:
    assert not written_out(pool("8,10,5", "size=2x2x1 stride=2x2x1", "4,5,5"), "cortex-m4")


def test_several_results() -> None:
    text = """f { a = f32[] parameter(0)  c = s32[] parameter(1)  b = f32[] parameter(2)
  d = s32[] parameter(3)  p = pred[] compare(a, b), direction=GE
  v = f32[] select(p, a, b)  n = s32[] select(p, c, d)  ROOT t = (f32[], s32[]) tuple(v, n) }
ENTRY e { x = f32[6,9] parameter(0)  y = s32[6,9] parameter(1)  i = f32[] constant(-inf)
  z = s32[] constant(0)
  ROOT p = (f32[5,9], s32[5,9]) reduce-window(x, y, i, z), window={size=2x1}, to_apply=f }"""
    assert written_out(text)
