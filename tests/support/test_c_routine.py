"""The translation of C routines to Python: what it computes, and what it says that it cannot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ccodegen.support import c_routine
from ccodegen.support.c_headers import definitions_of
from ccodegen.support.errors import InternalError

SOURCE = """
typedef unsigned int uint32_t; typedef int int32_t; typedef long long ptrdiff_t;
typedef unsigned char uint8_t; typedef unsigned long long uint64_t; typedef signed char int8_t;
typedef struct { float re; float im; } pair;
pair turned(pair z, int times)
{
    do {
        float re = -z.im;
        z.im = z.re;
        z.re = re;
        times--;
    } while (times > 0);
    return z;
}
void control(int32_t *out, ptrdiff_t n)
{
    ptrdiff_t found = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        if (i % 2 != 0) {
            continue;
        }
        if (i > 6) {
            break;
        }
        found += i;
    }
    out[0] = (int32_t)found;
    out[1] = (int32_t)(-7 / 2 * 10 + -7 % 2);
    out[2] = n > 3 && found == 12 ? 1 : -1;
    *(out + 3) = !(n < 0) + 1;
}
void integers(uint32_t *out, int32_t *in)
{
    const int32_t *last = in + 1;
    uint8_t low = (uint8_t)in[0];
    out[0] = (uint32_t)in[0] * 0x9e3779b9u;
    out[1] = low;
    out[2] = ~out[1] >> 4;
    out[3] = (uint32_t)*last << 31;
    out[4] = (uint32_t)(int8_t)low;
}
void floats(float *out)
{
    float held[2], zero = 0;
    uint32_t bits;
    pair z;
    held[1] = 16777216.0f;
    out[0] = held[1] + 1 + 1;
    out[1] = (float)((double)held[1] + 1 + 2);
    out[2] = -1 / zero;
    z.re = 1;
    z.im = 2;
    out[3] = turned(z, 2).im;
    memcpy(&bits, &out[3], sizeof bits);
    out[4] = (float)(bits >> 24);
}
void beyond(float *x)
{
    goto end;
end:
    x[0] = 0;
}
"""


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Any:
    made = c_routine.library_of(definitions_of(SOURCE))
    monkeypatch.setattr(c_routine, "_library", lambda: made)
    return made


def test_loops_and_branches(library: Any) -> None:
    out = np.zeros(4, np.int32)
    c_routine.call("control", [out], [9])
    assert out.tolist() == [12, -31, 1, 2]


def test_integers_wrap_as_in_c(library: Any) -> None:
    out, given = np.zeros(5, np.uint32), np.array([-3, 3], np.int32)
    c_routine.call("integers", [out, given], [])
    product = (-3 * 0x9E3779B9) % 2**32
    assert out.tolist() == [product, 253, 0x0FFFFFF0, 0x80000000, 2**32 - 3]


def test_floats_round_to_their_type(library: Any) -> None:
    out = np.zeros(5, np.float32)
    c_routine.call("floats", [out], [])
    assert out.tolist() == [16777216.0, 16777220.0, -np.inf, -2.0, 0xC0]


def test_what_is_not_understood_is_an_error(library: Any) -> None:
    with pytest.raises(InternalError, match="not understood: Goto"):
        c_routine.call("beyond", [np.zeros(1, np.float32)], [])
    with pytest.raises(InternalError, match="no function"):
        c_routine.call("nothing", [], [])


def test_all_routines_can_be_translated() -> None:
    library = c_routine._library()
    for name in library.functions:
        assert callable(library.python(name))
