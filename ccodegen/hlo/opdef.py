"""What is known about an op, and the registry of all of them.

Importing `ccodegen.ops` fills the registry; the parser, verifier, evaluator and lowering read it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any, TypeAlias

from ccodegen.hlo.attributes import Attributes
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.shape import Shape
from ccodegen.support.immutable import frozen

Infer: TypeAlias = Callable[[tuple[Shape, ...], Any], Shape]
Takes: TypeAlias = Callable[[tuple[Shape, ...], Any], tuple[Shape, ...]]
Evaluate: TypeAlias = Callable[..., Any]


@frozen
class OpDef:
    """One op.

    `arity`: (least, most) number of operands, most None where it is open.
    `infer(operand shapes, attributes)`: the result shape. Raises InputError with a sentence for
    people when operands or attributes are wrong. None where the text's shape is to be believed
    (constant, parameter, infeed, custom-call, …); then `check(instruction)` may still object.
    `takes(operand shapes, attributes)`: the shapes as which it takes its operands, where floats may
    come in another precision (`hlo.precision` converts them). None: as they are.
    `evaluate(evaluator, instruction, *operand values)`: the NumPy reference; a value is an
    ndarray, or a tuple of values. None: not supported by the evaluator yet.
    `element(scope, instruction, index)`: the scalar value(s) at an output index, as loop IR; such
    ops fuse. `nest(scope, instruction)`: a loop nest of its own from buffers to buffers. See
    `ops/lowering.py` for both. Where both are set, `prefers_nest(instruction)` says which one an
    instruction lowers by.
    `expand(instruction)`: the instruction as others that give its value, which a pass puts in its
    place. Raises UnsupportedError for what it has no meaning for.
    `elementwise`: output element i depends on element i of each operand alone.
    `side_effect`: kept although nobody uses the result.
    """

    opcode: str
    attributes: type[Attributes] = Attributes
    arity: tuple[int, int | None] = (1, 1)
    infer: Infer | None = None
    check: Callable[[Instruction], None] | None = None
    takes: Takes | None = None
    evaluate: Evaluate | None = None
    element: Callable[..., Any] | None = None
    nest: Callable[..., None] | None = None
    prefers_nest: Callable[[Instruction], bool] | None = None
    expand: Callable[[Instruction], Instruction] | None = None
    elementwise: bool = False
    side_effect: bool = False
    samples: tuple[str, ...] = field(default=())

    def lowers_by_nest(self, instruction: Instruction) -> bool:
        """Whether `nest`, not `element`, lowers this instruction."""
        if self.nest is None or self.prefers_nest is None:
            return self.nest is not None
        return self.prefers_nest(instruction)


_REGISTRY: dict[str, OpDef] = {}


def register(definition: OpDef) -> OpDef:
    """Adds an op. Each opcode is registered once."""
    assert definition.opcode not in _REGISTRY, definition.opcode
    _REGISTRY[definition.opcode] = definition
    return definition


def find(opcode: str) -> OpDef | None:
    return _REGISTRY.get(opcode)


def get(opcode: str) -> OpDef:
    """The definition. Raises KeyError where there is none."""
    return _REGISTRY[opcode]


def is_elementwise(instruction: Instruction) -> bool:
    """Whether element i depends on element i of each operand alone: as its op says, and for
    bitcast-converts between types of one width."""
    if instruction.op == "bitcast-convert":
        (operand,) = instruction.operands
        return operand.array_shape.dimensions == instruction.array_shape.dimensions
    return get(instruction.op).elementwise


def all_ops() -> tuple[OpDef, ...]:
    """All definitions, by opcode."""
    return tuple(_REGISTRY[name] for name in sorted(_REGISTRY))
