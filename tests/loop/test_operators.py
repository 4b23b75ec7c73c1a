"""Every scalar operator on every type: the C it is spelled in gives the bits of its NumPy form."""

import ctypes
import itertools
import subprocess

import ml_dtypes
import numpy as np
import pytest

from ccodegen.loop.operators import OPERATORS, check, evaluate, spell
from ccodegen.loop.spelling import c_type
from ccodegen.support.element_type import HLO_TYPES, ElementType, Kind, from_dtype
from ccodegen.support.runtime_c import header_dir

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
PRED, U32, INDEX = ElementType.PRED, ElementType.U32, ElementType.INDEX
TYPES = (*HLO_TYPES.values(), INDEX)
FLAGS = [
    *("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow"),
    *("-Wmissing-prototypes", "-Werror", "-O1", "-ffp-contract=off", "-DCCG_STRICT"),
    *("-shared", "-fPIC"),
]
SPECIAL = (
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, 3.0, -7.0, 1e-40, -1e-40, 5e-324,
    6e-8, 1.2e-38, 2.0**23, -(2.0**31), 2.0**31, 2.0**32, -(2.0**63), 2.0**64, 65519.0, 65520.0,
    448.0, 465.0, 57344.0, 61440.0, 3.4e38, 1e39, -1.7e308, 88.8, -104.0, 127.5, -128.5, 255.5,
    np.inf, -np.inf, np.nan,
)


def applications():
    """(operator, argument types, result) that `check` accepts."""
    for name, row in OPERATORS.items():
        if name == "convert":
            yield from ((name, (a,), b) for a, b in itertools.product(TYPES, TYPES))
        elif name == "bitcast-convert":
            yield from (
                (name, (a,), b) for a, b in itertools.product(TYPES, TYPES)
                if a.bits == b.bits and not {a.kind, b.kind} & {Kind.COMPLEX, Kind.INDEX, Kind.PRED}
            )
        else:
            yield from _of_one_type(name, row)


def _of_one_type(name, row):
    for t in TYPES:
        types = (t,) * row.arity
        if name == "select":
            types = (PRED, t, t)
        elif name == "reduce-precision":
            types = (t, U32, U32)
        if not check(name, types, row.result(t)):
            yield name, types, row.result(t)


APPLICATIONS = list(applications())


def c_function(number, application):
    """A loop over arrays."""
    name, types, result = application
    parameters = "".join(f"const {c_type(t)} *a{i}, " for i, t in enumerate(types))
    value = spell(name, types, result).template.format(*(f"a{i}[i]" for i in range(len(types))))
    head = f"void f{number}({parameters}{c_type(result)} *out, ptrdiff_t n)"
    loop = f"for (ptrdiff_t i = 0; i < n; i++)\n        out[i] = {value};"
    return f"{head};\n{head}\n{{\n    {loop}\n}}\n"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("operators")
    headers = set().union(*(spell(*a).headers for a in APPLICATIONS))
    source = "".join(f'#include "{h}"\n' for h in sorted(headers))
    source += "".join(c_function(n, a) for n, a in enumerate(APPLICATIONS))
    (folder / "all.c").write_text(source)
    command = ["gcc", *FLAGS, f"-I{header_dir()}", "all.c", "-o", "all.so", "-lm"]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "all.so"))


def values_of(t):
    """Values that lie at edges, and some at random."""
    random = np.random.default_rng(t.bits)
    if t is PRED:
        return np.array([False, True])
    if t.is_complex:
        parts = np.array([0.0, -0.0, 1.0, -2.5, 1e-30, 1e30, np.inf, -np.inf, np.nan, 0.7])
        return _grid(parts, t)
    if t.is_float:
        bits = random.integers(0, 256, (40, t.bytes), np.uint8) & (0xFF >> (-t.bits % 8))
        return np.concatenate([np.array(SPECIAL).astype(t.dtype), bits.view(t.dtype)[:, 0]])
    if t is INDEX:
        return np.array([0, 1, 2, 3, 5, 7, 64, 1000, 2**20 + 1])
    return _integers(t, random)


def _grid(parts, t):
    """Every real with every imaginary part."""
    result = np.empty((10, 10), t.dtype)
    result.real, result.imag = parts[:, None], parts
    return result.reshape(-1)


def _integers(t, random):
    signed = t.kind is Kind.SIGNED
    least = -(2 ** (t.bits - 1)) if signed else 0
    most = 2 ** (t.bits - signed) - 1
    edges = [least, least + 1, -3, -2, -1, 0, 1, 2, 3, 7, t.bits - 1, t.bits, t.bits + 1, most - 1]
    drawn = [int(n) for n in random.integers(least, most, 12, np.int64 if signed else np.uint64)]
    held = np.int64 if signed else np.uint64
    inside = sorted({n for n in (*edges, *drawn, most) if least <= n <= most})
    return np.array(inside, held).astype(t.dtype)


def arguments_of(name, types):
    if name == "reduce-precision":
        widths = [(5, 10), (8, 7), (4, 3), (8, 23), (2, 0), (5, 2)]
        x = values_of(types[0])
        e, m = np.array([w for w in widths for _ in x], np.uint32).T
        return [np.tile(x, len(widths)), e.copy(), m.copy()]
    if name == "saturate":
        ranges = [(-128, 127), (0, 1), (-8, 7), (0, 255)]
        x = values_of(types[0])
        least, most = np.array([r for r in ranges for _ in x], types[0].dtype).T
        return [np.tile(x, len(ranges)), least.copy(), most.copy()]
    columns = [values_of(t) for t in types]
    if name.startswith("near-"):
        columns = [c[np.abs(c) < 2**17] for c in columns]  # of others the result is any number
    if name in ("divide", "remainder") and types[0] is INDEX:
        columns[1] = columns[1][1:]
    if len(types) == 3:
        columns = [c[np.random.default_rng(0).permutation(len(c))[:24]] for c in columns]
    grid = np.meshgrid(*(np.arange(len(c)) for c in columns), indexing="ij")
    return [np.ascontiguousarray(c[g.reshape(-1)]) for c, g in zip(columns, grid, strict=True)]


def in_c(array):
    """As C holds it: ml_dtypes keeps integers below a byte zero-extended, C extends the sign."""
    t = from_dtype(array.dtype)
    narrow = t.is_integer and t.bits < 8
    return array.astype(np.int8 if t.kind is Kind.SIGNED else np.uint8) if narrow else array


def same(a, b):
    """Equal to the bit, any NaN being like any other."""
    if a.dtype.kind == "c":
        return same(a.real.copy(), b.real.copy()) & same(a.imag.copy(), b.imag.copy())
    t = from_dtype(a.dtype)
    bits = [x.view(f"u{t.bytes}") for x in (a, b)]
    equal = bits[0] == bits[1]
    if t.is_float:
        equal |= np.isnan(a.astype(np.float64)) & np.isnan(b.astype(np.float64))
    return equal


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_c_and_numpy_agree_to_the_bit(library, name):
    for number, (operator, types, result) in enumerate(APPLICATIONS):
        if operator != name:
            continue
        arrays = arguments_of(name, types)
        expected = np.ascontiguousarray(evaluate(name, arrays, result))
        assert expected.dtype == result.dtype
        got = np.empty_like(in_c(expected))
        held = [*map(in_c, arrays), got]
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in held]
        getattr(library, f"f{number}")(*pointers, ctypes.c_ssize_t(got.size))
        got = got.astype(result.dtype)
        wrong = np.flatnonzero(~same(got, expected))
        shown = [([a[i] for a in arrays], got[i], expected[i]) for i in wrong[:5]]
        assert not wrong.size, f"{name} {types} -> {result}: {wrong.size} differ: {shown}"


def test_every_spelling_names_the_header_that_declares_it():
    texts = {p.name: p.read_text() for p in header_dir().iterdir()}
    for application in APPLICATIONS:
        assert spell(*application).headers <= texts.keys(), application


def test_check_says_what_is_wrong():
    s32, f32 = ElementType.S32, ElementType.F32
    assert "no such operator" in check("frobnicate", (s32,), s32)
    assert "2 arguments" in check("add", (s32,), s32)
    assert "does not take" in check("add", (s32, f32), f32)
    assert "not defined for s32" in check("tanh", (s32,), s32)
    assert "gives pred" in check("compare-lt", (s32, s32), s32)
    assert check("select", (PRED, s32, s32), s32) == ""


def test_traps():
    def f32(*values):
        return np.array(values, np.float32)

    t = ElementType
    nan = evaluate("maximum", [f32(np.nan), f32(1)], t.F32)
    assert np.isnan(nan[0])
    zero = evaluate("maximum", [f32(0), f32(-0.0)], t.F32)
    assert not np.signbit(zero[0])
    narrow = evaluate("convert", [f32(464, 465)], t.F8E4M3FN)
    assert narrow[0] == ml_dtypes.float8_e4m3fn(448) and np.isnan(narrow[1])
    saturated = evaluate("convert", [f32(1e20, -1e20, np.nan, -1.9)], t.S4)
    assert saturated.astype(int).tolist() == [7, -8, 0, -1]
