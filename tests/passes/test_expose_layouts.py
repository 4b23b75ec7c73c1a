"""Entry layouts: the program takes and gives memory in the order that the interface says."""

from __future__ import annotations

import ctypes
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ccodegen
from ccodegen.hlo.layout import from_memory, memory_shape, to_memory
from ccodegen.hlo.shape import ArrayShape
from ccodegen.hlo.text.shapes import shape_from_text
from ccodegen.passes.expose_layouts import expose_layouts
from ccodegen.passes.normalise_layouts import normalise_layouts
from tests.passes.checking import STRICT, canonical, leaves_alone, module
from tests.three_ways import check

COLUMNS = (
    "HloModule m, entry_computation_layout={(f32[2,3]{0,1}, f32[2,3]{1,0})->f32[2,3]{0,1}}\n"
    "ENTRY e { x = f32[2,3] parameter(0)\n y = f32[2,3] parameter(1)\n"
    "ROOT r = f32[2,3] subtract(x, y) }"
)
PACKED = (
    "HloModule m\nENTRY e { x = s4[3,5]{0,1:E(4)} parameter(0)\n y = s4[3,5] parameter(1)\n"
    "z = s4[3,5]{1,0:E(4)} add(x, y)\n t = s4[5,3]{1,0} transpose(x), dimensions={1,0}\n"
    "ROOT r = (s4[3,5]{1,0:E(4)}, s4[5,3]{1,0}) tuple(z, t) }"
)


def exposes(before: str, after: str) -> None:
    exposed = normalise_layouts(expose_layouts(module(before)), STRICT)
    assert canonical(exposed) == canonical(module(after))


def test_columns_first_is_a_transposed_parameter_and_result() -> None:
    exposes(
        "x = f32[2,3]{0,1} parameter(0)\n ROOT r = f32[2,3]{0,1} negate(x)",
        "x = f32[3,2] parameter(0)\n t = f32[2,3] transpose(x), dimensions={1,0}\n"
        "n = f32[2,3] negate(t)\n ROOT r = f32[3,2] transpose(n), dimensions={1,0}",
    )


def test_packed_values_are_taken_out_of_bytes() -> None:
    exposes(
        "x = u4[3]{0:E(4)} parameter(0)\n ROOT r = u8[3]{0} convert(x)",
        "x = u8[2] parameter(0)\n b = u4[2,2] bitcast-convert(x)\n f = u4[4] reshape(b)\n"
        "s = u4[3] slice(f), slice={[0:3]}\n ROOT r = u8[3] convert(s)",
    )


def test_a_row_major_interface_is_left_alone() -> None:
    leaves_alone(
        "x = f32[2,3]{1,0} parameter(0)\n ROOT r = f32[2,3]{1,0} negate(x)", expose_layouts
    )


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("text", [COLUMNS, PACKED])
def test_three_ways(text: str, strict: bool) -> None:
    check(text, strict=strict)


def test_the_signature_and_the_c_say_the_layout() -> None:
    executable = ccodegen.compile(COLUMNS)
    text = executable.as_text("c")
    assert "f32[2,3]{0,1}" in text


def test_arrays_in_python_are_logical() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    y = np.ones((2, 3), np.float32)
    executable = ccodegen.compile(COLUMNS)
    assert np.array_equal(executable(x, y), x - y)
    assert np.array_equal(executable(np.asfortranarray(x), y), x - y)
    out = np.empty((2, 3), np.float32)
    assert executable(x, y, out=out) is out
    assert np.array_equal(out, x - y)


def test_packed_arrays_in_python_have_one_value_a_byte() -> None:
    x = np.arange(-8, 7).reshape(3, 5).astype(ml_dtypes.int4)
    y = np.ones((3, 5), ml_dtypes.int4)
    z, t = ccodegen.compile(PACKED)(x, y)
    assert np.array_equal(z.astype(int), x.astype(int) + 1)
    assert np.array_equal(t.astype(int), x.astype(int).T)


def test_donated_parameters_keep_their_layout() -> None:
    text = "ENTRY e { x = f32[2,2]{0,1} parameter(0)\n ROOT r = f32[2,2]LAYOUT negate(x) }"
    x = np.arange(4, dtype=np.float32).reshape(2, 2)
    expected = -x
    result = ccodegen.compile(text.replace("LAYOUT", "{0,1}"), donate=[0])(x)
    assert result is x
    assert np.array_equal(x, expected)
    with pytest.raises(ccodegen.InputError, match="donated"):
        ccodegen.compile(text.replace("LAYOUT", "{1,0}"), donate=[0])


@pytest.mark.parametrize(
    "text", ["f32[2,3,5]{0,2,1}", "s4[7]{0:E(4)}", "u2[3,3]{0,1:E(2)}", "f32[]", "s4[0]{0:E(4)}"]
)
def test_memory_and_back(text: str) -> None:
    shape = shape_from_text(text)
    assert isinstance(shape, ArrayShape)
    array: Any = np.arange(shape.size).reshape(shape.dimensions).astype(shape.element_type.dtype)
    memory = to_memory(array, shape)
    assert memory.shape == memory_shape(shape).dimensions
    assert np.array_equal(from_memory(memory, shape).astype(int), array.astype(int))


def test_packing_is_as_xla_has_it() -> None:
    jax = pytest.importorskip("jax")
    array = np.array([1, 2, 3, -4]).astype(ml_dtypes.int4)
    shape = shape_from_text("s4[4]{0:E(4)}")
    assert isinstance(shape, ArrayShape)
    made = jax.jit(lambda x: x.astype(jax.numpy.int4))(array.astype(np.int8)).block_until_ready()
    seen = np.frombuffer(ctypes.string_at(made.unsafe_buffer_pointer(), 2), np.uint8)
    assert np.array_equal(seen, to_memory(array, shape))
