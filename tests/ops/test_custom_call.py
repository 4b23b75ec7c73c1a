"""Custom calls of the user's, in each of the ways there are, three ways and in packages."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ccodegen
from ccodegen import InputError, UnsupportedError
from ccodegen.loop.builder import apply
from tests.three_ways import check

X = np.arange(6, dtype=np.float32).reshape(2, 3)


pytestmark = pytest.mark.usefixtures("own_targets")


def program(config: str = "", shape: str = "f32[2,3]", more: str = "") -> str:
    config = f", backend_config={config}" if config else ""
    return f"""HloModule m
ENTRY e {{ x = f32[2,3] parameter(0)
  n = f32[2,3] negate(x)
  ROOT c = {shape} custom-call(n), custom_call_target="mine"{more}{config} }}
"""


def test_lowering_to_hlo() -> None:
    def lower(b: Any, x: Any, scale: Any) -> Any:
        total = b.reduce(x, b.full(0, "f32[]"), dimensions=(1,), to_apply=b.reducer("add", x.shape))
        return b.multiply(x, b.full(scale, x.shape)), b.exponential(total)

    ccodegen.register_custom_call("mine", lower=lower)
    text = program("{scale = 2.5 : f32}", "(f32[2,3], f32[2])")
    scaled, total = ccodegen.evaluate(text, X)
    np.testing.assert_allclose(scaled, -2.5 * X)
    np.testing.assert_allclose(total, np.exp(-X.sum(axis=1)), rtol=1e-5)
    check(text, X)


def test_lowering_may_keep_control_predecessors() -> None:
    ccodegen.register_custom_call("mine", lower=lambda b, x: b.abs(x))
    check(program(more=", control-predecessors={n}"), X)


def test_exceptions_of_the_users_functions_are_not_bugs_of_ours() -> None:
    ccodegen.register_custom_call("mine", lower=lambda b, x: x.nothing)
    with pytest.raises(InputError, match="lowering custom-call 'c': AttributeError") as caught:
        ccodegen.compile(program())
    assert isinstance(caught.value.__cause__, AttributeError)
    ccodegen.register_custom_call("mine", nest=lambda scope, instruction: 1 // 0)
    with pytest.raises(InputError, match="lowering custom-call 'c': ZeroDivisionError"):
        ccodegen.compile(program())


def test_wrong_lowerings_are_named() -> None:
    ccodegen.register_custom_call("mine", lower=lambda b, x: b.slice(x, slice=()))
    with pytest.raises(InputError, match="lowering custom-call 'c'"):
        ccodegen.compile(program())
    ccodegen.register_custom_call("mine", lower=lambda b, x: b.full(1, "f32[7]"))
    with pytest.raises(InputError, match=r"gives f32\[7\], expected f32\[2,3\]"):
        ccodegen.compile(program())
    ccodegen.register_custom_call("mine", lower=lambda b, x: 3)
    with pytest.raises(InputError, match="it gives a int, expected an instruction"):
        ccodegen.compile(program())
    with pytest.raises(InputError, match="lower must be a function, not a str"):
        ccodegen.register_custom_call("mine", lower="abs")  # type: ignore[arg-type]


def test_a_loop_nest() -> None:
    def nest(scope: Any, instruction: Any) -> None:
        b, (x,), (y,) = scope.builder, scope.operands, scope.results
        with b.loop(2, "i") as i, b.loop(3, "j") as j:
            value = b.load(x, (i, j))
            b.store(y, (i, j), apply("multiply", value, value))

    ccodegen.register_custom_call("mine", nest=nest, evaluate=lambda x: x * x)
    check(program(), X)


HEADER = """
#ifndef MINE_H
#define MINE_H
#include <stdint.h>
/* y[i] = x[i] * scale + i, and the sum of x. */
static inline void mine_scale(const float *x, float *y, float *sum, float scale, int64_t count)
{
    *sum = 0.0f;
    for (int64_t i = 0; i < count; ++i) {
        y[i] = x[i] * scale + (float)i;
        *sum += x[i];
    }
}
#endif
"""


def scale_reference(x: Any, scale: Any, count: Any) -> Any:
    steps = np.arange(count, dtype=np.float32).reshape(x.shape)
    return x * np.float32(scale) + steps, x.sum(dtype=np.float32)


def register_c(evaluate: Any = scale_reference) -> None:
    ccodegen.register_custom_call(
        "mine",
        c_function="mine_scale",
        c_header=HEADER,
        c_scalars=("scale", "count"),
        evaluate=evaluate,
    )


C_CONFIG = '{"scale": 1.5, "count": 6}'
C_MLIR = "{scale = 1.5 : f32, count = 6 : i64}"


@pytest.mark.parametrize("config", [C_CONFIG, C_MLIR])
def test_a_c_function(config: str) -> None:
    register_c()
    check(program(config, "(f32[2,3], f32[])"), X)


def test_a_c_function_gets_its_layouts() -> None:
    register_c()
    layouts = ", operand_layout_constraints={f32[2,3]{0,1}}"
    text = program(C_MLIR, "(f32[2,3]{0,1}, f32[])", layouts)
    built = check(text, X)
    assert "transpose" not in built.optimized.to_text() or built.program.kernels
    y, _ = ccodegen.compile(text)(X)
    steps = np.arange(6, dtype=np.float32).reshape(3, 2).T
    np.testing.assert_allclose(y, -1.5 * X + steps)


def test_a_c_function_is_part_of_the_package(tmp_path: Path) -> None:
    register_c()
    text = program(C_CONFIG, "(f32[2,3], f32[])")
    ccodegen.export(text, target="x86-64", name="m", directory=tmp_path)
    assert (tmp_path / "runtime" / "mine_scale.h").read_text() == HEADER
    command = ["make", "-C", tmp_path, "test"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0 and "PASS" in ran.stdout, ran.stdout + ran.stderr


def test_without_a_reference_the_evaluator_refuses() -> None:
    register_c(evaluate=None)
    text = program(C_CONFIG, "(f32[2,3], f32[])")
    assert ccodegen.compile(text)(X)[1] == -15
    with pytest.raises(UnsupportedError, match="in the evaluator") as caught:
        ccodegen.evaluate(text, X)
    assert "evaluate=f" in caught.value.hint


def test_a_missing_scalar_is_named() -> None:
    register_c()
    with pytest.raises(InputError, match="backend_config of custom-call 'c' has no 'count'"):
        ccodegen.compile(program("{scale = 1.5 : f32}", "(f32[2,3], f32[])"))


def test_a_header_must_have_the_function() -> None:
    with pytest.raises(InputError, match="does not define the C function 'f'"):
        ccodegen.register_custom_call("mine", c_function="f", c_header="int g(void);\n")
    with pytest.raises(InputError, match="cannot read"):
        ccodegen.register_custom_call("mine", c_function="f", c_header=Path("/nowhere/f.h"))


def test_c_that_does_not_compile_is_no_bug_of_ours() -> None:
    header = "static inline void wrong_c(const float *x, float *y) { this is no C }\n"
    ccodegen.register_custom_call("mine", c_function="wrong_c", c_header=header)
    with pytest.raises(InputError, match="the C compiler failed") as caught:
        ccodegen.compile(program())
    assert "wrong_c.h, which register_custom_call was given" in caught.value.hint


def test_a_function_on_the_host() -> None:
    seen = []

    def host(x: Any, **config: Any) -> Any:
        seen.append(config)
        return np.sqrt(-x)

    ccodegen.register_custom_call("mine", host=host)
    for config in ("{k = 3 : ui8}", '"text"', ""):
        expected = np.sqrt(X)
        np.testing.assert_array_equal(ccodegen.evaluate(program(config), X), expected)
        np.testing.assert_array_equal(ccodegen.compile(program(config))(X), expected)
    assert seen == [{"k": 3}] * 2 + [{"opaque": "text"}] * 2 + [{}] * 2
    own = ccodegen.IO(calls={"mine": lambda config, specs, x: x})
    np.testing.assert_array_equal(ccodegen.compile(program(), io=own)(X), -X)


def test_the_host_of_a_package_is_its_caller(tmp_path: Path) -> None:
    ccodegen.register_custom_call("mine", host=True)
    ccodegen.export(program("{k = 3 : ui8}"), target="x86-64", name="m", directory=tmp_path)
    source = (tmp_path / "src" / "m.c").read_text()
    assert 'io->call(io->context, "mine", "{k = 3 : ui8}", reads, 1, writes, 1)' in source
    with pytest.raises(InputError, match=r"custom-call to 'mine' .* asks the caller"):
        ccodegen.compile(program())


def test_one_way_has_to_be_chosen() -> None:
    with pytest.raises(InputError, match="needs one way"):
        ccodegen.register_custom_call("mine")
    with pytest.raises(InputError, match="needs one way"):
        ccodegen.register_custom_call("mine", host=True, lower=lambda b, x: x)


@pytest.mark.parametrize("run", [ccodegen.compile, lambda text: ccodegen.evaluate(text, X)])
def test_an_unknown_target_is_refused_with_a_hint(run: Any) -> None:
    with pytest.raises(UnsupportedError, match="unsupported: custom-call to 'mine'") as caught:
        run(program())
    assert "ccodegen.register_custom_call('mine', …)" in caught.value.hint
    assert caught.value.location is not None and caught.value.location.line == 4


GREATER = """HloModule m
greater { a = f32[] parameter(0)
  b = f32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=GT }
"""


@pytest.mark.parametrize("target", ["ApproxTopK", "PartialReduce"])
@pytest.mark.parametrize(("dimension", "size"), [(1, 3), (0, 2), (1, 7)])
def test_approx_top_k_is_exact(target: str, dimension: int, size: int) -> None:
    x = np.random.default_rng(0).permutation(20).astype(np.float32).reshape(4, 5)
    shape = [4, 5]
    shape[dimension] = size
    result = ",".join(map(str, shape))
    text = f"""{GREATER}ENTRY e {{ x = f32[4,5] parameter(0)
      i = s32[4,5] iota(), iota_dimension={dimension}
      low = f32[] constant(-inf)
      none = s32[] constant(-1)
      ROOT c = (f32[{result}], s32[{result}]) custom-call(x, i, low, none),
        custom_call_target="{target}", called_computations={{greater}}, backend_config={{
        aggregate_to_topk = true, recall_target = 0.95 : f32, reduction_dim = {dimension} : i64,
        reduction_input_size_override = -1 : i64, top_k = {size} : i64}} }}"""
    values, indices = ccodegen.evaluate(text, x)
    first = range(min(size, x.shape[dimension]))
    ordered = -np.sort(-x, axis=dimension)
    np.testing.assert_array_equal(values.take(first, dimension), ordered.take(first, dimension))
    assert (indices.take(range(len(first), size), dimension) == -1).all()
    check(text, x)


@pytest.mark.parametrize("name", ["mhlo.erf", "mhlo.asinh", "chlo.tan", "mhlo.cosh"])
def test_ops_of_other_dialects(name: str) -> None:
    text = program().replace("mine", name)
    call = text.replace("custom-call(n)", f"{name.partition('.')[2]}(n)")
    plain = call.partition(", custom_call_target")[0] + " }"
    np.testing.assert_array_equal(ccodegen.evaluate(text, X), ccodegen.evaluate(plain, X))


def test_top_k_of_other_dialects() -> None:
    text = program("{k = 2 : i64, largest = false}", "(f32[2,2], s32[2,2])")
    values, indices = ccodegen.evaluate(text.replace("mine", "mhlo.topk"), X)
    assert values.tolist() == [[-2, -1], [-5, -4]] and indices.tolist() == [[2, 1], [2, 1]]
