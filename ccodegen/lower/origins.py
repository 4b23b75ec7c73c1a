"""What an instruction is and where it comes from, for the comments of generated code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath
from typing import TypeAlias

from ccodegen.hlo.ir import Instruction, Metadata, Module
from ccodegen.hlo.shape import shape_text

Origin: TypeAlias = Callable[[Instruction], str]


def origins(module: Module) -> Origin:
    """A function that tells `add.2 = f32[32], jit(step)/add (model.py:37)`: no path but a name."""
    frames = module.stack_frames

    def source(metadata: Metadata) -> tuple[str, int] | None:
        if metadata.source_file:
            return metadata.source_file, metadata.source_line
        return frames.source(metadata.stack_frame_id) if frames else None

    def origin(instruction: Instruction) -> str:
        metadata, location = instruction.metadata, instruction.location
        text = f"{instruction.name} = {shape_text(instruction.shape, layouts=False)}"
        if metadata.op_name:
            text += f", {metadata.op_name}"
        if place := source(metadata):
            text += f" ({PurePath(place[0]).name}:{place[1]})"
        elif location and not metadata.op_name:
            text += f" ({replace(location, file=PurePath(location.file).name)})"
        return text

    return origin
