"""What random modules have found, each reduced to a few lines."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from ccodegen.hlo.builder import Builder, module
from ccodegen.hlo.evaluate import evaluate
from ccodegen.target import load, native
from tests.c_library import CLibrary
from tests.passes.checking import random_arguments
from tests.three_ways import Case, check, module_of, plain_target, prepare

ADD = """
add {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = s32[] add(a, b)
}
"""


def test_convolution_without_elements() -> None:
    """The evaluator could not tell how many features nothing has."""
    check("""
ENTRY e {
  x = f32[1,1,0] parameter(0)
  k = f32[1,2,1] parameter(1)
  ROOT c = f32[1,2,0] convolution(x, k), window={size=1}, dim_labels=bf0_io0->bf0
}""")


def test_a_nest_that_takes_one_array_in_two_shapes() -> None:
    """Both operands were one flat buffer."""
    check("""
le {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LE
}
or {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = s32[] or(a, b)
}
ENTRY e {
  x = s32[] parameter(0)
  one = s32[1] reshape(x)
  none = s32[0] constant({})
  ROOT s = s32[1] select-and-scatter(one, none, x), select=le, scatter=or, window={size=3}
}""")


def test_start_indices_in_a_vector_in_place() -> None:
    """The plan for an update in place took a scalar for each dimension."""
    check(
        """
ENTRY e {
  x = s8[4] parameter(0)
  new = s8[3] constant({-2, 0, 1})
  start = s32[1] parameter(1)
  ROOT u = s8[4] dynamic-update-slice(x, new, start)
}""",
        np.array([1, 2, 3, 4], np.int8),
        np.array([1], np.int32),
        donate=(0,),
    )


@pytest.mark.parametrize("start", [0, 1, 2**63, 2**64 - 1])
def test_an_unsigned_start_index_in_place(start: int) -> None:
    """A large one became a negative one, and so the first place instead of the last."""
    check(
        """
ENTRY e {
  x = s8[4] parameter(0)
  new = s8[3] constant({-2, 0, 1})
  start = u64[] parameter(1)
  ROOT u = s8[4] dynamic-update-slice(x, new, start)
}""",
        np.array([1, 2, 3, 4], np.int8),
        np.array(start, np.uint64),
        donate=(0,),
    )


def test_a_reduce_of_two_results_beside_one_over_the_same_rows() -> None:
    """Fusion asked for the dimensions of a tuple."""
    check(ADD + """
larger {
  a = s32[] parameter(0)
  i = s32[] parameter(1)
  b = s32[] parameter(2)
  j = s32[] parameter(3)
  first = pred[] compare(a, b), direction=GE
  value = s32[] select(first, a, b)
  number = s32[] select(first, i, j)
  ROOT both = (s32[], s32[]) tuple(value, number)
}
ENTRY e {
  x = s32[3,5] parameter(0)
  zero = s32[] constant(0)
  sum = s32[3] reduce(x, zero), dimensions={1}, to_apply=add
  spread = s32[3,5] broadcast(sum), dimensions={0}
  most = (s32[3], s32[3]) reduce(x, spread, zero, zero), dimensions={1}, to_apply=larger
  number = s32[3] get-tuple-element(most), index=1
  ROOT both = (s32[3], s32[3]) tuple(sum, number)
}""")


@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3"])
def test_a_sum_of_four_integers(level: str) -> None:
    """gcc 12 at -O2 forgets elements of sums over two lanes."""
    program = module_of(ADD + """
ENTRY e {
  x = s32[2,4] parameter(0)
  start = s32[] parameter(1)
  ROOT sum = s32[2] reduce(x, start), dimensions={1}, to_apply=add
}""")
    x = np.array([[1, 2, 3, 4], [5, 6, 7, 8]], np.int32)
    ready = prepare(Case(program, (x, np.array(100, np.int32))), plain_target())
    library = CLibrary([ready.built.program], plain_target(), False, ("gcc",), (level,))
    ready.compare(library.run(0, ready.case.arguments), level)


@pytest.mark.skipif("avx512f" not in native.features(), reason="needs AVX-512")
def test_vectors_moved_to_an_array_on_the_stack() -> None:
    """gcc 12 at -O2 took it for one that no vector is moved to, and the program crashed."""
    program = module_of("""
ENTRY e {
  a = f32[6,12] parameter(0)
  b = f32[12,12] parameter(1)
  ROOT c = f32[6,12] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}""")
    target = load("host")
    arguments = tuple(random_arguments(program, np.random.default_rng(0)))
    ready = prepare(Case(program, arguments), target)
    flags = ("-O2", "-march=native")
    library = CLibrary([ready.built.program], target, False, ("gcc",), flags)
    ready.compare(library.run(0, ready.case.arguments), "-O2")


def test_products_of_complex_numbers_are_not_contracted() -> None:
    """gcc 12 fuses their sums and differences in spite of -ffp-contract=off."""
    flags = load("x86-64").compile_flags(strict=True)
    assert {"-mno-fma", "-mno-avx512f"} <= set(flags)


def test_true_as_an_integer_of_one_bit() -> None:
    """It is -1; C kept a 1, which is larger than 0."""
    check(
        """
ENTRY e {
  x = pred[2] parameter(0)
  zero = s1[] constant(0)
  zeros = s1[2] broadcast(zero), dimensions={}
  y = s1[2] convert(x)
  ROOT m = s1[2] maximum(y, zeros)
}""",
        np.array([True, False]),
        strict=True,
    )


def test_nan_of_a_quotient_in_a_type_without_nan() -> None:
    """Its sign, which processors choose, decided on the sign of the zero that it became."""
    check(
        """
ENTRY e {
  a = f4e2m1fn[1,1] parameter(0)
  ROOT x = f4e2m1fn[1,1] triangular-solve(a, a)
}""",
        np.zeros((1, 1), ml_dtypes.float4_e2m1fn),
        strict=True,
    )


def test_the_random_state_beside_a_result_of_dynamic_shape() -> None:
    """Giving the state back made the results, which are given at their bounds, dynamic again."""
    check(
        """
ENTRY e {
  x = f32[4] parameter(0)
  n = s32[] parameter(1)
  s = u64[2] rng-get-and-update-state(), delta=1
  d = f32[<=4] set-dimension-size(x, n), dimensions={0}
  ROOT t = (u64[2], f32[<=4]) tuple(s, d)
}""",
        np.array([1, 2, 3, 4], np.float32),
        np.array(3, np.int32),
        strict=True,
    )


def test_a_concatenate_that_is_dynamic_where_its_second_operand_is() -> None:
    """The inferred shape was static, and the C had other elements than the evaluator."""
    builder = Builder("e")
    x = builder.parameter("f32[3]")
    part = builder.op("set-dimension-size", x, builder.parameter("s32[]"), dimensions=(0,))
    joined = builder.op("concatenate", x, part, dimensions=(0,))
    assert str(joined.shape) == "f32[<=6]"
    program = module(builder.build(builder.op("negate", joined)))
    check(program, np.array([1, 2, 3], np.float32), np.array(1, np.int32), strict=True)


def test_a_function_that_another_dialect_names() -> None:
    """The op that it became lacked its attributes, which the verifier wants after each pass."""
    call = 'ROOT y = f32[3] custom-call(x), custom_call_target="mhlo.acos"'
    check(f"ENTRY e {{ x = f32[3] parameter(0)  {call} }}")


def test_a_buffer_without_elements_in_an_arena_without_bytes() -> None:
    """The C had no name for the arena, where the factor begins that nobody reads."""
    check(
        """
ENTRY e {
  x = f32[1,0,3] parameter(0)
  lu = (f32[1,0,3], s32[1,0], s32[1]) custom-call(x), custom_call_target="lapack_sgetrf_ffi"
  ROOT info = s32[1] get-tuple-element(lu), index=2
}""",
        strict=True,
    )


def test_a_scan_over_slices_of_one_element_with_a_constant() -> None:
    """The constant, an array of one element, was asked for its element at the index of a scalar."""
    check(
        """
turn {
  x = s8[1] parameter(0)
  carry = s16[1] parameter(1)
  three = s16[] constant(3)
  threes = s16[1] broadcast(three), dimensions={}
  sum = s16[1] add(carry, threes)
  ROOT new = (s16[1]) tuple(sum)
}
ENTRY e {
  x = s8[2,1] parameter(0)
  first = s16[1] parameter(1)
  ROOT last = (s16[1]) scan(x, first), dimensions={0}, num_carries=1, to_apply=turn
}"""
    )


@pytest.mark.parametrize(("element_type", "columns"), [("s64", 2), ("u32", 3), ("s16", 4)])
@pytest.mark.parametrize("flags", ["-O2", "-O3", "-O3 -mavx2"])
def test_integer_sums_side_by_side_that_are_read_again(
    element_type: str, columns: int, flags: str
) -> None:
    """gcc 12 took partial sums in vectors for the sums."""
    shape = f"{element_type}[4,{columns}]"
    case = Case(
        module_of(f"""
add {{
  a = {element_type}[] parameter(0)
  b = {element_type}[] parameter(1)
  ROOT c = {element_type}[] add(a, b)
}}
ENTRY e {{
  x = {shape} parameter(0)
  z = {element_type}[] constant(100)
  sums = {element_type}[{columns}] reduce(x, z), dimensions={{0}}, to_apply=add
  spread = {shape} broadcast(sums), dimensions={{1}}
  ROOT d = {shape} subtract(x, spread)
}}"""),
        (np.arange(4 * columns, dtype=element_type.replace("s", "int").replace("u", "uint"))
            .reshape(4, columns),),
    )
    prepared = prepare(case, plain_target())
    library = CLibrary([prepared.built.program], plain_target(), False, ("gcc",), flags.split())
    prepared.compare(library.run(0, prepared.case.arguments), f"compiled with {flags}")


def test_qr_of_a_matrix_with_nan() -> None:
    """The norm of a column forgot a NaN before smaller elements; its sign decided on that of 0."""
    check(
        """
ENTRY e {
  a = c128[2,2] parameter(0)
  ROOT q = (c128[2,2], c128[2]) custom-call(a), custom_call_target="Qr"
}""",
        np.array([[1e200, 3], [2j, complex(-np.nan, 1)]]),
        strict=True,
    )


def test_a_constant_without_elements_in_a_computation_over_scalars() -> None:
    """Its first element was asked for, by a loop without turns."""
    check("""
first {
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  ROOT t = (f32[], s32[]) tuple(a, i)
}
function {
  a = f32[] parameter(0)
  nothing = f32[0,1] constant({})
  numbers = s32[0,1] constant({})
  one = s32[] constant(1)
  found = (f32[1], s32[1]) reduce(nothing, numbers, a, one), dimensions={0}, to_apply=first
  values = f32[1] get-tuple-element(found), index=0
  ROOT r = f32[] reshape(values)
}
ENTRY e {
  x = f32[3] parameter(0)
  ROOT m = f32[3] map(x), to_apply=function
}""")


@pytest.mark.parametrize("strict", [False, True])
def test_rows_that_are_normalised_and_read_in_another_order(strict: bool) -> None:
    """Elements of the row at hand were taken for those of the row that is read."""
    check(
        """
maximum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] maximum(a, b)
}
ENTRY e {
  x = f32[3,5] parameter(0)
  y = f32[3,5] cosine(x)
  low = f32[] constant(-inf)
  greatest = f32[3] reduce(y, low), dimensions={1}, to_apply=maximum
  spread = f32[3,5] broadcast(greatest), dimensions={0}
  d = f32[3,5] subtract(y, spread)
  turned = f32[3,5] reverse(d), dimensions={0}
  other = f32[3,5] reverse(y), dimensions={0}
  ROOT t = (f32[3,5], f32[3,5], f32[3]) tuple(turned, other, greatest)
}""",
        strict=strict,
    )


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(("float_type", "integer"), [("f32", "s32"), ("f64", "s64"), ("f32", "s8")])
def test_integers_of_small_negative_numbers_are_positive_zeros(
    float_type: str, integer: str, strict: bool
) -> None:
    """gcc 12 made -0 of -0.5, a truncation of both conversions."""
    case = Case(
        module_of(f"""ENTRY e {{
  x = {float_type}[4] parameter(0)
  i = {integer}[4] convert(x)
  ROOT y = {float_type}[4] convert(i)
}}"""),
        (np.array([-0.5, -0.0, -1.5, 0.5], float_type.replace("f", "float")),),
        strict,
    )
    prepared = prepare(case, plain_target())
    flags = ("-O3", "-march=x86-64-v3", "-mno-fma")
    library = CLibrary([prepared.built.program], plain_target(), strict, ("gcc",), flags)
    (got,) = library.run(0, prepared.case.arguments)
    assert not np.signbit(got[[0, 1, 3]]).any()
    prepared.compare([got], "compiled")


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 8, 16])
def test_few_columns_that_are_padded(columns: int) -> None:
    """gcc 12 unrolled the inner loop and got the conditions of lanes wrong in the outer one."""
    text = f"""ENTRY e {{
  x = s32[3,{columns}] parameter(0)
  z = s32[] constant(0)
  ROOT p = s32[5,{columns}] pad(x, z), padding=2_0x0_0
}}"""
    x = np.arange(1, 3 * columns + 1, dtype=np.int32).reshape(3, columns)
    prepared = prepare(Case(module_of(text), (x,)), plain_target())
    flags = ("-O3", "-march=x86-64-v3")
    library = CLibrary([prepared.built.program], plain_target(), False, ("gcc",), flags)
    prepared.compare(library.run(0, prepared.case.arguments), "compiled")


@pytest.mark.parametrize("groups", [0, 2])
def test_rows_of_no_group_in_a_type_without_zero(groups: int) -> None:
    """The evaluator took zero bits, which are 2^-127, for what a sum of nothing becomes: NaN."""
    text = f"""ENTRY e {{
  x = f8e8m0fnu[5,1] parameter(0)
  y = f8e8m0fnu[{groups},1,3] parameter(1)
  sizes = s32[{groups}] parameter(2)
  ROOT r = f8e8m0fnu[5,3] ragged-dot(x, y, sizes), lhs_contracting_dims={{1}},
    rhs_contracting_dims={{1}}, lhs_ragged_dims={{0}}, rhs_group_dims={{0}}
}}"""
    x, y = (np.ones(shape, ml_dtypes.float8_e8m0fnu) for shape in ((5, 1), (groups, 1, 3)))
    given = (x, y, np.ones(groups, np.int32))
    check(text, *given, strict=True)
    got = evaluate(module_of(text), *given)
    assert np.isnan(got.astype(np.float32)).sum() == 3 * (5 - groups)


def test_two_reduces_of_several_operands_over_the_same_rows() -> None:
    """Fusion asked for the one result of a sibling that has two."""
    check("""
larger {
  a = s32[] parameter(0)
  i = s32[] parameter(1)
  b = s32[] parameter(2)
  j = s32[] parameter(3)
  c = pred[] compare(a, b), direction=GE
  m = s32[] select(c, a, b)
  n = s32[] select(c, i, j)
  ROOT t = (s32[], s32[]) tuple(m, n)
}
ENTRY e {
  x = s32[2,9] parameter(0)
  n = s32[2,9] negate(x)
  i = s32[2,9] iota(), iota_dimension=1
  z = s32[] constant(0)
  p = (s32[2], s32[2]) reduce(x, i, z, z), dimensions={1}, to_apply=larger
  q = (s32[2], s32[2]) reduce(n, i, z, z), dimensions={1}, to_apply=larger
  a = s32[2] get-tuple-element(p), index=1
  b = s32[2] get-tuple-element(q), index=1
  ROOT t = (s32[2], s32[2]) tuple(a, b)
}""")


def test_a_slice_of_a_transpose_beside_an_update() -> None:
    """It was compared with the window that the update overwrites, which has another rank."""
    check("""
ENTRY e {
  x = s64[2,3,5] parameter(0)
  u = s64[2,3,4] parameter(1)
  z = s32[] constant(0)
  flat = s64[6,5] reshape(x)
  part = s64[6,4] slice(flat), slice={[0:6], [1:5]}
  back = s64[2,3,4] reshape(part)
  sum = s64[2,3,4] add(u, back)
  ROOT r = s64[2,3,5] dynamic-update-slice(x, sum, z, z, z)
}""")


def test_a_sum_of_what_does_not_count_in_a_type_without_zero() -> None:
    """Padding was filled with zeros, which f8e8m0fnu has not: the sum was NaN."""
    check(
        """
add {
  a = f8e8m0fnu[] parameter(0)
  b = f8e8m0fnu[] parameter(1)
  ROOT c = f8e8m0fnu[] add(a, b)
}
ENTRY e {
  x = f8e8m0fnu[3,2] parameter(0)
  n = s32[] parameter(1)
  init = f8e8m0fnu[] constant(0.25)
  d = f8e8m0fnu[3,<=2] set-dimension-size(x, n), dimensions={1}
  ROOT r = f8e8m0fnu[3] reduce(d, init), dimensions={1}, to_apply=add
}""",
        np.ones((3, 2), ml_dtypes.float8_e8m0fnu),
        np.int32(0),
    )
