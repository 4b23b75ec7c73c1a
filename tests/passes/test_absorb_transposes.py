"""Transposes around a dot become its dimension numbers; the products and their order stay."""

from __future__ import annotations

from ccodegen.passes.absorb_transposes import absorb_transposes
from tests.passes.checking import leaves_alone, rewrites

X = "x = f32[4,3,2] parameter(0)\n y = f32[4,2,5] parameter(1)\n"


def test_of_an_operand() -> None:
    rewrites(
        X + "t = f32[3,2,4] transpose(x), dimensions={1,2,0}\n"
        "ROOT d = f32[4,3,5] dot(t, y), lhs_batch_dims={2}, lhs_contracting_dims={1},"
        " rhs_batch_dims={0}, rhs_contracting_dims={1}",
        X + "ROOT d = f32[4,3,5] dot(x, y), lhs_batch_dims={0}, lhs_contracting_dims={2},"
        " rhs_batch_dims={0}, rhs_contracting_dims={1}",
        absorb_transposes,
    )


def test_of_the_result() -> None:
    rewrites(
        X + "d = f32[4,3,5] dot(x, y), lhs_batch_dims={0}, lhs_contracting_dims={2},"
        " rhs_batch_dims={0}, rhs_contracting_dims={1}\n"
        "ROOT t = f32[4,5,3] transpose(d), dimensions={0,2,1}",
        X + "ROOT d = f32[4,5,3] dot(y, x), lhs_batch_dims={0}, lhs_contracting_dims={1},"
        " rhs_batch_dims={0}, rhs_contracting_dims={2}",
        absorb_transposes,
    )


def test_not_where_free_dimensions_change_their_order() -> None:
    leaves_alone(
        "x = f32[2,3,4] parameter(0)\n y = f32[4] parameter(1)\n"
        "t = f32[3,2,4] transpose(x), dimensions={1,0,2}\n"
        "ROOT d = f32[3,2] dot(t, y), lhs_contracting_dims={2}, rhs_contracting_dims={0}",
        absorb_transposes,
    )


def test_not_of_a_result_that_others_read() -> None:
    leaves_alone(
        "x = f32[2,3] parameter(0)\n y = f32[3,4] parameter(1)\n"
        "d = f32[2,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
        "t = f32[4,2] transpose(d), dimensions={1,0}\n"
        "ROOT r = (f32[2,4], f32[4,2]) tuple(d, t)",
        absorb_transposes,
    )
