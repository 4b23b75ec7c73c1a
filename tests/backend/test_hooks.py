"""What a program asks of its caller is answered, in its order, by the evaluator, the interpreter,
compiled C in this process, and C in a package."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ccodegen
from ccodegen import IO, ArraySpec, InputError
from ccodegen.backend.toolchain import build_program
from ccodegen.loop import interpret
from ccodegen.loop import text as loop_text
from ccodegen.loop.verify import verify
from ccodegen.target import load

EVERYTHING = """HloModule everything
body { s = (s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = f32[3] get-tuple-element(s), index=1
  t = token[] after-all()
  f = ((f32[3], s4[2]), token[]) infeed(t), infeed_config="say \\"hi\\"??/"
  d = (f32[3], s4[2]) get-tuple-element(f), index=0
  t2 = token[] get-tuple-element(f), index=1
  x = f32[3] get-tuple-element(d), index=0
  y = s4[2] get-tuple-element(d), index=1
  b = f32[3] add(a, x)
  z = (f32[3], s4[2]) tuple(b, y)
  o = token[] outfeed(z, t2), outfeed_shape=(f32[3], s4[2])
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT r = (s32[], f32[3]) tuple(j, b) }
cond { s = (s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT l = pred[] compare(i, n), direction=LT }
ENTRY e { p = f32[3] parameter(0)
  z = s32[] constant(0)
  s = (s32[], f32[3]) tuple(z, p)
  w = (s32[], f32[3]) while(s), condition=cond, body=body
  r = f32[3] get-tuple-element(w), index=1
  t = token[] after-all()
  rv = (f32[3], u32[], token[]) recv(t), channel_id=6
  sd = (f32[3], u32[], token[]) send(r, t), channel_id=5
  sdd = token[] send-done(sd), channel_id=5
  rvd = (f32[3], token[]) recv-done(rv), channel_id=6
  q = f32[3] get-tuple-element(rvd), index=0
  ROOT o = f32[3] subtract(q, r) }
"""
X = np.array([1, 2, 3], np.float32)

ORDER = """HloModule order
f { x = f32[] parameter(0)
  t = token[] after-all()
  o = token[] outfeed(x, t), outfeed_config="f"
  ROOT r = f32[] negate(x) }
b { x = f32[] parameter(0)
  t = token[] after-all()
  o = token[] outfeed(x, t), outfeed_config="b"
  one = f32[] constant(1)
  ROOT r = f32[] add(x, one) }
c { x = f32[] parameter(0)
  n = f32[] constant(2)
  ROOT r = pred[] compare(x, n), direction=LT }
ENTRY e { x = f32[] parameter(0)
  t = token[] after-all()
  o1 = token[] outfeed(x, t), outfeed_config="1"
  w = f32[] while(x), condition=c, body=b
  o2 = token[] outfeed(x, t), outfeed_config="2"
  y = f32[] call(x), to_apply=f
  o3 = token[] outfeed(x, t), outfeed_config="3"
  z = f32[] multiply(y, w)
  p = pred[] compare(x, z), direction=LT
  y2 = f32[] conditional(p, z, x), true_computation=f, false_computation=b
  o4 = token[] outfeed(y2, t), outfeed_config="4"
  big = f32[1000] broadcast(x), dimensions={}
  o5 = token[] outfeed(big, t), outfeed_config="5"
  ROOT z2 = f32[] add(y2, z) }
"""


class Peer:
    """The other end: remembers what it was asked."""

    def __init__(self) -> None:
        self.log: list[Any] = []
        self.io = IO(self.infeed, self.outfeed, self.send, self.recv)

    def infeed(self, config: str, specs: Sequence[ArraySpec]) -> Any:
        self.log.append(("infeed", config, list(map(str, specs))))
        small = np.array([-1, 7]).astype(specs[1].dtype)
        return np.array([1, 2, len(self.log)], np.float32), small

    def outfeed(self, config: str, *arrays: Any) -> None:
        self.log.append(("outfeed", config, [a.astype(np.float32).tolist() for a in arrays]))

    def send(self, channel: int, *arrays: Any) -> None:
        self.log.append(("send", channel, [a.tolist() for a in arrays]))

    def recv(self, channel: int, specs: Sequence[ArraySpec]) -> Any:
        self.log.append(("recv", channel, list(map(str, specs))))
        return np.array([10, 20, 30], np.float32)


def test_evaluator_interpreter_and_compiled_c_ask_the_same() -> None:
    evaluated, compiled, interpreted = Peer(), Peer(), Peer()
    expected = ccodegen.evaluate(EVERYTHING, X, io=evaluated.io)
    program = ccodegen.compile(EVERYTHING, io=compiled.io)
    assert program(X).tolist() == expected.tolist() == [6, 12, 18]
    loop = program.build.program
    verify(loop)
    assert interpret.run(loop, [X], io=interpreted.io)[0].tolist() == expected.tolist()
    assert compiled.log == interpreted.log == evaluated.log
    kinds = [entry[0] for entry in evaluated.log]
    assert kinds == ["infeed", "outfeed"] * 3 + ["send", "recv"]
    assert evaluated.log[1] == ("outfeed", "", [[2, 4, 4], [-1, 7]])


RESHAPED = """HloModule reshaped
ENTRY e { p = f32[6] parameter(0)
  q = f32[2,3] reshape(p)
  s = f32[6] negate(p)
  r = f32[3,2] reshape(s)
  u = f32[1,6] reshape(s)
  c = f32[1,2] constant({{1, 2}})
  d = f32[2] reshape(c)
  t = token[] after-all()
  v = (f32[2,3], f32[3,2], f32[2]) tuple(q, r, d)
  o = token[] outfeed(v, t), outfeed_config="v"
  ROOT w = token[] outfeed(u, o), outfeed_config="u" }
"""


def test_arrays_are_handed_over_with_the_dimensions_that_the_program_gives_them() -> None:
    evaluated, compiled, interpreted = Peer(), Peer(), Peer()
    ccodegen.evaluate(RESHAPED, np.arange(6, dtype=np.float32), io=evaluated.io)
    program = ccodegen.compile(RESHAPED, io=compiled.io)
    program(np.arange(6, dtype=np.float32))
    loop = loop_text.parse(program.as_text("loop"))
    verify(loop)
    interpret.run(loop, [np.arange(6, dtype=np.float32)], io=interpreted.io)
    assert compiled.log == interpreted.log == evaluated.log
    assert compiled.log[0][2] == [[[0, 1, 2], [3, 4, 5]], [[0, -1], [-2, -3], [-4, -5]], [1, 2]]
    assert compiled.log[1][2] == [[[0, -1, -2, -3, -4, -5]]]


def test_loop_text_parses_back() -> None:
    text = ccodegen.compile(EVERYTHING, io=Peer().io).as_text("loop")
    assert loop_text.to_text(loop_text.parse(text)) == text
    assert "hook recv" in text


def test_effects_keep_the_order_of_the_program() -> None:
    log: list[tuple[str, float]] = []
    io = IO(outfeed=lambda config, x: log.append((config, float(x.flat[0]))))
    value = np.float32(0)
    expected = ccodegen.evaluate(ORDER, value, io=io)
    evaluated, log[:] = list(log), []
    assert ccodegen.compile(ORDER, io=io)(value) == expected
    assert log == evaluated
    assert "".join(config for config, _ in log) == "1bb2f3b45"


class MineError(Exception):
    pass


@pytest.mark.parametrize("run", [ccodegen.evaluate, None])
def test_exceptions_reach_the_caller_unchanged(run: Any) -> None:
    def fail(config: str, *arrays: Any) -> None:
        raise MineError("no room")

    value = np.float32(0)
    io = IO(outfeed=fail)
    with pytest.raises(MineError, match="no room"):
        run(ORDER, value, io=io) if run else ccodegen.compile(ORDER, io=io)(value)


def test_a_run_after_a_failure_is_whole() -> None:
    answers = [MineError("first")]

    def outfeed(config: str, *arrays: Any) -> None:
        if answers:
            raise answers.pop()

    program = ccodegen.compile(ORDER, io=IO(outfeed=outfeed))
    with pytest.raises(MineError):
        program(np.float32(0))
    assert program(np.float32(0)) == 1


def test_a_function_may_run_the_program_itself() -> None:
    depth: list[int] = []

    def outfeed(config: str, *arrays: Any) -> None:
        if config == "2" and len(depth) < 3:
            depth.append(0)
            assert program(np.float32(0)) == 1

    program = ccodegen.compile(ORDER, io=IO(outfeed=outfeed))
    assert program(np.float32(0)) == 1
    assert len(depth) == 3


def test_a_missing_function_is_named_with_its_place() -> None:
    io = Peer().io
    for asks in (
        lambda: ccodegen.compile(EVERYTHING, io=IO(outfeed=io.outfeed)),
        lambda: ccodegen.compile(EVERYTHING, io=IO(outfeed=io.outfeed)),  # out of the cache
        lambda: ccodegen.evaluate(EVERYTHING, X),
    ):
        with pytest.raises(InputError, match=r"infeed .* asks the caller") as caught:
            asks()
        assert "6:3" in str(caught.value)
        assert "io=ccodegen.IO(infeed=f)" in caught.value.hint


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.zeros(3, np.float32), "gave ndarray arrays, expected 2"),
        ((np.zeros(4, np.float32), np.zeros(2)), r"gave float32\[4\], expected float32\[3\]"),
        ((np.zeros(3, np.float64), np.zeros(2)), r"gave float64\[3\], expected float32\[3\]"),
    ],
)
def test_wrong_answers_are_refused(answer: Any, message: str) -> None:
    peer = Peer()
    io = IO(lambda config, specs: answer, peer.outfeed, peer.send, peer.recv)
    with pytest.raises(InputError, match=message):
        ccodegen.compile(EVERYTHING, io=io)(X)


MAIN = r"""
#include <stdio.h>
#include <string.h>
#include "m.h"
static unsigned char memory[M_ARENA_SIZE + M_ARENA_ALIGN];
static int infeed(void *context, const char *config, const ccg_output *arrays, size_t count)
{
    int *const turn = context;
    float *const x = arrays[0].data;
    if (strcmp(config, "say \"hi\"?" "?/") != 0 || count != 2 || arrays[0].bytes != 12
        || strcmp(arrays[0].shape, "f32[3]") != 0 || strcmp(arrays[1].shape, "s4[2]") != 0) {
        return 100;
    }
    x[0] = 1.0f;
    x[1] = 2.0f;
    x[2] = (float)(1 + 2 * *turn);
    memset(arrays[1].data, -1, arrays[1].bytes);
    ++*turn;
    return 0;
}
static int outfeed(void *context, const char *config, const ccg_input *arrays, size_t count)
{
    const signed char *const small = arrays[1].data;
    (void)context;
    return *config == '\0' && count == 2 && small[1] == -1 ? 0 : 101;
}
static int send(void *context, int64_t channel, const ccg_input *arrays, size_t count)
{
    const float *const x = arrays[0].data;
    (void)context;
    return channel == 5 && count == 1 && x[2] == 12.0f ? 0 : 102;
}
static int recv(void *context, int64_t channel, const ccg_output *arrays, size_t count)
{
    const float values[] = {10.0f, 20.0f, 30.0f};
    (void)context;
    memcpy(arrays[0].data, values, sizeof values);
    return channel == 6 && count == 1 ? 0 : 103;
}
static int refuse(void *context, int64_t channel, const ccg_output *arrays, size_t count)
{
    (void)context;
    (void)channel;
    (void)arrays;
    (void)count;
    return 7;
}
int main(void)
{
    void *const arena = memory + (0u - (uintptr_t)memory) % M_ARENA_ALIGN;
    const float x[] = {1.0f, 2.0f, 3.0f};
    float y[3];
    int turn = 0;
    ccg_io io = {&turn, infeed, outfeed, send, recv, NULL};
    int error = m_run(x, y, arena, &io);
    if (error != 0 || y[0] != 6.0f || y[1] != 12.0f || y[2] != 18.0f) {
        printf("run: %d\n", error);
        return 1;
    }
    io.recv = refuse;
    turn = 0;
    if (m_run(x, y, arena, &io) != 7) {
        return 2;
    }
    io.recv = NULL;
    if (m_run(x, y, arena, &io) != M_E_IO || m_run(x, y, arena, NULL) != M_E_IO) {
        return 3;
    }
    puts("PASS");
    return 0;
}
"""
STRICT = "-std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Wmissing-prototypes -Werror"


def test_a_package_takes_hooks_in_c(tmp_path: Path) -> None:
    report = ccodegen.export(EVERYTHING, target="x86-64", name="m", directory=tmp_path / "m")
    assert "infeed, outfeed, send, recv: there is no test" in report.notes[0]
    assert not (tmp_path / "m" / "test").exists()
    assert (tmp_path / "m" / "include" / "ccg_io.h").is_file()
    header = (tmp_path / "m" / "include" / "m.h").read_text()
    assert "M_E_IO (-3)" in header
    main = tmp_path / "main.c"
    main.write_text(MAIN)
    folder = tmp_path / "m"
    sources = [str(main), *map(str, (folder / "src").glob("*.c"))]
    include = [f"-I{folder / 'include'}", f"-I{folder / 'runtime'}"]
    command = ["gcc", *STRICT.split(), *include, *sources, "-o", str(tmp_path / "main")]
    subprocess.run(command, check=True)
    ran = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "PASS\n")


def test_a_package_takes_hooks_on_a_microcontroller(tmp_path: Path) -> None:
    target = load("cortex-m4")
    folder = tmp_path / "m"
    ccodegen.export(EVERYTHING, target=target, name="m", directory=folder)
    main = tmp_path / "main.c"
    main.write_text(MAIN)
    sources = [main, *(folder / "src").glob("*.c")]
    program = tmp_path / "main.elf"
    build_program(sources, program, target, include=[folder / "include", folder / "runtime"])
    command = [word.replace("{program}", str(program)) for word in target.runner.command]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout.strip()) == (0, "PASS")
