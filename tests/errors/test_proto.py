"""Bad protos: one InputError each, whatever the bytes are."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import ccodegen.ops  # noqa: F401
from ccodegen.frontends.read import read
from ccodegen.hlo import proto
from ccodegen.hlo.proto.schema import message_classes
from ccodegen.support.errors import InputError, UnsupportedError

F32, TUPLE = 11, 13


def module(*instructions: dict[str, Any]) -> Any:
    """An HloModuleProto of one computation; ids are the positions, the last one is the root."""
    message = message_classes()["HloModuleProto"](name="m")
    computation = message.computations.add(name="e", root_id=len(instructions) - 1)
    for i, fields in enumerate(instructions):
        instruction = computation.instructions.add(id=i, name=f"i{i}", **fields)
        if not instruction.HasField("shape"):
            instruction.shape.element_type = F32
    return message


def parameter(number: int = 0) -> dict[str, Any]:
    return {"opcode": "parameter", "parameter_number": number}


def chain() -> Any:
    negate = {"opcode": "negate"}
    return module(parameter(), negate | {"operand_ids": [0]}, negate | {"operand_ids": [1]})


def error(message: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        proto.read(message.SerializeToString(), "bad.pb")
    assert "bad.pb" in str(caught.value)
    return caught.value


def test_the_chain_itself_is_good() -> None:
    assert len(proto.read(chain().SerializeToString()).entry.instructions) == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.instructions[1].operand_ids.__setitem__(0, 2), "its operand 2 is not defined"),
        (lambda c: c.instructions[1].operand_ids.__setitem__(0, 1), "its operand 1 is not defined"),
        (lambda c: c.instructions[1].operand_ids.append(99), "its operand 99 is not defined"),
        (lambda c: c.instructions[1].control_predecessor_ids.append(2), "control predecessor 2"),
        (lambda c: c.instructions[1].called_computation_ids.append(0), "called computation 0"),
        (lambda c: setattr(c.instructions[1], "id", 0), "is another instruction's already"),
        (lambda c: setattr(c.instructions[1], "opcode", "nagate"), "there is no op 'nagate'"),
        (lambda c: setattr(c.instructions[1], "opcode", "while"), "'condition' is missing"),
        (lambda c: setattr(c.instructions[1], "opcode", "constant"), "'literal' is missing"),
        (lambda c: setattr(c.instructions[1].shape, "element_type", 99), "unknown element type 99"),
        (lambda c: c.instructions[1].shape.dimensions.append(-3), "negative dimension -3"),
        (lambda c: c.instructions[1].shape.dimensions.extend([2**40, 2**40]), "2^40"),
        (lambda c: c.instructions[1].shape.dimensions.extend([1] * 65), "65 dimensions"),
        (lambda c: c.instructions[1].shape.layout.minor_to_major.append(1), "does not fit rank 0"),
        (lambda c: c.instructions[1].shape.is_dynamic_dimension.append(True), "dynamic flags"),
        (lambda c: setattr(c.instructions[0], "parameter_number", 7), "are not numbered 0, 1"),
        (lambda c: setattr(c, "root_id", 5), "the root of computation 'e' is not defined"),
    ],
)
def test_inconsistent_modules(change: Callable[[Any], None], message: str) -> None:
    bad = chain()
    change(bad.computations[0])
    assert message in error(bad).message


def test_the_entry_is_not_defined() -> None:
    bad = chain()
    bad.entry_computation_id = 12
    assert "entry computation 12" in error(bad).message


def test_two_computations_with_one_id() -> None:
    bad = chain()
    bad.computations.add().CopyFrom(bad.computations[0])
    assert "two computations have the id 0" in error(bad).message


def test_a_literal_that_is_too_short_for_its_shape() -> None:
    bad = module({"opcode": "constant"})
    literal = bad.computations[0].instructions[0].literal
    literal.shape.element_type = F32
    literal.shape.dimensions.append(2**39)
    assert "does not fit its shape" in error(bad).message


def test_a_shape_that_nests_without_end() -> None:
    bad = module(parameter())
    shape = bad.computations[0].instructions[0].shape
    for _ in range(300):
        shape.element_type = TUPLE
        shape = shape.tuple_shapes.add()
    with pytest.raises(InputError, match="not an HLO proto"):
        proto.read(bad.SerializeToString())


def test_a_convolution_with_absurd_dimension_numbers() -> None:
    fields = {"opcode": "convolution", "operand_ids": [0, 0]}
    bad = module(parameter(), fields)
    numbers = bad.computations[0].instructions[1].convolution_dimension_numbers
    numbers.input_batch_dimension = 2**60
    assert "dimension numbers" in error(bad).message


@pytest.mark.parametrize("data", [b"\x00", b"\xff" * 100, b"\n\x03abc", bytes(range(256))])
def test_bytes_that_are_no_proto(data: bytes) -> None:
    with pytest.raises(InputError, match="not an HLO proto"):
        proto.read(data)


def test_strange_names_survive() -> None:
    good = chain()
    good.name = 'm */ "\n'
    for instruction in good.computations[0].instructions:
        instruction.name = '*/ system("x"); ??/ \\ ü'
    printed = read(good.SerializeToString()).to_text()
    assert read(printed).to_text() == printed


def valid_bytes() -> bytes:
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    def function(x: Any) -> Any:
        y = jax.lax.fori_loop(0, 3, lambda i, c: jnp.tanh(c @ c) + jnp.eye(3), x)
        return jnp.sort(jax.nn.softmax(y)), jnp.cumsum(x), x.at[0].add(1.0)

    lowered = jax.jit(function).lower(jnp.ones((3, 3)))
    data: bytes = lowered.compiler_ir("hlo").as_serialized_hlo_module_proto()
    return data


def test_truncated_protos() -> None:
    data = valid_bytes()
    for length in range(1, len(data), max(1, len(data) // 100)):
        reads_or_says_why(data[:length])


def test_garbled_protos() -> None:
    data, choose = valid_bytes(), random.Random(0)
    for _ in range(400):
        garbled = bytearray(data)
        for _ in range(choose.randint(1, 4)):
            garbled[choose.randrange(len(data))] = choose.randrange(256)
        reads_or_says_why(bytes(garbled))


def reads_or_says_why(data: bytes) -> None:
    try:
        read(data).to_text()
    except (InputError, UnsupportedError) as error:
        assert error.message
