"""The right-hand side of an instruction in HLO text: `f32[2] opcode(operands), attribute=value`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from ccodegen.hlo import opdef
from ccodegen.hlo.attributes import AttrKind
from ccodegen.hlo.checks import check_arity, inferred_shape, located, make_attributes
from ccodegen.hlo.ir import NO_METADATA, Computation, Instruction, Metadata
from ccodegen.hlo.opdef import OpDef
from ccodegen.hlo.shape import Shape, shape_text
from ccodegen.hlo.text.async_sugar import desugared, resolved, split_opcode, sugar_kinds
from ccodegen.hlo.text.attributes import parse_value
from ccodegen.hlo.text.cursor import NAME, Cursor
from ccodegen.hlo.text.header import ATTRIBUTE
from ccodegen.hlo.text.literals import parse_literal
from ccodegen.hlo.text.metadata import parse_metadata
from ccodegen.hlo.text.shapes import at_shape, parse_shape
from ccodegen.support.pattern import pattern

ANNOTATIONS = (
    "sharding",
    "frontend_attributes",
    "statistics",
    "parameter_replication",
    "origin",
    "backend_config",
    "debug_attributes",
)
_OPCODE = pattern(r"([a-z][a-z0-9-]*)\s*\(")


@dataclass
class _Common:
    """What any instruction may have besides its op's own attributes."""

    metadata: Metadata = NO_METADATA
    control_predecessors: tuple[Instruction, ...] = ()
    annotations: dict[str, str] = field(default_factory=dict)


@dataclass
class InstructionParser:
    """Reads one instruction. Adds it, and the ones nested in it, to `instructions`.

    `named` are the instructions it may refer to; `called` reads a computation.
    """

    cursor: Cursor
    instructions: list[Instruction]
    named: dict[str, Instruction]
    called: Callable[[], Computation]

    def right_hand_side(self, name: str, at: int, is_nested: bool = False) -> Instruction:
        """The instruction after its `name =`. A nested one has no attributes."""
        cursor = self.cursor
        shape = parse_shape(cursor) if at_shape(cursor) else None
        opcode_at = cursor.position
        opcode = cursor.expect_match(_OPCODE, "an opcode and '('")[1]
        definition, wrapped = self._definition(opcode, opcode_at)
        values: dict[str, Any] = {}
        operands = self._parenthesis(definition, shape, values)
        if wrapped is None:
            definition, wrapped = resolved(definition, operands, shape)
        common = _Common()
        if not is_nested:
            kinds = sugar_kinds(definition, wrapped) if wrapped else definition.attributes.spelled()
            self._attributes(opcode, kinds, values, common)
        with located(cursor.location(opcode_at)):
            if wrapped:
                values, shape = desugared(definition, wrapped, operands, values, shape, name)
            check_arity(definition, len(operands))
            attributes = make_attributes(definition, values)
            shape = shape or inferred_shape(definition, operands, attributes)
        instruction = Instruction(
            definition.opcode,
            shape,
            operands,
            attributes,
            name,
            common.metadata,
            cursor.location(at),
            common.control_predecessors,
            tuple(common.annotations.items()),
        )
        self.instructions.append(instruction)
        return instruction

    def _definition(self, opcode: str, at: int) -> tuple[OpDef, OpDef | None]:
        """The op, and the one it wraps where the opcode is async sugar."""
        definition = opdef.find(opcode)
        if definition:
            return definition, None
        sugar = split_opcode(opcode)
        if sugar:
            return sugar
        close = get_close_matches(opcode, [d.opcode for d in opdef.all_ops()], 1)
        hint = f"did you mean '{close[0]}'?" if close else "see `ccodegen ops` for all opcodes"
        raise self.cursor.error(f"unknown opcode '{opcode}'", at, hint)

    def _parenthesis(
        self, definition: OpDef, shape: Shape | None, own: dict[str, Any]
    ) -> tuple[Instruction, ...]:
        """What stands between the parentheses: a parameter's number, a literal, or operands."""
        cursor = self.cursor
        if definition.opcode == "parameter":
            at = cursor.position
            own["number"] = cursor.integer("the parameter's number")
            if own["number"] < 0:
                raise cursor.error("a parameter's number cannot be negative", at)
        elif definition.opcode == "constant":
            if shape is None:
                raise cursor.error("a constant needs a shape", hint="write f32[] constant(1)")
            own["literal"] = parse_literal(cursor, shape)
        else:
            return self._operands()
        cursor.expect(")", f"after what {definition.opcode} holds")
        return ()

    def _operands(self) -> tuple[Instruction, ...]:
        cursor = self.cursor
        operands: list[Instruction] = []
        while not cursor.accept(")"):
            if operands:
                cursor.expect(",", "or ')' after an operand")
            operands.append(self._operand())
        return tuple(operands)

    def _operand(self) -> Instruction:
        """`%x`, `f32[2] %x`, or a nested `negate(x)`, which gets no name."""
        cursor = self.cursor
        at = cursor.position
        shape = parse_shape(cursor) if at_shape(cursor) else None
        if cursor.match(_OPCODE):
            cursor.move_to(at)
            with cursor.nested():
                return self.right_hand_side("", at, is_nested=True)
        instruction = self._named_instruction("an operand")
        if shape and shape != instruction.shape:
            message = f"'{instruction.name}' has the shape {shape_text(instruction.shape)}, not "
            raise cursor.error(message + shape_text(shape), at, "mend or drop the operand's shape")
        return instruction

    def _named_instruction(self, what: str) -> Instruction:
        cursor = self.cursor
        at = cursor.position
        name = cursor.expect_match(NAME, what)[1]
        instruction = self.named.get(name)
        if instruction is None:
            close = get_close_matches(name, self.named, 1)
            hint = f"did you mean '{close[0]}'?" if close else "define it before it is used"
            raise cursor.error(f"there is no instruction '{name}' before this one", at, hint)
        return instruction

    def _attributes(
        self,
        opcode: str,
        kinds: Mapping[str, tuple[str, AttrKind]],
        values: dict[str, Any],
        common: _Common,
    ) -> None:
        cursor = self.cursor
        while cursor.accept(","):
            at = cursor.position
            name = cursor.expect_match(ATTRIBUTE, "an attribute, such as dimensions={0}")[1]
            if name in kinds:
                target, kind = kinds[name]
                self._check_new(name, target in values, at)
                values[target] = parse_value(cursor, kind, self.called)
            elif not self._common_attribute(common, name, at):
                hint = f"{opcode} has {' '.join(kinds) or 'none of its own'}; any instruction "
                hint += "may have metadata control-predecessors " + " ".join(ANNOTATIONS)
                raise cursor.error(f"{opcode} has no attribute '{name}'", at, hint)

    def _common_attribute(self, common: _Common, name: str, at: int) -> bool:
        """Reads an attribute that any instruction may have; False where there is no such one."""
        if name == "metadata":
            self._check_new(name, common.metadata is not NO_METADATA, at)
            common.metadata = parse_metadata(self.cursor)
        elif name == "control-predecessors":
            self._check_new(name, bool(common.control_predecessors), at)
            common.control_predecessors = self._control_predecessors()
        elif name in ANNOTATIONS:
            self._check_new(name, name in common.annotations, at)
            common.annotations[name] = self.cursor.raw()
        else:
            return False
        return True

    def _check_new(self, name: str, is_known: bool, at: int) -> None:
        if is_known:
            raise self.cursor.error(f"the attribute '{name}' is given twice", at)

    def _control_predecessors(self) -> tuple[Instruction, ...]:
        cursor = self.cursor
        found: list[Instruction] = []
        cursor.expect("{", "before the control predecessors")
        while not cursor.accept("}"):
            if found:
                cursor.expect(",", "or '}' after a control predecessor")
            found.append(self._named_instruction("a control predecessor"))
        return tuple(found)
