"""HLO text → Module: the header, computations and their instructions, one pass, front to back."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from difflib import get_close_matches

from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.shape import Shape
from ccodegen.hlo.text.cursor import Cursor
from ccodegen.hlo.text.header import entry_layout_annotation, parse_header
from ccodegen.hlo.text.instruction import InstructionParser
from ccodegen.hlo.text.order import parameter_number, side_roots
from ccodegen.hlo.text.shapes import parse_shape
from ccodegen.hlo.text.stack_frames import parse_stack_frames
from ccodegen.hlo.text.strings import parse_string
from ccodegen.support.errors import InputError
from ccodegen.support.pattern import pattern

_ENTRY = pattern(r"ENTRY\b")
_ROOT = pattern(r"ROOT\b")
_THREAD = pattern(r",\s*execution_thread\s*=\s*")
_PARAMETER_NAME = pattern(r"%?[\w.-]+\s*:", re.ASCII)


def parse(text: str, file: str = "<string>") -> Module:
    """Reads a module in HLO text. `file` is the name that errors and locations show.

    Needs the registry that `import ccodegen.ops` fills. What the text says of shapes is believed
    here and checked by `hlo.verify`. Raises InputError with line and column.
    """
    return _ModuleParser(Cursor(text, file)).module()


@dataclass
class Body:
    """A computation while it is read: its instructions in order, and the named ones."""

    instructions: list[Instruction] = field(default_factory=list)
    named: dict[str, Instruction] = field(default_factory=dict)
    root: Instruction | None = None


class _ModuleParser:
    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.computations: dict[str, Computation] = {}
        self.all: list[Computation] = []
        self.entry: Computation | None = None

    def module(self) -> Module:
        cursor = self.cursor
        header = parse_header(cursor)
        stack_frames = parse_stack_frames(cursor)
        while not cursor.at_end():
            self._top_level_computation()
        if not self.computations:
            raise cursor.expected("a computation, such as 'ENTRY main { … }'")
        entry = self.entry or self.all[-1]
        layout = entry_layout_annotation(header.layout, entry)
        return Module(
            name=header.name or f"module_{entry.name}",
            entry=entry,
            aliases=header.aliases,
            annotations=(*header.annotations, *layout),
            stack_frames=stack_frames,
            extra_computations=self._uncalled(entry),
            file=cursor.file,
        )

    def _uncalled(self, entry: Computation) -> tuple[Computation, ...]:
        """The computations that nothing calls."""
        called = {
            callee
            for computation in self.all
            for instruction in computation.instructions
            for callee in instruction.attributes.computations()
        }
        return tuple(c for c in self.all if c not in called and c is not entry)

    def _top_level_computation(self) -> None:
        cursor = self.cursor
        at = cursor.position
        is_entry = bool(cursor.take(_ENTRY))
        if is_entry and self.entry:
            raise cursor.error("there is more than one ENTRY computation", at)
        name_at = cursor.position
        name = cursor.name("a computation, such as 'ENTRY main { … }'")
        if name in self.computations:
            hint = "rename one of the two"
            raise cursor.error(f"the computation '{name}' is defined twice", name_at, hint)
        result_at, result = self._signature()
        computation = self.computation(name)
        if result and result != computation.root.shape:
            message = f"'{name}' is said to return {result}, but its root has the shape "
            raise cursor.error(message + str(computation.root.shape), result_at)
        self.computations[name] = computation
        if is_entry:
            self.entry = computation

    def _signature(self) -> tuple[int, Shape | None]:
        """`(x: f32[2]) -> f32[2]`, which may be missing: where the result stands, and its shape."""
        cursor = self.cursor
        if not cursor.accept("("):
            return cursor.position, None
        is_first = True
        while not cursor.accept(")"):
            if not is_first:
                cursor.expect(",", "or ')' after a parameter")
            is_first = False
            cursor.expect_match(_PARAMETER_NAME, "a parameter, such as x: f32[2]")
            parse_shape(cursor)
        cursor.expect("->", "after the parameters")
        return cursor.position, parse_shape(cursor)

    def computation(self, name: str) -> Computation:
        """The computation whose `{` stands here."""
        cursor = self.cursor
        at = cursor.position
        cursor.expect("{", "before the instructions of a computation")
        body = Body()
        while not cursor.accept("}"):
            if cursor.at_end():
                raise cursor.expected(f"an instruction of '{name}' or '}}'")
            self._instruction(body)
        if not body.instructions:
            raise cursor.error(f"the computation '{name}' has no instructions", at)
        root = body.root or body.instructions[-1]
        computation = Computation(
            name,
            self._parameters(body, at),
            root,
            side_roots(body.instructions, root),
            self._execution_thread(),
        )
        self.all.append(computation)
        return computation

    def _execution_thread(self) -> str:
        return parse_string(self.cursor) if self.cursor.take(_THREAD) else ""

    def _instruction(self, body: Body) -> None:
        cursor = self.cursor
        at = cursor.position
        is_root = bool(cursor.take(_ROOT))
        if is_root and body.root:
            raise cursor.error("the computation has more than one ROOT", at)
        name_at = cursor.position
        name = cursor.name("the name of an instruction")
        cursor.expect("=", f"after the name '{name}'")
        if name in body.named:
            hint = "rename one of the two"
            raise cursor.error(f"the instruction '{name}' is defined twice", name_at, hint)
        reader = InstructionParser(cursor, body.instructions, body.named, self._called)
        body.named[name] = reader.right_hand_side(name, name_at)
        if is_root:
            body.root = body.named[name]

    def _called(self) -> Computation:
        """A computation where an attribute wants one: its name, or its body in braces."""
        cursor = self.cursor
        if cursor.text.startswith("{", cursor.position):
            with cursor.nested():
                return self.computation("")
        at = cursor.position
        name = cursor.name("the name of a computation")
        if name not in self.computations:
            close = get_close_matches(name, self.computations, 1)
            hint = f"did you mean '{close[0]}'?" if close else ""
            hint = hint or "define a computation before it is called; none can call itself"
            raise cursor.error(f"there is no computation '{name}' before this line", at, hint)
        return self.computations[name]

    def _parameters(self, body: Body, at: int) -> tuple[Instruction, ...]:
        by_number: dict[int, Instruction] = {}
        for instruction in body.instructions:
            if instruction.op != "parameter":
                continue
            number = parameter_number(instruction)
            if number in by_number:
                raise InputError(
                    f"the parameter number {number} is given twice", instruction.location
                )
            by_number[number] = instruction
        for number in range(len(by_number)):
            if number not in by_number:
                message = f"the computation has {len(by_number)} parameters, but none is number "
                raise self.cursor.error(f"{message}{number}", at, "number them 0, 1, 2, …")
        return tuple(by_number[number] for number in range(len(by_number)))
