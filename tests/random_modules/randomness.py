"""Numbers that a state of the program makes."""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.shape import ArrayShape
from ccodegen.support.element_type import HLO_TYPES
from tests.random_modules.body import Body

_STATE = ArrayShape(HLO_TYPES["u64"], (2,))


def state(body: Body) -> Instruction:
    delta = body.random.choice((1, 2, 7, 2**31))
    return body.op("rng-get-and-update-state", shape=_STATE, delta=delta)


def rng(body: Body) -> Instruction:
    distribution = body.random.choice(("rng_uniform", "rng_normal"))
    is_uniform = distribution == "rng_uniform"
    kind = body.type_where(lambda t: t.is_float or (t.is_integer and is_uniform))
    low, high = body.scalar(kind), body.scalar(kind)
    return body.op("rng", low, high, shape=body.shape(kind), distribution=distribution)
