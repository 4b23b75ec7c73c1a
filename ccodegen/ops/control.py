"""Ops that run other computations."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Computation
from ccodegen.hlo.opdef import OpDef, register


@dataclass(frozen=True)
class While(Attributes):
    condition: Computation = attr(AttrKind.COMPUTATION)
    body: Computation = attr(AttrKind.COMPUTATION)


@dataclass(frozen=True)
class Conditional(Attributes):
    """Either the pair, chosen by a pred, or the list, chosen by an s32."""

    true_computation: Computation | None = attr(AttrKind.COMPUTATION, None)
    false_computation: Computation | None = attr(AttrKind.COMPUTATION, None)
    branch_computations: tuple[Computation, ...] = attr(AttrKind.COMPUTATIONS, ())


@dataclass(frozen=True)
class Call(Attributes):
    to_apply: Computation = attr(AttrKind.COMPUTATION)
    is_composite: bool = attr(AttrKind.BOOL, False)


@dataclass(frozen=True)
class Fusion(Attributes):
    """`kind`: kLoop, kInput, kOutput or kCustom."""

    kind: str = attr(AttrKind.ENUM)
    calls: Computation = attr(AttrKind.COMPUTATION)
    output_to_operand_aliasing: str = attr(AttrKind.RAW, "")


@dataclass(frozen=True)
class Map(Attributes):
    """`dimensions` names all dimensions in order; it says nothing more."""

    to_apply: Computation = attr(AttrKind.COMPUTATION)
    dimensions: tuple[int, ...] = attr(AttrKind.INTS, ())


register(OpDef("while", While))
register(OpDef("conditional", Conditional, (2, None)))
register(OpDef("call", Call, (0, None)))
register(OpDef("fusion", Fusion, (0, None)))
register(OpDef("map", Map, (1, None), elementwise=True))
