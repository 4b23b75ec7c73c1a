"""Products of bytes and of bf16 in matrix registers: on this machine, and on one without them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ccodegen.backend.build import Build
from ccodegen.hlo.ir import Module
from ccodegen.loop.ir import Alloc
from ccodegen.loop.rebuild import statements
from ccodegen.support.element_type import HLO_TYPES
from ccodegen.target import Target, load
from tests.lower.test_contract_pairs import TARGETS
from tests.lower.test_contract_tiles import functions
from tests.lower.test_weights import dense, with_weights
from tests.three_ways import check, module_of, plain_target


def with_matrix_registers(name: str, threads: int = 1) -> Target:
    chosen = load("host") if name == "host" else plain_target()
    has = chosen.machine.matrix_registers or name == "plain"
    machine = replace(chosen.machine, matrix_registers=has, threads=threads)
    return replace(chosen, machine=machine)


def check_matrix(program: Module | str, name: str, threads: int = 1) -> Build:
    chosen = with_matrix_registers(name, threads)
    if not chosen.machine.matrix_registers:
        pytest.skip("this process may not use AMX")
    built = check(program, target=chosen)
    assert any(function.startswith("ccg_matrix_") for function in functions(built))
    return built


@TARGETS
@pytest.mark.parametrize("order", ["kn", "nk"])
@pytest.mark.parametrize("types", ["s8 s8 s32", "u8 s8 s32", "s8 u8 s16", "bf16 bf16 f32"])
@pytest.mark.parametrize("sizes", [(16, 64, 16), (37, 70, 45), (67, 128, 33), (29, 131, 100)])
def test_sizes(sizes: tuple[int, int, int], types: str, order: str, name: str) -> None:
    check_matrix(module_of(dense(*sizes, order, types)), name)


@TARGETS
@pytest.mark.parametrize("types", ["s8 s8 s32", "bf16 bf16 f32"])
def test_weights_and_threads(types: str, name: str) -> None:
    text = dense(130, 90, 70, "kn", types)
    check_matrix(module_of(text), name, threads=3)
    check_matrix(with_weights(text), name, threads=3)
    built = check_matrix(with_weights(dense(40, 64, 32, "nk", types)), name)
    # Behind a panel of bf16 is a row of pairs, for its least element.
    size = (64 + 2) * 32 * 2 if "bf" in types else 64 * 32
    assert [c.buffer.bytes for c in built.program.constants] == [size]


@TARGETS
def test_a_convolution_and_a_batch(name: str) -> None:
    check_matrix(
        """ENTRY e { x = s8[1,9,9,20] parameter(0)  w = s8[3,3,20,24] parameter(1)
  ROOT r = s32[1,9,9,24] convolution(x, w), window={size=3x3 pad=1_1x1_1},
    dim_labels=b01f_01io->b01f }""",
        name,
    )
    check_matrix(
        """ENTRY e { x = bf16[3,20,34] parameter(0)  y = bf16[3,34,40] parameter(1)
  n = bf16[3,20,34] negate(x)
  d = f32[3,20,40] dot(n, y), lhs_batch_dims={0}, rhs_batch_dims={0},
    lhs_contracting_dims={2}, rhs_contracting_dims={1}
  ROOT r = bf16[3,20,40] convert(d) }""",
        name,
    )


@TARGETS
@pytest.mark.parametrize("scales", [(2.0**-63, 2.0**-64), (2.0**-130, 2.0**100)])
def test_denormals_stay(scales: tuple[float, float], name: str) -> None:
    random = np.random.default_rng(0)
    lhs, rhs = (random.integers(-3, 4, shape) for shape in ((20, 34), (34, 40)))
    bf16 = HLO_TYPES["bf16"].dtype
    x, y = ((a * scale).astype(bf16) for a, scale in zip((lhs, rhs), scales, strict=True))
    chosen = with_matrix_registers(name)
    text = """ENTRY e { x = bf16[20,34] parameter(0)  y = bf16[34,40] parameter(1)
  d = f32[20,40] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  a = f32[] constant(0x1p+120)  ab = f32[20,40] broadcast(a), dimensions={}
  ROOT s = f32[20,40] multiply(d, ab) }"""
    check(text.replace("0x1p+120", str(2.0**120)), x, y, target=chosen)


@TARGETS
def test_where_loops_or_vectors_are_better(name: str) -> None:
    chosen = with_matrix_registers(name)
    for sizes in (8, 64, 64), (64, 27, 64), (64, 64, 8):
        built = check(module_of(dense(*sizes, "kn", "s8 s8 s32")), target=chosen)
        assert not any(f.startswith("ccg_matrix_") for f in functions(built))


@TARGETS
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("types", ["s8 s8 s32", "s8 u8 u32", "u8 u8 u8", "bf16 bf16 f32"])
@pytest.mark.parametrize("sizes", [(64, 100, 96), (640, 900, 320)])
def test_sums_that_are_the_result(
    sizes: tuple[int, int, int], types: str, threads: int, name: str
) -> None:
    """Stored by the tile; u8 is converted after."""
    built = check_matrix(module_of(dense(*sizes, "kn", types)), name, threads)
    (kernel,) = built.program.kernels
    locals_ = [s.buffer.name for s in statements(kernel.body) if isinstance(s, Alloc)]
    assert ("sums" in locals_) == (types == "u8 u8 u8")
