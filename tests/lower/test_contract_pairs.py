"""Products of bf16 in pairs: where the machine's instruction would flush, it is not used."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ccodegen.support.element_type import HLO_TYPES
from ccodegen.target import Target, load
from tests.lower.test_contract_tiles import functions
from tests.lower.test_weights import dense, with_weights
from tests.three_ways import check, module_of, plain_target

BF16 = HLO_TYPES["bf16"].dtype


def target(name: str) -> Target:
    """One with pairs: this machine, and one without the instruction."""
    chosen = load("host") if name == "host" else plain_target()
    machine = replace(chosen.machine, bf16_pairs=True, matrix_registers=False)
    return replace(chosen, machine=machine)


TARGETS = pytest.mark.parametrize("name", ["host", "plain"])


@TARGETS
@pytest.mark.parametrize("order", ["kn", "nk"])
@pytest.mark.parametrize("types", ["bf16 bf16 bf16", "bf16 bf16 f32"])
@pytest.mark.parametrize("sizes", [(16, 40, 16), (16, 512, 16), (29, 33, 67), (61, 50, 17)])
def test_sizes(sizes: tuple[int, int, int], types: str, order: str, name: str) -> None:
    built = check(module_of(dense(*sizes, order, types)), target=target(name))
    (_, function) = sorted(set(functions(built)))
    assert function.startswith("ccg_tile_bf16_bf16_")


def test_where_there_are_none() -> None:
    text = dense(29, 33, 67, "kn", "bf16 bf16 f32")
    for built in check(text, strict=True, target=target("plain")), check(text):
        (function,) = functions(built)
        assert function.startswith("ccg_tile_f32_")
    small, mixed = dense(9, 33, 67, "kn", "bf16 bf16 f32"), dense(29, 33, 67, "kn", "bf16 f32 f32")
    for text in small, mixed:
        (function,) = functions(check(text, target=target("plain")))
        assert function.startswith("ccg_tile_f32_")


@TARGETS
def test_weights_and_threads(name: str) -> None:
    chosen = target(name)
    chosen = replace(chosen, machine=replace(chosen.machine, threads=3))
    text = dense(130, 50, 90, "kn", "bf16 bf16 f32")
    check(module_of(text), target=chosen)
    check(with_weights(text), target=chosen)


@TARGETS
def test_what_is_fused_and_a_batch(name: str) -> None:
    check(
        """ENTRY e { x = bf16[3,20,34] parameter(0)  y = bf16[3,34,40] parameter(1)
  n = bf16[3,20,34] negate(x)
  d = f32[3,20,40] dot(n, y), lhs_batch_dims={0}, rhs_batch_dims={0},
    lhs_contracting_dims={2}, rhs_contracting_dims={1}
  ROOT r = bf16[3,20,40] convert(d) }""",
        target=target(name),
    )


@TARGETS
@pytest.mark.parametrize("scales", [(2.0**-63, 2.0**-64), (2.0**-130, 2.0**100), (2.0**-50, 1.0)])
def test_denormals_stay(scales: tuple[float, float], name: str) -> None:
    """Products, sums and elements that are denormals; what is compared is scaled up."""
    random = np.random.default_rng(0)
    shapes = (20, 34), (34, 40)
    lhs, rhs = (random.integers(-3, 4, shape) for shape in shapes)
    x, y = ((a * scale).astype(BF16) for a, scale in zip((lhs, rhs), scales, strict=True))
    up = 1 / (scales[0] * scales[1])
    parts = [min(up, 2.0**100), max(up / 2.0**100, 1.0)]
    text = f"""ENTRY e {{ x = bf16[20,34] parameter(0)  y = bf16[34,40] parameter(1)
  d = f32[20,40] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  a = f32[] constant({parts[0]!r})  b = f32[] constant({parts[1]!r})
  ab = f32[20,40] broadcast(a), dimensions={{}}  bb = f32[20,40] broadcast(b), dimensions={{}}
  s = f32[20,40] multiply(d, ab)
  ROOT r = f32[20,40] multiply(s, bb) }}"""
    check(text, x, y, target=target(name))
