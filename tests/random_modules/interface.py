"""What callers of the entry meet: the layouts of its parameters and results."""

from __future__ import annotations

from dataclasses import replace

from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.shape import ArrayShape, Layout
from ccodegen.support.element_type import ElementType
from tests.random_modules.body import Body


def laid_out(body: Body, shape: ArrayShape) -> ArrayShape:
    """With its dimensions in any order, and small integers several to a byte now and then."""
    order = list(range(shape.rank))
    body.random.shuffle(order)
    bits = shape.element_type.bits
    is_small = bits in (1, 2, 4) and shape.element_type is not ElementType.PRED
    suffix = f"E({bits})" if is_small and body.chance(0.6) else ""
    return replace(shape, layout=Layout(tuple(order), suffix))


def relaid(body: Body, value: Instruction) -> Instruction:
    """A copy in another layout."""
    return body.op("copy", value, shape=laid_out(body, value.array_shape))
