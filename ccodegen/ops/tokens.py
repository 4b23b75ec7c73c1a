"""Ops that only order others: tokens, barriers, domains."""

from __future__ import annotations

from typing import Any

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import TOKEN, Shape
from ccodegen.ops.shape_checks import require
from ccodegen.support.immutable import frozen


@frozen
class Domain(Attributes):
    """`domain={kind="sharding", entry={…}, exit={…}}`, kept as written."""

    domain: str = attr(AttrKind.RAW)


def infer_after_all(shapes: tuple[Shape, ...], attributes: Attributes) -> Shape:
    listed = ", ".join(map(str, shapes))
    require(all(s == TOKEN for s in shapes), f"after-all takes tokens, not {listed}")
    return TOKEN


def evaluate_after_all(evaluator: Any, instruction: Instruction, *values: Any) -> Any:
    return None


def infer_first(shapes: tuple[Shape, ...], attributes: Attributes) -> Shape:
    return shapes[0]


def evaluate_first(evaluator: Any, instruction: Instruction, value: Any, *others: Any) -> Any:
    return value


register(
    OpDef("after-all", arity=(0, None), infer=infer_after_all, evaluate=evaluate_after_all)
)
register(OpDef("add-dependency", arity=(2, 2), infer=infer_first, evaluate=evaluate_first))
register(OpDef("opt-barrier", infer=infer_first, evaluate=evaluate_first))
register(OpDef("domain", Domain, infer=infer_first, evaluate=evaluate_first))
