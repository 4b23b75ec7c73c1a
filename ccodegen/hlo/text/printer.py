"""Module → HLO text, in one canonical form: XLA's long form, called computations first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, fields

from ccodegen.hlo.attributes import Attributes, AttrKind
from ccodegen.hlo.ir import NO_METADATA, Computation, Instruction, Module
from ccodegen.hlo.shape import shape_text
from ccodegen.hlo.text.attributes import ComputationNames, value_text
from ccodegen.hlo.text.header import aliases_text
from ccodegen.hlo.text.literals import literal_text
from ccodegen.hlo.text.metadata import metadata_text
from ccodegen.hlo.text.names import unique_names
from ccodegen.hlo.text.order import written_computations, written_instructions
from ccodegen.hlo.text.stack_frames import stack_frames_text
from ccodegen.hlo.text.strings import quoted


def to_text(module: Module) -> str:
    """The module's HLO text; deterministic, and `parse` reads it back to the same text.

    Names that are empty, used twice or no HLO identifiers are changed as little as will do.
    """
    computations = written_computations(module)
    names = unique_names((c, c.name or "computation") for c in computations)
    parts = [_header(module)]
    if module.stack_frames is not None:
        parts.append(stack_frames_text(module.stack_frames))
    for computation in computations:
        is_entry = computation is module.entry
        parts.append("\n".join(_computation(computation, names, is_entry)) + "\n")
    return "\n".join(parts)


def _header(module: Module) -> str:
    names = unique_names([(module, module.name or "module")])
    attributes = [f"{name}={value}" for name, value in module.annotations]
    if module.aliases:
        attributes.append(f"input_output_alias={aliases_text(module.aliases)}")
    return ", ".join([f"HloModule {names[module]}", *attributes]) + "\n"


def _computation(
    computation: Computation, names: ComputationNames, is_entry: bool
) -> Iterator[str]:
    instructions = written_instructions(computation)
    own = unique_names((i, i.name or i.op) for i in instructions)
    parameters = ", ".join(
        f"{own[p]}: {shape_text(p.shape, layouts=False)}" for p in computation.parameters
    )
    result = shape_text(computation.root.shape, layouts=False)
    entry = "ENTRY " if is_entry else ""
    yield f"{entry}%{names[computation]} ({parameters}) -> {result} {{"
    for instruction in instructions:
        root = "ROOT " if instruction is computation.root else ""
        yield f"  {root}{_instruction(instruction, own, names)}"
    thread = computation.execution_thread
    yield f"}}, execution_thread={quoted(thread)}" if thread else "}"


def _instruction(
    instruction: Instruction, own: dict[Instruction, str], names: ComputationNames
) -> str:
    left = f"%{own[instruction]} = {shape_text(instruction.shape)} {instruction.op}"
    inside = _inside(instruction, own)
    return ", ".join([f"{left}({inside})", *_attributes(instruction, own, names)])


def _inside(instruction: Instruction, own: dict[Instruction, str]) -> str:
    attributes = instruction.attributes
    if instruction.op == "constant":
        return literal_text(attributes.literal)  # type: ignore[attr-defined]
    if instruction.op == "parameter":
        return str(attributes.number)  # type: ignore[attr-defined]
    parts = (
        f"/*index={i}*/%{own[o]}" if i and i % 5 == 0 else f"%{own[o]}"
        for i, o in enumerate(instruction.operands)
    )
    return ", ".join(parts)


def _attributes(
    instruction: Instruction, own: dict[Instruction, str], names: ComputationNames
) -> Iterator[str]:
    if instruction.op not in ("constant", "parameter"):
        yield from _own_attributes(instruction.attributes, names)
    last = ""
    for name, value in instruction.annotations:
        if name == "backend_config":
            last = f"{name}={value}"
        else:
            yield f"{name}={value}"
    if instruction.control_predecessors:
        before = ", ".join(f"%{own[p]}" for p in instruction.control_predecessors)
        yield f"control-predecessors={{{before}}}"
    if instruction.metadata != NO_METADATA:
        yield f"metadata={metadata_text(instruction.metadata)}"
    if last:
        yield last


def _own_attributes(attributes: Attributes, names: ComputationNames) -> Iterator[str]:
    defaults = {f.name: f.default for f in fields(attributes) if f.default is not MISSING}
    for spelling, (name, kind) in attributes.spelled().items():
        value = getattr(attributes, name)
        is_default = name in defaults and value == defaults[name]
        if not is_default and not (kind is AttrKind.RAW and not value):
            yield f"{spelling}={value_text(kind, value, names)}"
