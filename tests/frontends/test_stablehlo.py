"""StableHLO and JAX programs become HLO, and jaxlib's complaints become errors of ours."""

from __future__ import annotations

import builtins
import importlib.util
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ccodegen.ops  # noqa: F401
from ccodegen.frontends import jax_lowered, jax_source, stablehlo
from ccodegen.hlo.evaluate import evaluate
from ccodegen.support.errors import InputError, UnsupportedError

pytest.importorskip("jax")


def program(body: str, result: str = "tensor<2xf32>") -> str:
    return f"""module {{
  func.func public @main(%a: tensor<2xf32>) -> {result} {{
    {body}
    return %0 : {result}
  }}
}}
"""


def error(code: str | bytes) -> InputError:
    with pytest.raises(InputError) as caught:
        stablehlo.read(code, "bad.mlir")
    return caught.value


def test_an_unknown_op_is_underlined() -> None:
    text = str(error(program("%0 = stablehlo.foo %a : tensor<2xf32>")))
    assert text.startswith("bad.mlir:3:10: error: custom op 'stablehlo.foo' is unknown")
    lines = text.splitlines()
    assert lines[1].index("stablehlo.foo") == lines[2].index("^")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("hello", "custom op 'hello' is unknown"),
        ("module {}", "requires module with `main` function"),
        (program("%0 = arith.addf %a, %a : tensor<2xf32>"), "unsupported op for export to XLA"),
        (program("%0 = stablehlo.add %a, %b : tensor<2xf32>"), "undeclared SSA value"),
        (program("%0 = func.call @main(%a) : (tensor<2xf32>) -> tensor<2xf32>"), "crashed"),
        (b"ML\xefR\x0dStableHLO_v1.0.0\x00garbage", "bad.mlir"),
        (b"ML\xefR", "bad.mlir"),
    ],
)
def test_bad_programs(code: str | bytes, words: str) -> None:
    assert words in str(error(code))


def test_the_conversion_finds_what_this_process_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as this package, where only sys.path says where it is."""
    found = tmp_path / "found"
    (tmp_path / "sitecustomize.py").write_text(f"open({str(found)!r}, 'w').close()\n")
    monkeypatch.syspath_prepend(tmp_path)
    stablehlo.read(program("%0 = stablehlo.add %a, %a : tensor<2xf32>"))
    assert found.exists()


def test_without_jaxlib_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = importlib.util.find_spec
    hidden = lambda name: None if name.startswith("jax") else find_spec(name)  # noqa: E731
    monkeypatch.setattr(importlib.util, "find_spec", hidden)
    assert "ccodegen[jax]" in error("module {}").hint


def test_without_protobuf_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from ccodegen.hlo import proto
    from ccodegen.hlo.proto.schema import message_classes

    real_import = builtins.__import__

    def hidden(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("google.protobuf"):
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    message_classes.cache_clear()
    monkeypatch.setattr(builtins, "__import__", hidden)
    with pytest.raises(InputError) as caught:
        proto.read(b"\n\x01m")
    assert "ccodegen[proto]" in caught.value.hint


def function(params: Any, x: Any, unused: Any) -> Any:
    import jax.numpy as jnp

    return {"y": jnp.sin(x @ params["w"]), "x": x + 1}


ARGUMENTS = (
    {"b": np.ones(2, np.float32), "w": np.ones((3, 3), np.float32)},
    np.ones((2, 3), np.float32),
    np.ones(4, np.float32),
)


def sources() -> list[Any]:
    import jax
    from jax import export

    jitted = jax.jit(function, donate_argnums=1)
    return [jitted.lower(*ARGUMENTS), jitted.trace(*ARGUMENTS), export.export(jitted)(*ARGUMENTS)]


@pytest.mark.parametrize("form", [0, 1, 2], ids=["Lowered", "Traced", "Exported"])
def test_a_jax_program_keeps_names(form: int) -> None:
    parameters = jax_source.from_object(sources()[form]).entry.parameters
    assert [p.metadata.op_name for p in parameters] == ["params['w']", "x"]


def test_a_call_of_a_jax_program_has_its_trees() -> None:
    call = jax_lowered.call_of(sources()[0])
    assert call.kept == (1, 2)
    flat = call.flatten(ARGUMENTS, {})
    assert flat[0] is ARGUMENTS[0]["w"] and flat[1] is ARGUMENTS[1]
    assert call.unflatten([1, 2]) == {"x": 1, "y": 2}


@pytest.mark.parametrize("element_type", [np.float32, np.float16])
def test_erfc_is_not_written_out(element_type: type) -> None:
    from jax import lax

    x = np.array([-1, 0, 0.5, 3], element_type)
    lowered = jax_lowered.lower(lambda x: (lax.erfc(x), lax.erf(x)), (x,), {})
    module = jax_source.from_lowered(lowered)
    ops = [i.op for i in module.entry.instructions]
    assert sorted(ops) == ["custom-call", "erf", "parameter", "tuple"]
    wanted = [math.erfc(v) for v in x.tolist()]
    np.testing.assert_allclose(evaluate(module, x)[0], wanted, rtol=2e-3)


def test_donated_arguments_are_aliases() -> None:
    lowered = jax_lowered.lower(function, ARGUMENTS, {}, donate_argnums=1)
    assert [alias.parameter for alias in jax_source.from_lowered(lowered).aliases] == [1]


def test_another_structure_of_arguments_is_an_error() -> None:
    call = jax_lowered.call_of(jax_lowered.lower(function, ARGUMENTS, {}))
    with pytest.raises(InputError, match="structure"):
        call.flatten(ARGUMENTS[1:], {})


def test_symbolic_dimensions_are_unsupported() -> None:
    import jax
    from jax import export

    shape = jax.ShapeDtypeStruct(export.symbolic_shape("n, 3"), np.float32)
    with pytest.raises(UnsupportedError, match="symbolic"):
        jax_source.from_object(export.export(jax.jit(lambda x: x + 1))(shape))


def test_a_damaged_export_is_an_error() -> None:
    pytest.importorskip("flatbuffers")
    data = bytes(sources()[2].serialize())
    with pytest.raises(InputError, match="damaged"):
        jax_source.deserialize(data[:300], "cut.jaxexport")
