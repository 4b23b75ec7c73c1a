"""Which operand of a dot is the left one, and how the right one lies: the products and their order
stay."""

from __future__ import annotations

import pytest

from ccodegen.passes.arrange_dots import arrange_dots
from ccodegen.passes.context import PassContext
from ccodegen.target import load
from tests.passes.checking import leaves_alone, rewrites

SUMS = "lhs_contracting_dims={0}, rhs_contracting_dims={0}"
VECTORS = PassContext(target=load("x86-64"))
X = "x = f32[64,100] parameter(0)\n"


def rewrites_with_vectors(before: str, after: str) -> None:
    """And nothing where there are none."""
    leaves_alone(before, arrange_dots, PassContext(target=load("cortex-m4")))
    rewrites(before, after, arrange_dots, VECTORS)


def test_a_vector_is_first_where_the_matrix_lies_along_the_result() -> None:
    given = "x = f32[3,4] parameter(0)\n v = bf16[3] parameter(1)\n"
    rewrites(
        f"{given}ROOT d = f32[4] dot(x, v), {SUMS}",
        f"{given}ROOT d = f32[4] dot(v, x), {SUMS}",
        arrange_dots,
    )


def test_in_batches_and_with_a_dimension_of_one() -> None:
    given = "x = f32[2,3,4,1] parameter(0)\n v = f32[2,3,1] parameter(1)\n"
    batch = "lhs_batch_dims={0}, rhs_batch_dims={0}"
    dims = f"{batch}, lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}"
    rewrites(
        f"{given}ROOT d = f32[2,4,1,1] dot(x, v), {dims}",
        f"{given}d = f32[2,1,4,1] dot(v, x), {dims}\n"
        "ROOT t = f32[2,4,1,1] transpose(d), dimensions={0,2,3,1}",
        arrange_dots,
    )


def test_a_few_columns_where_there_are_vectors() -> None:
    given = f"{X}v = f32[64,3] parameter(1)\n"
    before = f"{given}ROOT d = f32[100,3] dot(x, v), {SUMS}"
    rewrites_with_vectors(
        before,
        f"{given}d = f32[3,100] dot(v, x), {SUMS}\n"
        "ROOT t = f32[100,3] transpose(d), dimensions={1,0}",
    )


@pytest.mark.parametrize(("element", "depth"), [("c64", 40), ("f64", 3), ("bf16", 4)])
def test_lines_of_the_right_operand_where_vectors_want_them(element: str, depth: int) -> None:
    given = f"x = {element}[8,{depth}] parameter(0)\n y = {element}[9,{depth}] parameter(1)\n"
    dot = f"ROOT d = {element}[8,9] dot(x, %s), lhs_contracting_dims={{1}}"
    before = f"{given}{dot % 'y'}, rhs_contracting_dims={{1}}"
    rewrites_with_vectors(
        before,
        f"{given}t = {element}[{depth},9] transpose(y), dimensions={{1,0}}\n"
        f"{dot % 't'}, rhs_contracting_dims={{0}}",
    )


@pytest.mark.parametrize("element", ["bf16", "f16", "s32"])
def test_a_few_columns_that_loops_add_up_lie_along_the_sum(element: str) -> None:
    given = f"x = {element}[50,100] parameter(0)\n y = {element}[100,3] parameter(1)\n"
    dot = f"ROOT d = {element}[50,3] dot(x, %s), lhs_contracting_dims={{1}}"
    before = f"{given}{dot % 'y'}, rhs_contracting_dims={{0}}"
    rewrites_with_vectors(
        before,
        f"{given}t = {element}[3,100] transpose(y), dimensions={{1,0}}\n"
        f"{dot % 't'}, rhs_contracting_dims={{1}}",
    )


@pytest.mark.parametrize("element", ["f32", "f16", "c64"])
def test_a_few_rows_lie_along_the_sum_as_the_right_operand_does(element: str) -> None:
    given = f"x = {element}[2,100,3] parameter(0)\n y = {element}[2,50,100] parameter(1)\n"
    dot = f"ROOT d = {element}[2,3,50] dot(%s, y), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}"
    before = f"{given}{dot % 'x'}, lhs_contracting_dims={{1}}, rhs_contracting_dims={{2}}"
    rewrites_with_vectors(
        before,
        f"{given}t = {element}[2,3,100] transpose(x), dimensions={{0,2,1}}\n"
        f"{dot % 't'}, lhs_contracting_dims={{2}}, rhs_contracting_dims={{2}}",
    )


@pytest.mark.parametrize(
    ("given", "dot"),
    [
        (
            "x = f32[4,3] parameter(0)\n v = f32[3] parameter(1)\n",
            "f32[4] dot(x, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        ),
        (
            "x = f32[3,1] parameter(0)\n v = f32[3] parameter(1)\n",
            f"f32[1] dot(x, v), {SUMS}",
        ),
        (f"{X}v = f32[64,20] parameter(1)\n", f"f32[100,20] dot(x, v), {SUMS}"),
        (
            "x = f32[8,100] parameter(0)\n v = f32[8,3] parameter(1)\n",
            f"f32[100,3] dot(x, v), {SUMS}",
        ),
        (
            "x = f32[64,4] parameter(0)\n v = f32[64,3] parameter(1)\n",
            f"f32[4,3] dot(x, v), {SUMS}",
        ),
        *(
            (
                f"x = {element}[{rows},{depth}] parameter(0)\n"
                f"y = {element}[9,{depth}] parameter(1)\n",
                f"{element}[{rows},9] dot(x, y), lhs_contracting_dims={{1}},"
                " rhs_contracting_dims={1}",
            )
            for element, rows, depth in (("f32", 8, 3), ("f64", 8, 5), ("c64", 7, 40))
        ),
    ],
    ids=[
        "along the vector",
        "both along the sum",
        "many columns",
        "short sums",
        "as few rows",
        "words",
        "long sums",
        "few complex rows",
    ],
)
def test_others_stay(given: str, dot: str) -> None:
    leaves_alone(f"{given}ROOT d = {dot}", arrange_dots, VECTORS)
