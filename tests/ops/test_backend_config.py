"""backend_config in JSON and in MLIR attributes becomes typed values, or says what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ccodegen.ops  # noqa: F401
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.text import parse
from ccodegen.ops.backend_config import backend_config_of, backend_config_text, parse_config
from ccodegen.support.errors import InputError


def custom_call(config: str) -> Instruction:
    suffix = f", backend_config={config}" if config else ""
    return parse(
        f"ENTRY e {{ x = f32[] parameter(0)\n ROOT c = f32[] custom-call(x), "
        f'custom_call_target="t"{suffix} }}'
    ).entry.root


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{diag = 78 : ui8, trans_x = 84 : ui8}", {"diag": np.uint8(78), "trans_x": np.uint8(84)}),
        ('{"a": 1, "b": [1, 2.5], "c": {"d": "e"}}', {"a": 1, "b": (1, 2.5), "c": {"d": "e"}}),
        ("{conv_result_scale:1}", {"conv_result_scale": 1}),
        ("{index = 0 : ui64}", {"index": np.uint64(0)}),
        ("{value = 7.0 : f32, bits = 0x7F800000 : f32}", {"value": 7.0, "bits": np.inf}),
        ("{big = 18446744073709551615 : ui64}", {"big": np.uint64(2**64 - 1)}),
        ("{n = -3 : i32, m = 5 : index}", {"n": np.int32(-3), "m": np.int64(5)}),
        ("{flag, on = true, off = false}", {"flag": True, "on": True, "off": False}),
        ("{u = unit}", {"u": True}),
        (r'{key = "\7FELF\22\n"}', {"key": '\x7fELF"\n'}),
        ("{axes=[0,1], type=i8, of = @f}", {"axes": (0, 1), "type": "i8", "of": "@f"}),
        ('{"quoted key" = {inner = 1}}', {"quoted key": {"inner": 1}}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ("", {}),
    ],
)
def test_values(text: str, expected: dict[str, Any]) -> None:
    found = backend_config_of(custom_call(text))
    assert found == expected
    for key, value in expected.items():
        if isinstance(value, np.generic):
            assert type(found[key]) is type(value)


def test_arrays() -> None:
    found = parse_config(
        "{a = array<f32: 1.0, 2.5>, b = array<i64>, c = dense<[[1, 2]]> : "
        "tensor<1x2xi32>, d = dense<7> : tensor<3xui8>}"
    )
    assert found["a"].dtype == np.float32 and found["a"].tolist() == [1.0, 2.5]
    assert found["b"].dtype == np.int64 and found["b"].size == 0
    assert found["c"].dtype == np.int32 and found["c"].tolist() == [[1, 2]]
    assert found["d"].dtype == np.uint8 and found["d"].tolist() == [7, 7, 7]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"opaque"', "expected a dictionary"),
        ("{a = 300 : ui8}", "300 is out of range for u8"),
        ("{a = 1 : i32, a = 2 : i32}", "the key 'a' appears twice"),
        ("{a = 1 : weird}", "numbers of type 'weird'"),
        ("{a = dense<[1, 2]> : tensor<3xi32>}", "do not fill"),
        ("{a = }", "expected a value, found '}'"),
    ],
)
def test_errors_name_the_instruction(text: str, message: str) -> None:
    with pytest.raises(InputError, match="backend_config of custom-call 'c'") as caught:
        backend_config_of(custom_call(text))
    assert message in caught.value.message
    assert caught.value.location is not None


def test_opaque_text() -> None:
    assert backend_config_text(custom_call('"opaque \\"x\\""')) == 'opaque "x"'
