"""Updates with what neighbours make become arrays put together; others stay updates in place."""

from __future__ import annotations

import pytest

from ccodegen.loop.ir import CallKernel
from ccodegen.passes.context import PassContext
from ccodegen.passes.frame_updates import frame_updates
from ccodegen.target import load
from tests.passes.checking import leaves_alone, rewrites
from tests.three_ways import check

PC = PassContext(target=load("x86-64"), strict=True)
GRID = """x = f32[9,8] parameter(0)
  a = f32[7,6] slice(x), slice={[0:7], [1:7]}  b = f32[7,6] slice(x), slice={[2:9], [2:8]}
  n = f32[7,6] subtract(a, b)  one = s32[] constant(1)"""


def test_the_frame_stays() -> None:
    rewrites(
        f"{GRID}\n ROOT u = f32[9,8] dynamic-update-slice(x, n, one, one)",
        """x = f32[9,8] parameter(0)
          top = f32[1,8] slice(x), slice={[0:1], [0:8]}
          left = f32[7,1] slice(x), slice={[1:8], [0:1]}
          a = f32[7,6] slice(x), slice={[0:7], [1:7]}
          b = f32[7,6] slice(x), slice={[2:9], [2:8]}  n = f32[7,6] subtract(a, b)
          right = f32[7,1] slice(x), slice={[1:8], [7:8]}
          m = f32[7,8] concatenate(left, n, right), dimensions={1}
          bottom = f32[1,8] slice(x), slice={[8:9], [0:8]}
          ROOT u = f32[9,8] concatenate(top, m, bottom), dimensions={0}""",
        frame_updates,
        PC,
    )


@pytest.mark.parametrize(
    "text",
    [
        f"{GRID} s = f32[3,6] slice(n), slice={{[0:3], [0:6]}}"
        "  ROOT u = f32[9,8] dynamic-update-slice(x, s, one, one)",
        f"{GRID} i = s32[] parameter(1)  ROOT u = f32[9,8] dynamic-update-slice(x, n, one, i)",
        "x = f32[9,8] parameter(0)  one = s32[] constant(1)\n"
        "a = f32[7,6] slice(x), slice={[1:8], [1:7]}  n = f32[7,6] sine(a)\n"
        "ROOT u = f32[9,8] dynamic-update-slice(x, n, one, one)",
        "x = f32[9,8] parameter(0)  y = f32[7,6] parameter(1)  one = s32[] constant(1)\n"
        "n = f32[7,6] sine(y)  ROOT u = f32[9,8] dynamic-update-slice(x, n, one, one)",
    ],
    ids=["little", "anywhere", "in place", "of something else"],
)
def test_left_alone(text: str) -> None:
    leaves_alone(text, frame_updates, PC)


@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
@pytest.mark.parametrize("start", [-3, 1, 9])
def test_a_loop_writes_to_and_fro(start: int, strict: bool) -> None:
    built = check(
        f"""c {{ s = (s32[], f32[9,70]) parameter(0)  i = s32[] get-tuple-element(s), index=0
          n = s32[] constant(4)  ROOT l = pred[] compare(i, n), direction=LT }}
        b {{ s = (s32[], f32[9,70]) parameter(0)  i = s32[] get-tuple-element(s), index=0
          one = s32[] constant(1)  k = s32[] constant({start})  i1 = s32[] add(i, one)
          x = f32[9,70] get-tuple-element(s), index=1
          a = f32[7,66] slice(x), slice={{[0:7], [1:67]}}
          d = f32[7,66] slice(x), slice={{[2:9], [2:68]}}  n = f32[7,66] subtract(a, d)
          u = f32[9,70] dynamic-update-slice(x, n, one, k)
          ROOT t = (s32[], f32[9,70]) tuple(i1, u) }}
        ENTRY e {{ z = s32[] constant(0)  x = f32[9,70] parameter(0)
          t = (s32[], f32[9,70]) tuple(z, x)
          ROOT w = (s32[], f32[9,70]) while(t), condition=c, body=b }}""",
        strict=strict,
    )
    called = [s.kernel.name for s in built.program.steps if isinstance(s, CallKernel)]
    assert len(called) == 2, called  # both copies are before the loop
