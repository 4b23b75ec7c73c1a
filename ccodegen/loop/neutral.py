"""Values that an operator leaves others unchanged with."""

from __future__ import annotations

from ccodegen.support.element_type import ElementType, Kind


def neutral(operator: str, element_type: ElementType) -> object | None:
    """The value with which operator(value, x) is x for each x; None where we know none."""
    if element_type.kind in (Kind.SIGNED, Kind.UNSIGNED) and element_type.bits >= 8:
        signed = element_type.kind is Kind.SIGNED
        ones = -1 if signed else 2**element_type.bits - 1
        least = -(2 ** (element_type.bits - 1)) if signed else 0
        most = ~least if signed else ones
        known = {"add": 0, "multiply": 1, "or": 0, "xor": 0, "and": ones}
        return {**known, "maximum": least, "minimum": most}.get(operator)
    if element_type in (ElementType.F32, ElementType.F64):
        infinity = float("inf")
        of_floats = {"add": -0.0, "multiply": 1.0, "maximum": -infinity, "minimum": infinity}
        return of_floats.get(operator)
    if element_type in (ElementType.C64, ElementType.C128):
        return {"add": complex(-0.0, -0.0)}.get(operator)
    if element_type is ElementType.PRED:
        return {"and": True, "or": False}.get(operator)
    return None
