"""Products of bf16 in pairs: where the machine's instruction would flush, it is not used."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ccodegen.passes.bind_constants import bind_constants
from ccodegen.support.element_type import HLO_TYPES
from ccodegen.target import Target, load
from tests.lower.test_contract_tiles import functions
from tests.lower.test_weights import dense, with_weights
from tests.three_ways import Array, check, module_of, plain_target

BF16 = HLO_TYPES["bf16"].dtype


def target(name: str) -> Target:
    """One with pairs: this machine, and one without the instruction."""
    chosen = load("host") if name == "host" else plain_target()
    machine = replace(chosen.machine, bf16_pairs=True, matrix_registers=False)
    return replace(chosen, machine=machine)


TARGETS = pytest.mark.parametrize("name", ["host", "plain"])
SCALES = pytest.mark.parametrize(
    "scales", [(2.0**-63, 2.0**-64), (2.0**-130, 2.0**100), (2.0**-50, 1.0)]
)


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


def scaled_up(sizes: tuple[int, int, int], scales: tuple[float, float]) -> str:
    """A product of matrices with such elements, times the reciprocals of both scales."""
    m, n, k = sizes
    up = 1 / (scales[0] * scales[1])
    parts = [min(up, 2.0**100), max(up / 2.0**100, 1.0)]
    return f"""ENTRY e {{ x = bf16[{m},{k}] parameter(0)  y = bf16[{k},{n}] parameter(1)
  d = f32[{m},{n}] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  a = f32[] constant({parts[0]!r})  b = f32[] constant({parts[1]!r})
  ab = f32[{m},{n}] broadcast(a), dimensions={{}}  bb = f32[{m},{n}] broadcast(b), dimensions={{}}
  s = f32[{m},{n}] multiply(d, ab)
  ROOT r = f32[{m},{n}] multiply(s, bb) }}"""


def integers(shape: tuple[int, ...], scale: float) -> Array:
    """Some small ones, times a scale."""
    return (np.random.default_rng(0).integers(-3, 4, shape) * scale).astype(BF16)


@TARGETS
@SCALES
def test_denormals_stay(scales: tuple[float, float], name: str) -> None:
    """Products, sums and elements that are denormals; what is compared is scaled up."""
    x, y = integers((20, 34), scales[0]), integers((34, 40), scales[1])
    check(scaled_up((20, 40, 34), scales), x, y, target=target(name))


@TARGETS
@SCALES
@pytest.mark.parametrize("rows", [1, 2, 20])
def test_denormals_of_weights_stay(rows: int, scales: tuple[float, float], name: str) -> None:
    x, y = integers((rows, 340), scales[0]), integers((340, 64), scales[1])
    module = bind_constants(module_of(scaled_up((rows, 64, 340), scales)), {1: y}).module
    used = set(functions(check(module, x, target=target(name))))
    assert {f.rpartition("_")[0] for f in used} == {"ccg_least", "ccg_tile_bf16_bf16"}


def test_panels_say_their_least_element() -> None:
    weights = np.zeros((34, 96), BF16)
    weights[:, 3] = 2.0**-40
    weights[5, 35] = -(2.0**-133)
    text = dense(20, 34, 96, "kn", "bf16 bf16 f32")
    module = bind_constants(module_of(text), {1: weights}).module
    (constant,) = check(module, target=target("plain")).program.constants
    panels = constant.array.reshape(constant.buffer.dimensions).astype(np.float64)
    width = panels.shape[2] // 2
    for number, panel in enumerate(panels):
        columns = weights[:, number * width : (number + 1) * width].astype(np.float64)
        sizes = np.abs(columns[columns != 0])
        assert panel[-1, 0] == (sizes.min() if sizes.size else 0) and not panel[-1, 1:].any()


def test_only_the_compiler_says_what_panels_have() -> None:
    """A module that says so of its own: nothing but its elements counts."""
    said = ", backend_config={\"panels\":\"noted\"}"
    text = dense(20, 34, 96, "kn", "bf16 bf16 f32").replace(" }", said + " }")
    check(text, target=target("plain"))
