"""`read` tells the forms of a program apart by their content."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ccodegen.frontends import _jaxlib
from ccodegen.frontends.read import read
from ccodegen.hlo import proto
from ccodegen.hlo.ir import Module
from ccodegen.hlo.text import parse
from ccodegen.support.errors import InputError
from tests.shared import shared_dir

HLO = """HloModule add

ENTRY main {
  x = f32[2] parameter(0)
  y = f32[2] parameter(1)
  ROOT sum = f32[2] add(x, y)
}
"""
STABLEHLO = """module @add {
  func.func public @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %x, %y : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
"""


def lowered() -> Any:
    jax = pytest.importorskip("jax")
    x = np.ones(2, np.float32)
    return jax.jit(lambda x, y: x + y).lower(x, x)


def exported() -> Any:
    export = pytest.importorskip("jax.export")
    jax = pytest.importorskip("jax")
    x = np.ones(2, np.float32)
    return export.export(jax.jit(lambda x, y: x + y))(x, x)


def adds(module: Module) -> bool:
    shapes = [str(i.shape).split("{")[0] for i in module.entry.instructions]
    ops = [i.op for i in module.entry.instructions]
    return ops == ["parameter", "parameter", "add"] and set(shapes) == {"f32[2]"}


@pytest.mark.parametrize("length", [9, 1 << 14])
def test_lowered_functions_are_the_same_as_text_and_as_a_proto(length: int) -> None:
    jax = pytest.importorskip("jax")
    values = np.resize(
        np.array([np.nan, -np.nan, -0.0, 1e-45, np.inf, -np.inf, np.pi, 1 / 3, 3e38], "f4"), length
    )
    jnp = jax.numpy

    def function(x: Any) -> Any:
        narrow = jnp.asarray(values).astype(jnp.bfloat16)
        return jax.nn.softmax(jax.nn.gelu(x + values, approximate=False)), narrow, 1j * x

    lowered = jax.jit(function).lower(values)
    hlo = _jaxlib.lowered_to_hlo(lowered)
    assert isinstance(hlo, str) == (length == 9)
    computation = _jaxlib._lowered_computation(lowered)
    expected = proto.read(computation.as_serialized_hlo_module_proto(), "<jax>")
    found = parse(hlo, "<jax>") if isinstance(hlo, str) else proto.read(hlo, "<jax>")
    assert found.to_text() == expected.to_text()


def test_a_module_is_itself() -> None:
    module = read(HLO)
    assert read(module) is module


@pytest.mark.parametrize("program", [HLO, " // a comment\n" + HLO, HLO.replace("\n", " ")])
def test_hlo_text(program: str) -> None:
    assert adds(read(program))
    assert adds(read(program.encode()))


@pytest.mark.parametrize("as_path", [Path, str], ids=["Path", "str"])
@pytest.mark.parametrize("name", ["add.hlo", "add", "add.mlir", "{add}.txt"])
def test_a_file_is_read_by_its_content(tmp_path: Path, as_path: type, name: str) -> None:
    (tmp_path / name).write_text(HLO)
    assert adds(read(as_path(tmp_path / name)))


def test_a_byte_order_mark_and_windows_line_ends(tmp_path: Path) -> None:
    (tmp_path / "a.hlo").write_bytes(b"\xef\xbb\xbf" + HLO.replace("\n", "\r\n").encode())
    assert adds(read(tmp_path / "a.hlo"))


def test_protos(tmp_path: Path) -> None:
    data = lowered().compiler_ir("hlo").as_serialized_hlo_module_proto()
    (tmp_path / "add.txt").write_bytes(data)
    assert adds(read(data))
    assert adds(read(bytearray(data)))
    assert adds(read(tmp_path / "add.txt"))


def test_stablehlo_text(tmp_path: Path) -> None:
    pytest.importorskip("jaxlib")
    (tmp_path / "add.hlo").write_text(STABLEHLO)
    assert adds(read(STABLEHLO))
    assert adds(read("// a comment\n" + STABLEHLO))
    assert adds(read(tmp_path / "add.hlo"))


def test_jax_objects() -> None:
    jax = pytest.importorskip("jax")
    x = np.ones(2, np.float32)
    assert adds(read(lowered()))
    assert adds(read(jax.jit(lambda x, y: x + y).trace(x, x)))
    assert adds(read(exported()))


def test_a_portable_artifact_and_a_serialized_export() -> None:
    pytest.importorskip("flatbuffers")
    assert adds(read(exported().mlir_module_serialized))
    assert adds(read(exported().serialize()))


@pytest.mark.parametrize("form", ["model.mlir", "model.mlirbc", "model.jaxexport"])
def test_a_language_model_in_each_form(form: str) -> None:
    pytest.importorskip("flatbuffers")
    pytest.importorskip("jax")
    module = read(shared_dir() / "models" / "stories260k_stablehlo" / form)
    names = [p.metadata.op_name for p in module.entry.parameters]
    assert names == ["tok", "pos", "kc", "vc"]
    assert len(module.entry.instructions) > 500


def message(source: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(source)
    return str(caught.value)


def test_what_is_no_program(tmp_path: Path) -> None:
    assert "No such file" in message(tmp_path / "missing.hlo")
    assert "No such file" in message("missing.hlo")
    assert "directory" in message(tmp_path)
    assert "null" in message("a\0b")
    assert "File name too long" in message("x" * 5000)
    assert "from a int" in message(3)
    assert "not an HLO proto" in message(b"\x00\x01\x02")
    for nothing in ("", " \n", b"", b"\n"):
        assert "empty" in message(nothing)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission(tmp_path: Path) -> None:
    (tmp_path / "a.hlo").write_text(HLO)
    (tmp_path / "a.hlo").chmod(0)
    assert "Permission denied" in message(tmp_path / "a.hlo")


def test_jax_functions_say_what_to_pass() -> None:
    jax = pytest.importorskip("jax")
    assert ".lower(" in message(jax.jit(lambda x: x))
    assert "before .compile()" in message(lowered().compile())


def test_a_file_that_is_wrong_names_itself(tmp_path: Path) -> None:
    (tmp_path / "bad.hlo").write_text(HLO.replace("add(x, y)", "add(x, z)"))
    assert f"{tmp_path}/bad.hlo:6:" in message(tmp_path / "bad.hlo")
    (tmp_path / "cut.pb").write_bytes(b"\n\x05\x00")
    assert f"{tmp_path}/cut.pb" in message(tmp_path / "cut.pb")


def test_the_module_is_verified() -> None:
    header = "HloModule add, input_output_alias={ {}: (7, {}, may-alias) }"
    assert "7" in message(HLO.replace("HloModule add", header))
