"""Which instructions become one kernel: the pass as text, and the kernels of what models do."""

from __future__ import annotations

from collections import Counter

import pytest

from ccodegen.hlo.ir import Module
from ccodegen.passes.context import PassContext
from ccodegen.passes.fuse import fuse
from ccodegen.passes.pipelines import COMPILATION, run
from ccodegen.target import load
from tests.passes.checking import DEFAULT, canonical, module, rewrites, same_bits

_ADD = "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = add(a, b) }\n"
_LESS = (
    "less { a = f32[] parameter(0)  b = f32[] parameter(1)\n"
    "  ROOT r = pred[] compare(a, b), direction=LT }\n"
)


def kernels(program: Module) -> list[str]:
    """Of what computes in the entry: `fusion`s by kind, others by opcode."""
    found = []
    for i in program.entry.instructions:
        if i.op == "fusion":
            found.append(str(getattr(i.attributes, "kind", "")))
        elif i.op not in ("parameter", "constant", "tuple", "get-tuple-element", "reshape"):
            found.append(i.op)
    return found


def test_a_group_becomes_a_fusion() -> None:
    rewrites(
        "x = f32[3] parameter(0)  y = f32[3] parameter(1)\n"
        "a = f32[3] add(x, y)  ROOT m = f32[3] multiply(a, y)",
        "f { x = f32[3] parameter(0)  y = f32[3] parameter(1)\n"
        "  a = f32[3] add(x, y)  ROOT m = f32[3] multiply(a, y) }\n"
        "ENTRY e { x = f32[3] parameter(0)  y = f32[3] parameter(1)\n"
        "  ROOT g = f32[3] fusion(x, y), kind=kLoop, calls=f }",
        fuse,
    )


def test_a_value_read_twice_becomes_an_output() -> None:
    rewrites(
        "x = f32[3] parameter(0)  a = f32[3] negate(x)  b = f32[3] exponential(a)\n"
        "ROOT t = (f32[3], f32[3]) tuple(b, a)",
        "f { x = f32[3] parameter(0)  a = f32[3] negate(x)  b = f32[3] exponential(a)\n"
        "  ROOT t = (f32[3], f32[3]) tuple(b, a) }\n"
        "ENTRY e { x = f32[3] parameter(0)\n"
        "  g = (f32[3], f32[3]) fusion(x), kind=kLoop, calls=f\n"
        "  b = f32[3] get-tuple-element(g), index=0\n"
        "  a = f32[3] get-tuple-element(g), index=1\n"
        "  ROOT t = (f32[3], f32[3]) tuple(b, a) }",
        fuse,
    )


def test_what_is_fused_stays_fused() -> None:
    program = module("x = f32[3] parameter(0)  a = f32[3] negate(x)  ROOT b = f32[3] sine(a)")
    once = fuse(program, DEFAULT)
    assert canonical(fuse(once, DEFAULT)) == canonical(once)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            _ADD + "ENTRY e { x = f32[8,64] parameter(0)  z = f32[] constant(0)\n"
            "s = f32[8,64] multiply(x, x)\n"
            "r = f32[8] reduce(s, z), dimensions={1}, to_apply=add  ROOT q = f32[8] sqrt(r) }",
            ["kInput"],
            id="reduce with prologue and epilogue",
        ),
        pytest.param(
            "ENTRY e { x = f32[8,16] parameter(0)  w = f32[16,32] parameter(1)\n"
            "b = f32[32] parameter(2)  d = f32[8,32] dot(x, w), lhs_contracting_dims={1},"
            " rhs_contracting_dims={0}\n"
            "s = f32[8,32] broadcast(b), dimensions={1}  a = f32[8,32] add(d, s)\n"
            "z = f32[] constant(0)  n = f32[8,32] broadcast(z), dimensions={}\n"
            "ROOT r = f32[8,32] maximum(a, n) }",
            ["kOutput"],
            id="dot, bias, relu",
        ),
        pytest.param(
            "larger { a = f32[] parameter(0)  i = s32[] parameter(1)  b = f32[] parameter(2)\n"
            "j = s32[] parameter(3)  c = pred[] compare(a, b), direction=GE\n"
            "v = f32[] select(c, a, b)  n = s32[] select(c, i, j)\n"
            "ROOT t = (f32[], s32[]) tuple(v, n) }\n"
            "ENTRY e { x = f32[8,64] parameter(0)  i = s32[8,64] iota(), iota_dimension=1\n"
            "m = f32[] constant(-inf)  z = s32[] constant(0)\n"
            "r = (f32[8], s32[8]) reduce(x, i, m, z), dimensions={1}, to_apply=larger\n"
            "ROOT g = s32[8] get-tuple-element(r), index=1 }",
            ["kInput"],
            id="argmax over an iota",
        ),
        pytest.param(
            _ADD + "ENTRY e { x = f32[64] parameter(0)  z = f32[] constant(0)\n"
            "ROOT r = f32[64] reduce-window(x, z), window={size=64 pad=63_0}, to_apply=add }",
            ["reduce-window"],
            id="cumsum",
        ),
        pytest.param(
            _ADD + "ENTRY e { x = f32[8,64] parameter(0)  z = f32[] constant(0)\n"
            "y = f32[8,64] exponential(x)\n"
            "r = f32[8] reduce(y, z), dimensions={1}, to_apply=add  l = f32[8] log(r)\n"
            "s = f32[8,64] broadcast(l), dimensions={0}  d = f32[8,64] subtract(x, s)\n"
            "ROOT t = (f32[8,64], f32[8], f32[8,64]) tuple(d, r, y) }",
            ["kInput"],
            id="row values stored beside what is made of them",
        ),
        pytest.param(
            _ADD + "ENTRY e { x = f32[64,8] parameter(0)  z = f32[] constant(0)\n"
            "r = f32[8] reduce(x, z), dimensions={0}, to_apply=add\n"
            "s = f32[64,8] broadcast(r), dimensions={1}  ROOT d = f32[64,8] subtract(x, s) }",
            ["reduce", "kLoop"],
            id="columns are stored before they are spread",
        ),
        pytest.param(
            _ADD + "ENTRY e { x = f32[8,4,2] parameter(0)  y = f32[8,4,2] parameter(1)\n"
            "a = f32[8,4,2] multiply(x, y)  r = f32[8,8] reshape(a)  w = f32[8,8] parameter(2)\n"
            "d = f32[8,8] dot(r, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
            "z = f32[] constant(0)  s = f32[8] reduce(r, z), dimensions={0}, to_apply=add\n"
            "ROOT t = (f32[8,8], f32[8]) tuple(d, s) }",
            ["multiply", "kOutput", "kInput"],
            id="one of two readers of a reshape needs the value in memory: it is computed once",
        ),
        pytest.param(
            "ENTRY e { x = f32[8] parameter(0)  s = f32[8] tanh(x)\n"
            "b = f32[64,8] broadcast(s), dimensions={1}  y = f32[64,8] parameter(1)\n"
            "ROOT m = f32[64,8] multiply(b, y) }",
            ["tanh", "kLoop"],
            id="what is dear is not computed again for each copy",
        ),
        pytest.param(
            "ENTRY e { x = f32[8] parameter(0)  s = f32[8] tanh(x)  a = f32[8] add(s, x)\n"
            "b = f32[64,8] broadcast(a), dimensions={1}  y = f32[64,8] parameter(1)\n"
            "ROOT m = f32[64,8] multiply(b, y) }",
            ["kLoop", "kLoop"],
            id="nor what is made of it",
        ),
    ],
)
def test_kernels(text: str, expected: list[str]) -> None:
    assert kernels(run(module(text), COMPILATION, DEFAULT)) == expected


@pytest.mark.parametrize("count", [2, 3])
def test_groups_of_several_outputs_make_no_cycle(count: int) -> None:
    """Each of a ring of groups wants a value of the one before it: one must do without."""
    lines = ["x = f32[4] parameter(0)"]
    lines += [f"a{n} = f32[4] negate(x)" for n in range(count)]
    for n in range(count):
        lines.append(f"s{n} = f32[4] sort(a{n}), dimensions={{0}}, to_apply=less")
    lines += [f"f{n} = f32[4] add(a{n}, s{n - 1 if n else count - 1})" for n in range(count)]
    shapes, names = ", ".join(["f32[4]"] * count), ", ".join(f"f{n}" for n in range(count))
    lines.append(f"ROOT t = ({shapes}) tuple({names})")
    program = module(_LESS + "ENTRY e {\n" + "\n".join(lines) + "\n}")
    fused = fuse(program, DEFAULT)
    assert kernels(fused).count("kLoop") == count - 1
    assert same_bits(program, fused)


_JAX_KERNELS = {
    "softmax": 1,
    "layer_norm": 1,
    "layer_norm_of_one": 1,
    "group_norm": 3,  # whose rows lie in pieces
    "gelu": 1,
    "adam": 1,
    "masked_softmax": 1,
    "standard_deviation": 1,
    "normalised_convolution": 1,
}


@pytest.mark.parametrize(("name", "count"), _JAX_KERNELS.items())
def test_kernels_of_jax_programs(name: str, count: int) -> None:
    jax = pytest.importorskip("jax")
    from ccodegen.frontends.read import read
    from tests import jax_programs

    function, arguments = jax_programs.SMALL[name]
    program = read(jax.jit(function).lower(*arguments))
    found = kernels(run(program, COMPILATION, DEFAULT))
    assert len(found) == count, Counter(found)


def test_no_cycle_through_a_reader_that_is_copied() -> None:
    """The sum could store the row values that it computes, but needs what is sorted, and that needs
    them too: through a copy of the broadcast."""
    program = module(
        f"{_ADD}{_LESS}ENTRY e {{\n"
        "  x = f32[2] parameter(0)  y = f32[2,3] parameter(1)  zero = f32[] constant(0)\n"
        "  s = f32[2] negate(x)  u = f32[2,3] broadcast(s), dimensions={0}\n"
        "  t = f32[2,3] multiply(u, y)\n"
        "  w = f32[2,3] sort(t), dimensions={1}, to_apply=less\n"
        "  m = f32[2,3] add(u, w)\n"
        "  ROOT r = f32[2] reduce(m, zero), dimensions={1}, to_apply=add\n}"
    )
    assert same_bits(program, fuse(program, DEFAULT))


def test_code_does_not_double_with_each_level() -> None:
    """Each value is read at two indices: after ten levels the first would be read at a thousand."""
    f32 = f"f32[{','.join('2' * 10)}]"
    levels = [
        f"r{n} = {f32} reverse(v{n}), dimensions={{{n}}}  v{n + 1} = {f32} add(v{n}, r{n})\n"
        for n in range(10)
    ]
    program = module(f"v0 = {f32} parameter(0)\n{''.join(levels)}ROOT y = {f32} negate(v10)")
    assert 3 <= len(kernels(fuse(program, DEFAULT))) <= 10


VECTORS = PassContext(target=load("x86-64"))


def test_numbers_are_no_arrays_where_a_kernel_is_full() -> None:
    turns = "\n".join(
        f"""k{n} = u32[] constant({n})  b{n} = u32[50] broadcast(k{n}), dimensions={{}}
        x{n + 1} = u32[50] multiply(x{n}, b{n})"""
        for n in range(250)
    )
    text = f"ENTRY e {{ x0 = u32[50] parameter(0)\n{turns}\n ROOT r = u32[50] negate(x250) }}"
    new = fuse(module(text), DEFAULT)
    assert [i.op for i in new.entry.instructions].count("broadcast") == 0
    assert len(kernels(new)) == 2
    assert same_bits(module(text), new)


def test_numbers_that_other_kernels_read_too_are_no_inputs() -> None:
    """A model has many gelus: they share the coefficients of their polynomials."""
    lines = ["x0 = f32[9] parameter(0)  y0 = f32[9] parameter(1)"]
    for n in range(40):
        lines.append(f"k{n} = f32[] constant({n})  b{n} = f32[9] broadcast(k{n}), dimensions={{}}")
        lines += [f"{v}{n + 1} = f32[9] multiply({v}{n}, b{n})" for v in "xy"]
    program = module("\n".join([*lines, "ROOT t = (f32[9], f32[9]) tuple(x40, y40)"]))
    assert kernels(fuse(program, DEFAULT)) == ["kLoop", "kLoop"]


def test_a_chain_through_bits_of_one_width_is_one_kernel() -> None:
    turns = "\n".join(f"x{n + 1} = u32[50] not(x{n})" for n in range(100))
    text = f"""ENTRY e {{ x0 = u32[50] parameter(0)
      {turns}
      f = f32[50] bitcast-convert(x100)  ROOT r = f32[50] negate(f) }}"""
    assert len(kernels(fuse(module(text), DEFAULT))) == 1


def test_a_large_concatenate_is_read_by_ranges() -> None:
    program = module(
        "x = f32[64,64] parameter(0)  a = f32[1,64] slice(x), slice={[63:64], [0:64]}\n"
        "b = f32[63,64] slice(x), slice={[0:63], [0:64]}\n"
        "c = f32[64,64] concatenate(a, b), dimensions={0}  ROOT d = f32[64,64] subtract(c, x)"
    )
    assert kernels(fuse(program, VECTORS)) == ["kLoop"]
    assert kernels(fuse(program, PassContext(target=load("cortex-m4")))) == ["kLoop", "subtract"]


def test_a_large_concatenate_is_there_for_who_reads_it_anywhere() -> None:
    program = module(
        "x = f32[64,64] parameter(0)  i = s32[] parameter(1)  z = s32[] constant(0)\n"
        "c = f32[128,64] concatenate(x, x), dimensions={0}  n = f32[128,64] negate(c)\n"
        "d = f32[64,64] dynamic-slice(n, i, z), dynamic_slice_sizes={64,64}\n"
        "ROOT e = f32[64,64] subtract(d, x)"
    )
    assert kernels(fuse(program, VECTORS)) == ["concatenate", "kLoop"]


@pytest.mark.parametrize(("parts", "found"), [(1, ["kLoop", "kLoop"]), (32, ["kLoop"])])
def test_what_comes_by_turns_is_there_for_who_reads_it_in_columns(
    parts: int, found: list[str]
) -> None:
    size = 64 // parts
    program = module(
        f"x = f32[{size},{parts},64] parameter(0)  y = f32[{size},{parts},64] parameter(1)\n"
        f"n = f32[{size},{parts},64] negate(x)  m = f32[{size},{parts},64] negate(y)\n"
        f"c = f32[{size},{2 * parts},64] concatenate(n, m), dimensions={{1}}\n"
        "r = f32[128,64] reshape(c)  a = f32[128,64] abs(r)\n"
        "ROOT t = f32[64,128] transpose(a), dimensions={1,0}"
    )
    assert kernels(fuse(program, VECTORS)) == found


_PLACES = (
    "offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=1,"
    " slice_sizes={1,1}"
)


def test_a_gather_reads_coordinates_where_they_are() -> None:
    start = (
        "x = f32[9,9] parameter(0)  i = s32[2000,1] parameter(1)  j = s32[2000,1] parameter(2)\n"
        "ni = s32[2000,1] negate(i)  nj = s32[2000,1] negate(j)\n"
        "p = s32[2000,2] concatenate(ni, nj), dimensions={1}\n"
        f"g = f32[2000] gather(x, p), {_PLACES}\n"
    )
    alone = module(start + "ROOT n = f32[2000] negate(g)")
    assert kernels(fuse(alone, VECTORS)) == ["kLoop"]
    assert same_bits(alone, fuse(alone, VECTORS))


@pytest.mark.parametrize(
    ("result", "found"),
    [
        ("s = f32[2000] add(g, h)", {"kLoop": 1}),
        ("t = (f32[2000], f32[2000]) tuple(g, h)", {"negate": 1, "kLoop": 2}),
    ],
)
def test_coordinates_of_several_gathers_are_made_once(result: str, found: dict[str, int]) -> None:
    program = module(
        "x = f32[9,9] parameter(0)  i = s32[2000,1] parameter(1)  j = s32[2000,1] parameter(2)\n"
        "ni = s32[2000,1] negate(i)\n"
        "p = s32[2000,2] concatenate(ni, j), dimensions={1}\n"
        f"g = f32[2000] gather(x, p), {_PLACES}\n"
        "q = s32[2000,2] concatenate(j, ni), dimensions={1}\n"
        f"h = f32[2000] gather(x, q), {_PLACES}\n"
        f"ROOT {result}"
    )
    assert Counter(kernels(fuse(program, VECTORS))) == found


def _rows_of(result: str, offsets: str, sizes: str) -> str:
    return (
        f"g = f32[{result}] gather(x, q), offset_dims={{{offsets}}}, collapsed_slice_dims={{1}},"
        f" start_index_map={{1}}, index_vector_dim=1, slice_sizes={{{sizes}}}\n"
    )


@pytest.mark.parametrize(
    ("gather", "made", "target", "count"),
    [
        (_rows_of("50,400,3", "0,2", "50,1,3"), "maximum", VECTORS, 2),  # around them
        (_rows_of("400,50,3", "1,2", "50,1,3"), "maximum", VECTORS, 1),
        (_rows_of("400,50,3", "1,2", "50,1,3"), "divide", VECTORS, 1),  # many for each
        (_rows_of("400,5,3", "1,2", "5,1,3"), "maximum", VECTORS, 1),
        (_rows_of("400,5,3", "1,2", "5,1,3"), "divide", VECTORS, 2),  # few
        (_rows_of("400,1,1", "1,2", "1,1,1"), "divide", VECTORS, 1),  # in vectors
        (_rows_of("400,1,1", "1,2", "1,1,1").replace("f32", "s8"), "divide", VECTORS, 3),
        (_rows_of("400,1,1", "1,2", "1,1,1").replace("f32", "s8"), "maximum", VECTORS, 2),
        (_rows_of("50,1,400", "0,1", "50,1,1"), "maximum", VECTORS, 1),
        (_rows_of("50,1,400", "0,1", "50,1,1"), "divide", VECTORS, 2),
        (_rows_of("50,400,3", "0,2", "50,1,3"), "divide", DEFAULT, 1),
    ],
)
def test_coordinates_are_made_before_they_are_made_again(
    gather: str, made: str, target: PassContext, count: int
) -> None:
    element = "s8" if "s8" in gather else "f32"
    program = module(
        f"x = {element}[50,90,3] parameter(0)  i = s32[400] parameter(1)  n = s32[400] negate(i)\n"
        f"m = s32[400] {made}(n, i)  q = s32[400,1] reshape(m)\n{gather}ROOT r = negate(g)"
    )
    fused = fuse(program, target)
    assert len(kernels(fused)) == count
    assert same_bits(program, fused)


@pytest.mark.parametrize(("places", "count"), [(20, 1), (60, 1), (61, 2)])
def test_a_gather_reads_another_one_unless_it_reads_more_than_there_is(
    places: int, count: int
) -> None:
    program = module(
        "x = f32[50,90,3] parameter(0)  i = s32[60,1] parameter(1)\n"
        f"j = s32[{places},1] parameter(2)\n"
        "g = f32[60,90,3] gather(x, i), offset_dims={1,2}, collapsed_slice_dims={0},"
        " start_index_map={0}, index_vector_dim=1, slice_sizes={1,90,3}\n"
        f"h = f32[{places},90,3] gather(g, j), offset_dims={{1,2}}, collapsed_slice_dims={{0}},"
        " start_index_map={0}, index_vector_dim=1, slice_sizes={1,90,3}\n"
        f"ROOT r = f32[{places},90,3] negate(h)"
    )
    for target in (VECTORS, DEFAULT):
        fused = fuse(program, target)
        assert len(kernels(fused)) == count
        assert same_bits(program, fused)


def test_reduces_of_one_array_are_one_kernel() -> None:
    program = module(
        _ADD + "ENTRY e { x = f32[8,50] parameter(0)  z = f32[] constant(0)\n"
        "  n = f32[8,50] multiply(x, x)\n"
        "  a = f32[8] reduce(x, z), dimensions={1}, to_apply=add\n"
        "  b = f32[8] reduce(n, z), dimensions={1}, to_apply=add\n"
        "  ROOT t = (f32[8], f32[8]) tuple(a, b) }"
    )
    assert kernels(fuse(program, DEFAULT)) == ["kInput"]


def test_a_part_of_an_argument_is_read_where_it_lies() -> None:
    text = (
        _ADD + "ENTRY e { x = f32[600] parameter(0)  z = f32[] constant(0)\n"
        "s = f32[500] slice(x), slice={[0:500]}  e = f32[500] exponential(s)\n"
        "a = f32[] reduce(s, z), dimensions={0}, to_apply=add\n"
        "b = f32[500] broadcast(a), dimensions={}  c = f32[500] divide(s, b)\n"
        "ROOT t = (f32[500], f32[500]) tuple(e, c) }"
    )
    assert "slice" not in kernels(fuse(module(text), DEFAULT))


def test_reduces_of_different_arrays_are_two() -> None:
    program = module(
        _ADD + "ENTRY e { x = f32[8,50] parameter(0)  y = f32[8,50] parameter(1)\n"
        "  z = f32[] constant(0)  n = f32[8,50] negate(x)  m = f32[8,50] negate(y)\n"
        "  a = f32[8] reduce(n, z), dimensions={1}, to_apply=add\n"
        "  b = f32[8] reduce(m, z), dimensions={1}, to_apply=add\n"
        "  ROOT t = (f32[8], f32[8]) tuple(a, b) }"
    )
    assert kernels(fuse(program, DEFAULT)) == ["kInput", "kInput"]


def test_a_reduce_that_needs_another_by_way_of_a_kernel_is_one_of_its_own() -> None:
    program = module(
        _ADD + "ENTRY e { x = f32[8,50] parameter(0)  z = f32[] constant(0)\n"
        "  a = f32[8] reduce(x, z), dimensions={1}, to_apply=add  r = f32[8] sort(a),"
        " dimensions={0}, to_apply=less\n"
        "  s = f32[8,50] broadcast(r), dimensions={0}  n = f32[8,50] multiply(x, s)\n"
        "  b = f32[8] reduce(n, z), dimensions={1}, to_apply=add\n"
        "  ROOT t = (f32[8], f32[8]) tuple(a, b) }\n".replace("ENTRY", _LESS + "ENTRY")
    )
    assert kernels(fuse(program, DEFAULT)) == ["reduce", "sort", "kInput"]


def test_a_column_that_is_read_often_lies_side_by_side() -> None:
    text = (
        "x = f32[64,3] parameter(0)  s = f32[64,1] slice(x), slice={[0:64], [1:2]}\n"
        "r = f32[64] reshape(s)  b = f32[N,64] broadcast(r), dimensions={1}\n"
        "ROOT n = f32[N,64] negate(b)"
    )
    assert kernels(fuse(module(text.replace("N", "64")), VECTORS)) == ["slice", "kLoop"]
    assert kernels(fuse(module(text.replace("N", "64")), DEFAULT)) == ["kLoop"]
    assert kernels(fuse(module(text.replace("N", "2")), VECTORS)) == ["kLoop"]


def test_what_is_looked_up_and_read_often_lies_side_by_side() -> None:
    text = (
        "x = f32[64] parameter(0)  i = s32[32,1] parameter(1)\n"
        "g = f32[32] gather(x, i), offset_dims={}, collapsed_slice_dims={0},\n"
        "  start_index_map={0}, index_vector_dim=1, slice_sizes={1}\n"
    )
    rows = f"{text} b = f32[N,32] broadcast(g), dimensions={{1}}  ROOT n = f32[N,32] negate(b)"
    each = f"{text} b = f32[32,N] broadcast(g), dimensions={{0}}  ROOT n = f32[32,N] negate(b)"
    assert kernels(fuse(module(rows.replace("N", "64")), VECTORS)) == ["gather", "kLoop"]
    assert kernels(fuse(module(rows.replace("N", "64")), DEFAULT)) == ["kLoop"]
    assert kernels(fuse(module(rows.replace("N", "2")), VECTORS)) == ["kLoop"]
    assert kernels(fuse(module(each.replace("N", "64")), VECTORS)) == ["kLoop"]


@pytest.mark.parametrize(
    ("size", "made", "is_fused"),
    [
        ("32,64", "transpose(y), dimensions={1,0}", False),
        ("64,64", "slice(y), slice={[0:64], [0:64:2]}", False),
        ("64,32", "slice(y), slice={[0:64], [0:32]}", True),
        ("64,32", "reverse(y), dimensions={0}", True),
        ("64,16", "reshape(b)", False),
    ],
)
@pytest.mark.parametrize("is_first", [False, True])
def test_an_epilogue_reads_what_lies_side_by_side(
    size: str, made: str, is_fused: bool, is_first: bool
) -> None:
    """In whatever order the two are looked at."""
    dot = "d = f32[64,32] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    other = f"o = f32[64,32] {made}\n"
    program = module(
        f"x = f32[64,24] parameter(0)  w = f32[24,32] parameter(1)  y = f32[{size}] parameter(2)\n"
        + ("b = f32[64,16,2] broadcast(y), dimensions={0,1}\n" if "b" in made else "")
        + (dot + other if is_first else other + dot)
        + f"ROOT a = f32[64,32] add({'d, o' if is_first else 'o, d'})"
    )
    assert (len(kernels(fuse(program, VECTORS))) == 1) == is_fused
    assert len(kernels(fuse(program, DEFAULT))) == 1


def test_columns_that_are_read_as_rows_more_than_once_are_rows_first() -> None:
    text = (
        _ADD + "ENTRY e { x = f32[50,8] parameter(0)  z = f32[] constant(0)\n"
        "  t = f32[8,50] transpose(x), dimensions={1,0}  n = f32[8,50] negate(t)\n"
        "  r = f32[8] reduce(n, z), dimensions={1}, to_apply=add\n"
    )
    once = module(text + "  ROOT q = f32[8] negate(r) }")
    again = module(
        text + "  b = f32[8,50] broadcast(r), dimensions={0}  ROOT q = f32[8,50] add(n, b) }"
    )
    assert kernels(fuse(once, VECTORS)) == ["kInput"]
    assert kernels(fuse(again, VECTORS)) == ["transpose", "kInput"]
    assert kernels(fuse(again, DEFAULT)) == ["kInput"]


def test_rows_that_are_read_often_are_no_columns() -> None:
    text = (
        "x = f32[64,32] parameter(0)  t = f32[32,64] transpose(x), dimensions={1,0}\n"
        "b = f32[N,32,64] broadcast(t), dimensions={1,2}  ROOT n = f32[N,32,64] negate(b)"
    )
    assert kernels(fuse(module(text.replace("N", "64")), VECTORS)) == ["transpose", "kLoop"]
    assert kernels(fuse(module(text.replace("N", "64")), DEFAULT)) == ["kLoop"]
    assert kernels(fuse(module(text.replace("N", "2")), VECTORS)) == ["kLoop"]


@pytest.mark.parametrize(
    ("rows", "row", "op", "count"),
    [
        (64, 100, "tanh", 2),
        (63, 100, "tanh", 1),
        (64, 100, "sqrt", 1),
        (64, 31, "tanh", 1),  # rows in lanes
        (64, 512, "tanh", 1),
    ],
)
def test_functions_of_rows_are_called_for_several(rows: int, row: int, op: str, count: int) -> None:
    text = (
        f"{_ADD} ENTRY e {{ x = f32[{rows},{row}] parameter(0)  z = f32[] constant(0)\n"
        f"  r = f32[{rows}] reduce(x, z), dimensions={{1}}, to_apply=add\n"
    )
    alone = module(f"{text}  ROOT f = f32[{rows}] {op}(r) }}")
    assert len(kernels(fuse(alone, VECTORS))) == count
    assert len(kernels(fuse(alone, DEFAULT))) == 1
    spread = module(
        f"{text}  f = f32[{rows}] {op}(r)  s = f32[{rows},{row}] broadcast(f), dimensions={{0}}\n"
        f"  ROOT d = f32[{rows},{row}] subtract(x, s) }}"
    )
    assert len(kernels(fuse(spread, VECTORS))) == 1, "each row needs its own at once"


@pytest.mark.parametrize(
    ("dimensions", "contracting", "kernels_made"),
    [
        (("64,20", "20", "64"), 1, 2),
        (("20,64", "20", "64"), 0, 2),
        (("63,20", "20", "63"), 1, 1),
        (("64,512", "512", "64"), 1, 1),
        (("64,20", "20,15", "64,15"), 1, 2),
        (("64,20", "20,16", "64,16"), 1, 1),
        (("20", "20,64", "64"), 0, 1),
        (("20", "20", ""), 0, 1),
    ],
)
def test_functions_of_few_sums_are_called_for_several(
    dimensions: tuple[str, str, str], contracting: int, kernels_made: int
) -> None:
    """`dimensions`: of both operands of a product, and of the result."""
    lhs, rhs, result = (f"f32[{sizes}]" for sizes in dimensions)
    text = (
        f"x = {lhs} parameter(0)  y = {rhs} parameter(1)\n"
        f"p = {result} dot(x, y), lhs_contracting_dims={{{contracting}}},"
        "  rhs_contracting_dims={0}\n"
    )
    for op in ("tanh", "sqrt"):
        program = module(f"{text}ROOT f = {result} {op}(p)")
        assert len(kernels(fuse(program, VECTORS))) == (kernels_made if op == "tanh" else 1)
        assert len(kernels(fuse(program, DEFAULT))) == 1


@pytest.mark.parametrize(
    ("kind", "row", "op", "count"),
    [
        ("bf16", 16, "negate", 2),
        ("bf16", 17, "negate", 1),
        ("bf16", 64, "tanh", 2),
        ("bf16", 65, "tanh", 1),
        ("s8", 4, "reshape", 1),
        ("f32", 4, "negate", 1),
        ("f32", 24, "tanh", 2),
        ("f32", 25, "tanh", 1),
    ],
)
def test_short_rows_that_are_gathered_lie_side_by_side_first(
    kind: str, row: int, op: str, count: int
) -> None:
    text = (
        f"x = {kind}[99,{row}] parameter(0)  i = s32[500] parameter(1)\n"
        f"g = {kind}[500,{row}] gather(x, i), offset_dims={{1}}, collapsed_slice_dims={{0}},"
        f" start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,{row}}}\n"
    )
    result = f"{kind}[{500 * row}]" if op == "reshape" else f"{kind}[500,{row}]"
    program = module(f"{text}ROOT n = {result} {op}(g)")
    assert len(kernels(fuse(program, VECTORS))) == count
    assert len(kernels(fuse(program, DEFAULT))) == 1


def test_columns_of_rows_that_are_gathered_are_one_kernel() -> None:
    """Its rows are added up as they are found."""
    program = module(
        "add { a = s16[] parameter(0)  b = s16[] parameter(1)  ROOT c = s16[] add(a, b) }\n"
        "ENTRY e { x = s16[99,8] parameter(0)  i = s32[500] parameter(1)  z = s16[] constant(0)\n"
        "g = s16[500,8] gather(x, i), offset_dims={1}, collapsed_slice_dims={0},"
        " start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}\n"
        "n = s16[500,8] negate(g)\n"
        "ROOT r = s16[8] reduce(n, z), dimensions={0}, to_apply=add }"
    )
    assert len(kernels(fuse(program, VECTORS))) == 1


def test_rolls_of_one_array_are_one_input() -> None:
    """A kernel takes any number of them, also where each of them is read by several others."""
    lines = ["x = f32[64,64] parameter(0)  s0 = f32[64,64] negate(x)  w0 = f32[64,64] abs(x)"]
    for n in range(1, 31):
        lines.append(
            f"a{n} = f32[{n},64] slice(x), slice={{[{64 - n}:64], [0:64]}}\n"
            f"b{n} = f32[{64 - n},64] slice(x), slice={{[0:{64 - n}], [0:64]}}\n"
            f"c{n} = f32[64,64] concatenate(a{n}, b{n}), dimensions={{0}}\n"
            f"e{n} = f32[64,64] exponential(c{n})\n"
            f"w{n} = f32[64,64] add(w{n - 1}, e{n})\n"
        )
    for n in range(1, 31):
        lines.append(
            f"p{n} = f32[64,64] multiply(e{n}, c{n})  s{n} = f32[64,64] add(s{n - 1}, p{n})"
        )
    program = module("\n".join([*lines, "ROOT r = f32[64,64] divide(s30, w30)"]))
    assert kernels(fuse(program, VECTORS)) == ["kLoop"]


def test_reduces_whose_kernels_would_need_each_other_stay_apart() -> None:
    """The second is made of an output of a kernel that needs the first one for its other output."""
    program = module(
        _ADD + _LESS + "ENTRY e { x = f32[8,50] parameter(0)  z = f32[] constant(0)\n"
        "  y = f32[4,2] parameter(1)  a = f32[8] reduce(x, z), dimensions={1}, to_apply=add\n"
        "  p = f32[4,2] sine(y)  c = f32[4,2] reshape(a)  q = f32[4,2] multiply(c, p)\n"
        "  l = f32[8] reshape(p)  s = f32[8] sort(l), dimensions={0}, to_apply=less\n"
        "  t = f32[8,50] broadcast(s), dimensions={0}  n = f32[8,50] multiply(x, t)\n"
        "  b = f32[8] reduce(n, z), dimensions={1}, to_apply=add\n"
        "  ROOT r = (f32[4,2], f32[8]) tuple(q, b) }"
    )
    assert same_bits(program, fuse(program, DEFAULT))


@pytest.mark.parametrize(
    "last",
    [
        "f32[9,40] concatenate(x, a, b, c), dimensions={1}",
        "f32[9,10] dynamic-update-slice(y, c, z, z)",
    ],
)
def test_windows_of_windows_are_made_one_after_the_other(last: str) -> None:
    """Each element of the last one would else be made of 5 x 5 x 5 others."""
    window = "window={size=1x5 pad=0_0x2_2}, to_apply=max"
    program = module(
        "max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = maximum(a, b) }\n"
        "ENTRY e { x = f32[9,10] parameter(0)  y = f32[9,10] parameter(1)\n"
        "  l = f32[] constant(-inf)  z = s32[] constant(0)\n"
        f"  a = f32[9,10] reduce-window(x, l), {window}\n"
        f"  b = f32[9,10] reduce-window(a, l), {window}\n"
        f"  c = f32[9,10] reduce-window(b, l), {window}\n"
        f"  ROOT r = {last} }}"
    )
    fused = fuse(program, PassContext(target=load("x86-64")))
    assert len(kernels(fused)) >= 3
    assert same_bits(program, fused)


def test_a_reshape_that_no_kernel_reads_is_no_kernel() -> None:
    """What it is made of runs over its own dimensions, whose parts end where rows do."""
    rewrites(
        "x = f32[6,4] parameter(0)  a = f32[6,4] negate(x)  b = f32[6,4] exponential(a)\n"
        "ROOT r = f32[3,8] reshape(b)",
        "f { x = f32[6,4] parameter(0)  a = f32[6,4] negate(x)\n"
        "  ROOT b = f32[6,4] exponential(a) }\n"
        "ENTRY e { x = f32[6,4] parameter(0)  g = f32[6,4] fusion(x), kind=kLoop, calls=f\n"
        "  ROOT r = f32[3,8] reshape(g) }",
        fuse,
    )


@pytest.mark.parametrize(
    ("width", "made", "read", "count"),
    [
        pytest.param(12, "add(x, b)", "r = f32[30,28] reshape(y)", 2, id="neither divides"),
        pytest.param(12, "reverse(x), dimensions={1}", "r = f32[30,28] reshape(y)", 2, id="moved"),
        pytest.param(12, "negate(x)", "r = f32[30,28] reshape(y)", 1, id="places do not matter"),
        pytest.param(32, "add(x, b)", "r = f32[35,64] reshape(y)", 1, id="two rows in one"),
        pytest.param(12, "add(x, b)", "r = f32[35,24] reshape(y)", 2, id="two short rows in one"),
        pytest.param(12, "add(x, b)", "r = f32[280,3] reshape(y)", 2, id="short rows"),
        pytest.param(12, "add(x, c)", "r = f32[70,4,3] reshape(y)", 1, id="of whole rows"),
        pytest.param(
            32,
            "add(x, b)",
            "q = f32[2240] reshape(y)  r = f32[2237] slice(q), slice={[3:2240]}",
            2,
            id="rows that begin inside of others",
        ),
        pytest.param(
            24,
            "add(x, b)",
            "q = f32[35,48] reshape(y)  r = f32[35] reduce(q, z), dimensions={1}, to_apply=add",
            2,
            id="sums of two rows each",
        ),
    ],
)
def test_what_asks_for_its_place_is_not_read_through_cut_rows(
    width: int, made: str, read: str, count: int
) -> None:
    """Each element would take a division else."""
    spread = (
        f"b = f32[70,{width}] broadcast(v), dimensions={{1}}" if "b)" in made else
        f"c = f32[70,{width}] broadcast(u), dimensions={{0}}" if "c)" in made else ""
    )
    shape = read.rpartition("r = ")[2].split()[0]
    program = module(
        f"{_ADD} ENTRY e {{ x = f32[70,{width}] parameter(0)  v = f32[{width}] parameter(1)\n"
        f"  u = f32[70] parameter(2)  z = f32[] constant(0)  {spread}\n"
        f"  y = f32[70,{width}] {made}  {read}\n"
        f"  ROOT e = {shape} exponential(r) }}"
    )
    fused = fuse(program, VECTORS)
    assert len(kernels(fused)) == count
    assert same_bits(program, fused)


@pytest.mark.parametrize(
    ("op", "shape", "count"),
    [("exponential", "60,80", 2), ("abs", "60,80", 1), ("exponential", "2000,2000", 1)],
)
def test_what_is_dear_is_computed_once_for_a_stencil(op: str, shape: str, count: int) -> None:
    """Where near caches keep it; three times is more than a load and a store."""
    rows, columns = map(int, shape.split(","))
    inner = f"f32[{rows},{columns - 2}]"
    parts = [f"[0:{rows}], [{n}:{columns - 2 + n}]" for n in range(3)]
    program = module(
        f"x = f32[{shape}] parameter(0)  y = f32[{shape}] {op}(x)\n"
        + "\n".join(f"s{n} = {inner} slice(y), slice={{{p}}}" for n, p in enumerate(parts))
        + f"\na = {inner} add(s0, s1)  ROOT r = {inner} add(a, s2)"
    )
    assert len(kernels(fuse(program, VECTORS))) == count


@pytest.mark.parametrize(
    ("element", "times", "target", "count"),
    [
        ("f32", 3, VECTORS, 1),  # unrolled, in vectors
        ("f32", 5, VECTORS, 2),
        ("s8", 2, VECTORS, 2),
        ("f32", 31, VECTORS, 2),
        ("f32", 32, VECTORS, 1),  # one at a time takes less than its row
        ("f32", 5, DEFAULT, 1),
        ("s8", 2, DEFAULT, 1),
    ],
)
def test_what_is_made_of_a_function_is_not_made_for_each_short_row(
    element: str, times: int, target: PassContext, count: int
) -> None:
    program = module(
        f"""x = f32[500] parameter(0)  e = f32[500] exponential(x)  a = f32[500] add(e, x)
        c = {element}[500] convert(a)
        ROOT r = {element}[500,{times}] broadcast(c), dimensions={{0}}"""
    )
    fused = fuse(program, target)
    assert len(kernels(fused)) == count
    assert same_bits(program, fused)


@pytest.mark.parametrize(("columns", "count"), [(7, 2), (31, 2), (32, 1)])
def test_short_rows_are_unrolled_only_in_long_loops(columns: int, count: int) -> None:
    program = module(
        f"""x = f32[70,{columns}] parameter(0)  e = f32[70,{columns}] exponential(x)
        a = f32[70,{columns}] add(e, x)
        ROOT r = f32[70,{columns},2] broadcast(a), dimensions={{0,1}}"""
    )
    fused = fuse(program, VECTORS)
    assert len(kernels(fused)) == count
    assert same_bits(program, fused)


def test_windows_whose_rows_become_columns_are_kernels_of_their_own() -> None:
    program = module(
        "max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = maximum(a, b) }\n"
        "ENTRY e { x = f32[40,50] parameter(0)  l = f32[] constant(-inf)\n"
        "  w = f32[40,50] reduce-window(x, l), window={size=1x3 pad=0_0x1_1}, to_apply=max\n"
        "  n = f32[40,50] negate(w)  ROOT t = f32[50,40] transpose(n), dimensions={1,0} }"
    )
    fused = fuse(program, VECTORS)
    assert kernels(fused) == ["reduce-window", "kLoop"]
    assert same_bits(program, fused)


@pytest.mark.parametrize(("width", "count"), [(200, 2), (40, 1)])
def test_rows_that_lie_scattered_are_copied_where_they_are_read_again(
    width: int, count: int
) -> None:
    half = width // 2
    program = module(
        f"{_ADD} ENTRY e {{ x = f32[30,{width}] parameter(0)  z = f32[] constant(0)\n"
        f"  s = f32[30,{half}] slice(x), slice={{[0:30], [0:{width}:2]}}\n"
        "  m = f32[30] reduce(s, z), dimensions={1}, to_apply=add\n"
        f"  b = f32[30,{half}] broadcast(m), dimensions={{0}}\n"
        f"  ROOT d = f32[30,{half}] subtract(s, b) }}"
    )
    fused = fuse(program, VECTORS)
    assert len(kernels(fused)) == count
    assert same_bits(program, fused)


@pytest.mark.parametrize(("element_type", "count"), [("s16", 2), ("f32", 1)])
def test_narrow_elements_that_are_looked_up_are_kernels_of_their_own(
    element_type: str, count: int
) -> None:
    """They are read one by one, and what is computed of them is not."""
    program = module(
        f"x = {element_type}[50] parameter(0)  i = s32[300] parameter(1)\n"
        f"g = {element_type}[300] gather(x, i), offset_dims={{}}, collapsed_slice_dims={{0}},\n"
        "  start_index_map={0}, index_vector_dim=1, slice_sizes={1}\n"
        "c = f32[300] convert(g)  ROOT r = f32[300] exponential(c)"
    )
    fused = fuse(program, VECTORS)
    assert len(kernels(fused)) == count
    assert same_bits(program, fused)


def test_windows_compute_nothing_again_through_conversions() -> None:
    program = module(
        "max { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT r = maximum(a, b) }\n"
        "ENTRY e { x = f32[40,50] parameter(0)  l = s32[] constant(-9)\n"
        "  s = f32[40,50] multiply(x, x)  c = s32[40,50] convert(s)\n"
        "  ROOT w = s32[40,50] reduce-window(c, l), window={size=1x3 pad=0_0x1_1}, to_apply=max }"
    )
    fused = fuse(program, DEFAULT)
    assert len(kernels(fused)) == 2
    assert same_bits(program, fused)


@pytest.mark.parametrize(("narrow", "context", "count"), [
    ("bf16", VECTORS, 3), ("s32", VECTORS, 1), ("bf16", DEFAULT, 1)
])
def test_windows_are_of_one_width(narrow: str, context: PassContext, count: int) -> None:
    program = module(
        "max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = maximum(a, b) }\n"
        f"ENTRY e {{ x = {narrow}[40,50] parameter(0)  l = f32[] constant(-inf)\n"
        "  c = f32[40,50] convert(x)\n"
        "  w = f32[40,50] reduce-window(c, l), window={size=1x3 pad=0_0x1_1}, to_apply=max\n"
        f"  ROOT n = {narrow}[40,50] convert(w) }}"
    )
    fused = fuse(program, context)
    assert len(kernels(fused)) == count
    assert same_bits(program, fused)


def test_values_of_another_type_than_their_reduce_are_made_once_a_row() -> None:
    program = module(
        f"{_ADD} ENTRY e {{ x = f16[300,7] parameter(0)  z = f32[] constant(0)\n"
        "  w = f32[300,7] convert(x)\n"
        "  m = f32[300] reduce(w, z), dimensions={1}, to_apply=add\n"
        "  n = f16[300] convert(m)  q = f16[300] rsqrt(n)\n"
        "  b = f16[300,7] broadcast(q), dimensions={0}  ROOT d = f16[300,7] multiply(x, b) }"
    )
    fused = fuse(program, VECTORS)
    assert len(kernels(fused)) == 1
    assert same_bits(program, fused)


def test_windows_of_several_operands_have_no_width() -> None:
    program = module(
        "f { a = f32[] parameter(0)  i = s32[] parameter(1)  b = f32[] parameter(2)\n"
        "  j = s32[] parameter(3)  p = pred[] compare(a, b), direction=GE\n"
        "  v = f32[] select(p, a, b)  k = s32[] select(p, i, j)  ROOT t = tuple(v, k) }\n"
        "ENTRY e { x = f32[9,50] parameter(0)  n = s32[9,50] iota(), iota_dimension=1\n"
        "  l = f32[] constant(-inf)  z = s32[] constant(0)\n"
        "  w = (f32[9,50], s32[9,50]) reduce-window(x, n, l, z),\n"
        "    window={size=1x3 pad=0_0x1_1}, to_apply=f\n"
        "  k = s32[9,50] get-tuple-element(w), index=1  ROOT c = u8[9,50] convert(k) }"
    )
    assert same_bits(program, fuse(program, VECTORS))


@pytest.mark.parametrize(("op", "kept"), [("slice", 2), ("reshape", 1)])
def test_two_functions_are_computed_once_for_two_places(op: str, kept: int) -> None:
    """Slices read other elements, reshapes to one shape the same."""
    shape = "f32[1,59]" if op == "slice" else "f32[60,1]"
    first, second = "", ""
    if op == "slice":
        first, second = (f", slice={{[0:1], [{n}:{59 + n}]}}" for n in range(2))
    program = module(
        "x = f32[1,60] parameter(0)  y = f32[1,60] exponential(x)  z = f32[1,60] tanh(y)\n"
        f"p = f32[1,60] abs(z)  q = f32[1,60] negate(z)\n"
        f"s = {shape} {op}(p){first}  t = {shape} {op}(q){second}\n"
        f"ROOT r = {shape} add(s, t)"
    )
    fused = fuse(program, VECTORS)
    assert len(kernels(fused)) == kept
    assert same_bits(program, fused)


def test_many_functions_are_several_kernels() -> None:
    """Compilers would make no vectors of a loop that is so long, or take seconds."""
    levels = "\n".join(f"x{n + 1} = f32[200] sine(x{n})" for n in range(20))
    program = module(f"x0 = f32[200] parameter(0)\n{levels}\nROOT r = f32[200] negate(x20)")
    assert len(kernels(fuse(program, VECTORS))) == 7
    assert len(kernels(fuse(program, DEFAULT))) == 1


@pytest.mark.parametrize(("turns", "count"), [(4, 1), (10, 2)])
def test_long_sums_are_not_computed_again_for_each_row(turns: int, count: int) -> None:
    lines = "\n".join(
        f"a{n} = u32[50] multiply(x{n}, x0)  x{n + 1} = u32[50] xor(a{n}, x{n})"
        for n in range(turns)
    )
    program = module(
        f"x0 = u32[50] parameter(0)  y = u32[9,50] parameter(1)\n{lines}\n"
        f"b = u32[9,50] broadcast(x{turns}), dimensions={{1}}  ROOT r = u32[9,50] add(y, b)"
    )
    fused = fuse(program, VECTORS)
    assert len(kernels(fused)) == count
    assert same_bits(program, fused)
