"""Programs that share a call's work among threads: the same bits, and no trouble around them."""

from __future__ import annotations

import gc
import os
import threading
from typing import Any

import numpy as np
import pytest

import ccodegen
from ccodegen.backend.options import with_threads
from ccodegen.emit.table import emit_table
from ccodegen.support.errors import InputError
from ccodegen.target import load

ADD = "add { p = f32[] parameter(0)\n q = f32[] parameter(1)\n ROOT s = f32[] add(p, q) }\n"
LESS = """less {{ a = f32[] parameter(0)
    b = f32[] parameter(1)
    p = s32[] parameter(2)
    q = s32[] parameter(3)
    ROOT c = pred[] compare(a, b), direction={} }}
"""
PROGRAMS = {
    "elementwise": """ENTRY e {
        x = f32[300007] parameter(0)
        y = f32[300007] parameter(1)
        product = f32[300007] multiply(x, y)
        power = f32[300007] exponential(product)
        ROOT r = f32[300007] add(power, y)
    }""",
    "rows": ADD + """ENTRY e {
        x = f32[301,1000] parameter(0)
        zero = f32[] constant(0)
        ROOT r = f32[301] reduce(x, zero), dimensions={1}, to_apply=add
    }""",
    "sums of products": """ENTRY e {
        x = f32[300,301] parameter(0)
        y = f32[300] parameter(1)
        ROOT r = f32[301] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
    }""",
    "columns": ADD + """ENTRY e {
        x = f32[301,3000] parameter(0)
        zero = f32[] constant(0)
        ROOT r = f32[3000] reduce(x, zero), dimensions={0}, to_apply=add
    }""",
    "rows kept": ADD + """ENTRY e {
        x = f32[7,43,1000] parameter(0)
        zero = f32[] constant(0)
        e = f32[7,43,1000] exponential(x)
        sum = f32[7,43] reduce(e, zero), dimensions={2}, to_apply=add
        sums = f32[7,43,1000] broadcast(sum), dimensions={0,1}
        ROOT r = f32[7,43,1000] divide(e, sums)
    }""",
    "first convolution": """ENTRY e {
        x = f32[1,70,70,3] parameter(0)
        y = f32[7,7,3,32] parameter(1)
        ROOT r = f32[1,35,35,32] convolution(x, y), window={size=7x7 stride=2x2 pad=3_3x3_3},
            dim_labels=b01f_01io->b01f
    }""",
    "matrix-vector": """ENTRY e {
        x = f32[501,700] parameter(0)
        y = f32[700] parameter(1)
        ROOT r = f32[501] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    }""",
    "matrix-matrix": """ENTRY e {
        x = f32[251,300] parameter(0)
        y = f32[300,190] parameter(1)
        ROOT r = f32[251,190] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    }""",
    "pairs": """ENTRY e {
        x = bf16[251,300] parameter(0)
        y = bf16[300,190] parameter(1)
        ROOT r = bf16[251,190] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    }""",
    "bytes": """ENTRY e {
        x = s8[251,300] parameter(0)
        y = s8[300,192] parameter(1)
        ROOT r = s32[251,192] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    }""",
    "sort": LESS.format("LT, type=TOTALORDER") + """ENTRY e {
        x = f32[100003] parameter(0)
        i = s32[100003] iota(), iota_dimension=0
        ROOT r = (f32[100003], s32[100003]) sort(x, i), dimensions={0}, to_apply=less
    }""",
    "sort of numbers": LESS.format("GT") + """ENTRY e {
        x = f32[100003] parameter(0)
        n = s32[100003] convert(x)
        y = f32[100003] convert(n)
        i = s32[100003] iota(), iota_dimension=0
        ROOT r = (f32[100003], s32[100003]) sort(y, i), dimensions={0}, to_apply=less
    }""",
    "sort of lines": LESS.format("LT, type=TOTALORDER") + """ENTRY e {
        x = f32[70,500] parameter(0)
        i = s32[70,500] iota(), iota_dimension=1
        ROOT r = (f32[70,500], s32[70,500]) sort(x, i), dimensions={1}, to_apply=less
    }""",
    "sort of short lines": LESS.format("LT, type=TOTALORDER") + """ENTRY e {
        x = f32[900,40] parameter(0)
        i = s32[900,40] iota(), iota_dimension=1
        ROOT r = (f32[900,40], s32[900,40]) sort(x, i), dimensions={1}, to_apply=less
    }""",
    "largest of lines": """ENTRY e {
        x = f32[50,1000] parameter(0)
        ROOT r = (f32[50,5], s32[50,5]) topk(x), k=5, largest=true
    }""",
    "convolution with rows left over": """ENTRY e {
        x = f32[1,9,11,13,16] parameter(0)
        y = f32[3,3,3,16,32] parameter(1)
        ROOT r = f32[1,9,11,13,32] convolution(x, y), window={size=3x3x3 pad=1_1x1_1x1_1},
            dim_labels=b012f_012io->b012f
    }""",
    "gradient of pooling": ADD + """most { p = f32[] parameter(0)
        q = f32[] parameter(1)
        ROOT c = pred[] compare(p, q), direction=GE }
    ENTRY e {
        x = f32[9,30,28,20] parameter(0)
        s = f32[9,15,14,20] parameter(1)
        zero = f32[] constant(0)
        ROOT r = f32[9,30,28,20] select-and-scatter(x, s, zero), select=most, scatter=add,
            window={size=1x2x2x1 stride=1x2x2x1}
    }""",
    "batches": """ENTRY e {
        x = f32[5,70,90] parameter(0)
        y = f32[5,90,64] parameter(1)
        ROOT r = f32[5,70,64] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0},
            lhs_contracting_dims={2}, rhs_contracting_dims={1}
    }""",
}


def arguments(name: str) -> list[Any]:
    module = ccodegen.read(PROGRAMS[name])
    random = np.random.default_rng(0)
    shapes = [parameter.array_shape for parameter in module.entry.parameters]
    return [random.normal(0, 3, s.dimensions).astype(s.element_type.dtype) for s in shapes]


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_same_bits(name: str, strict: bool) -> None:
    given = arguments(name)
    alone = ccodegen.compile(PROGRAMS[name], strict=strict)
    expected = alone(*given)
    for threads in (2, 3):
        exe = ccodegen.compile(PROGRAMS[name], threads=threads, strict=strict)
        for _ in range(3):
            np.testing.assert_array_equal(exe(*given), expected)


@pytest.mark.parametrize("name", PROGRAMS)
def test_work_is_shared(name: str) -> None:
    assert shares_work(PROGRAMS[name])


def test_a_small_product_is_not() -> None:
    text = """ENTRY e { x = f32[48,48] parameter(0)  y = f32[48,48] parameter(1)
        ROOT r = f32[48,48] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} }"""
    assert not shares_work(text)
    assert shares_work(text.replace("48", "64"))


def shares_work(text: str) -> bool:
    """Whether a program for two threads does, and then has a pool for its kernels."""
    program = ccodegen.compile(text, threads=2).build.program
    units = emit_table(program, with_threads(load("host"), 2)).units
    shares = any("ccg_in_parts(threads, " in unit.text for unit in units)
    assert shares == any("= &ccg_shared_threads;" in unit.text for unit in units)
    return shares


def test_callers_on_several_threads() -> None:
    exe = ccodegen.compile(PROGRAMS["elementwise"], threads=2)
    given = arguments("elementwise")
    expected = exe(*given)
    wrong: list[int] = []

    def run(number: int) -> None:
        for _ in range(20):
            if not np.array_equal(exe(*given), expected):
                wrong.append(number)

    callers = [threading.Thread(target=run, args=(n,)) for n in range(3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert wrong == []


def test_a_forked_process_works_alone() -> None:
    exe = ccodegen.compile(PROGRAMS["rows"], threads=2)
    given = arguments("rows")
    expected = exe(*given)
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(exe(*given), expected) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_unloading_ends_the_threads() -> None:
    def count() -> int:
        return len(os.listdir("/proc/self/task"))

    gc.collect()
    before = count()
    exe = ccodegen.compile(PROGRAMS["columns"], threads=3)
    exe(*arguments("columns"))
    assert count() == before + 2
    del exe
    gc.collect()
    assert count() == before


@pytest.mark.parametrize("threads", [0, -1, 65])
def test_impossible_numbers_of_threads_are_errors(threads: int) -> None:
    with pytest.raises(InputError, match="threads"):
        ccodegen.compile(PROGRAMS["rows"], threads=threads)
