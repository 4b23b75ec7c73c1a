"""What is known about the values of constants."""

from __future__ import annotations

from typing import Any

import numpy as np

from ccodegen.hlo.ir import Instruction
from ccodegen.loop.ranges import of_type
from ccodegen.ops.creation import Constant
from ccodegen.ops.movement import SAME_VALUES
from ccodegen.support.element_type import ElementType

# Float types with infinities whose arithmetic rounds once.
PLAIN_FLOATS = (ElementType.F16, ElementType.BF16, ElementType.F32, ElementType.F64)


def array_of(instruction: Instruction) -> np.ndarray[Any, Any] | None:
    """The value of an array constant, None for anything else."""
    attributes = instruction.attributes
    if not isinstance(attributes, Constant) or attributes.literal.elements is not None:
        return None
    return attributes.literal.array


def uniform(instruction: Instruction) -> np.ndarray[Any, Any] | None:
    """The one value (rank 0) that all elements have bit for bit, seen through movement."""
    while instruction.op in SAME_VALUES:
        instruction = instruction.operands[0]
    array = array_of(instruction)
    if array is None or array.size == 0:
        return None
    first = array.reshape(-1)[:1]
    if array.size > 1 and not _repeats(array, first):
        return None
    return first.reshape(())


def _repeats(array: np.ndarray[Any, Any], first: np.ndarray[Any, Any]) -> bool:
    """Compares bytes, because 0 equals -0 and NaN does not equal NaN; the last one first."""
    flat = array.reshape(-1)
    if flat[-1:].tobytes() != first.tobytes():
        return False
    width = array.dtype.itemsize
    raw = flat.view(np.uint8).reshape(-1, width)
    return bool((raw == raw[0]).all())


def is_value(instruction: Instruction, value: float) -> bool:
    """Whether all elements are this number; zero is told from minus zero."""
    scalar = uniform(instruction)
    if scalar is None:
        return False
    element_type = instruction.array_shape.element_type
    if not (element_type.is_float or element_type.is_complex):
        low, high = integer_range(element_type)
        return low <= value <= high and int(scalar) == value
    wanted = np.asarray(value, scalar.dtype)
    return bool(wanted == value) and wanted.tobytes() == scalar.tobytes()


def lowest(element_type: ElementType) -> Any:
    """The least value of an integer type, or -inf."""
    return integer_range(element_type)[0] if element_type.is_integer else -np.inf


def highest(element_type: ElementType) -> Any:
    """The greatest value of an integer type, or inf."""
    return integer_range(element_type)[1] if element_type.is_integer else np.inf


def integer_range(element_type: ElementType) -> tuple[int, int]:
    """Least and greatest value of an integer type or pred."""
    reach = of_type(element_type)
    return int(reach.low), int(reach.high)
