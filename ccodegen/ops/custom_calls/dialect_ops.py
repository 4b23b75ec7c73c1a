"""Ops of the dialects MHLO and CHLO that XLA's converter writes as custom calls of their names."""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import get
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.backend_config import backend_config_of
from ccodegen.ops.build import derived
from ccodegen.ops.custom_call import CustomCall, CustomCallDef, register_custom_call
from ccodegen.ops.topk import TopK

_ELEMENTWISE = (
    "acos", "acosh", "asin", "asinh", "atan2", "atanh", "cosh", "erf", "sinh", "tan",
)  # fmt: skip


def expand_elementwise(instruction: Instruction) -> Instruction:
    """`custom-call(%x), custom_call_target="mhlo.erf"` → `erf(%x)`."""
    name = attributes_of(instruction, CustomCall).custom_call_target.partition(".")[2]
    if any(o.shape != instruction.shape for o in instruction.operands):
        return instruction
    attributes = get(name).attributes()
    return derived(instruction, name, instruction.shape, instruction.operands, attributes)


def expand_top_k(instruction: Instruction) -> Instruction:
    """`custom-call(%x), custom_call_target="mhlo.topk", backend_config={k = 3 : i64, largest =
    true}` → `topk(%x), k=3`."""
    config = backend_config_of(instruction)
    if "k" not in config or len(instruction.operands) != 1:
        return instruction
    attributes = TopK(k=int(config["k"]), largest=bool(config.get("largest", True)))
    return derived(instruction, "topk", instruction.shape, instruction.operands, attributes)


for _dialect in ("mhlo", "chlo"):
    for _name in _ELEMENTWISE:
        register_custom_call(CustomCallDef(f"{_dialect}.{_name}", expand=expand_elementwise))
    for _name in ("topk", "top_k"):
        register_custom_call(CustomCallDef(f"{_dialect}.{_name}", expand=expand_top_k))
