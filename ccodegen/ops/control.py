"""Ops that run other computations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import ArrayShape, Shape, TupleShape
from ccodegen.loop.scalar_numpy import Array
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.shape_checks import require
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import frozen


@frozen
class While(Attributes):
    condition: Computation = attr(AttrKind.COMPUTATION)
    body: Computation = attr(AttrKind.COMPUTATION)


@frozen
class Conditional(Attributes):
    """Either the pair, chosen by a pred, or the list, chosen by an s32."""

    true_computation: Computation | None = attr(AttrKind.COMPUTATION, None)
    false_computation: Computation | None = attr(AttrKind.COMPUTATION, None)
    branch_computations: tuple[Computation, ...] = attr(AttrKind.COMPUTATIONS, ())

    def branches(self) -> tuple[Computation, ...]:
        """In the order in which a selector counts them; for a pred, true comes first."""
        pair = tuple(c for c in (self.true_computation, self.false_computation) if c)
        return pair or self.branch_computations

    def chosen(self, selector: Array) -> int:
        """The number of the branch that runs: the last one where the selector is out of range."""
        if selector.dtype == bool:
            return 0 if selector else 1
        last = len(self.branches()) - 1
        return int(selector) if 0 <= selector <= last else last


@frozen
class Call(Attributes):
    to_apply: Computation = attr(AttrKind.COMPUTATION)
    is_composite: bool = attr(AttrKind.BOOL, False)


@frozen
class Fusion(Attributes):
    """`kind`: kLoop, kInput, kOutput or kCustom."""

    kind: str = attr(AttrKind.ENUM)
    calls: Computation = attr(AttrKind.COMPUTATION)
    output_to_operand_aliasing: str = attr(AttrKind.RAW, "")


def check_arguments(op: str, computation: Computation, shapes: Sequence[Shape]) -> None:
    """The computation must take arguments of these shapes."""
    wanted = tuple(p.shape for p in computation.parameters)
    listed = ", ".join(map(str, wanted))
    require(
        len(wanted) == len(shapes) and all(map(same_but_dynamic, wanted, shapes)),
        f"{op} calls {computation.name}, which takes ({listed}), with "
        f"({', '.join(map(str, shapes))})",
    )


def same_but_dynamic(a: Shape, b: Shape) -> bool:
    """Whether the shapes are equal but for which dimensions are dynamic."""
    if isinstance(a, TupleShape) and isinstance(b, TupleShape):
        same_length = len(a.elements) == len(b.elements)
        return same_length and all(map(same_but_dynamic, a.elements, b.elements))
    if isinstance(a, ArrayShape) and isinstance(b, ArrayShape):
        return a.element_type is b.element_type and a.dimensions == b.dimensions
    return a == b


def infer_while(shapes: tuple[Shape, ...], attributes: While) -> Shape:
    check_arguments("while", attributes.condition, shapes)
    check_arguments("while", attributes.body, shapes)
    condition, body = attributes.condition.root.shape, attributes.body.root.shape
    require(
        condition == ArrayShape(ElementType.PRED),
        f"while: the condition {attributes.condition.name} gives {condition}, not pred[]",
    )
    require(
        same_but_dynamic(body, shapes[0]),
        f"while: the body {attributes.body.name} takes {shapes[0]} and gives {body}",
    )
    return shapes[0]


def evaluate_while(evaluator: Any, instruction: Instruction, value: Any) -> Any:
    attributes = attributes_of(instruction, While)
    while evaluator.call(attributes.condition, value):
        value = evaluator.call(attributes.body, value)
    return value


def infer_conditional(shapes: tuple[Shape, ...], attributes: Conditional) -> Shape:
    selector, *arguments = shapes
    branches = attributes.branches()
    by_pred = attributes.true_computation is not None
    wanted = ArrayShape(ElementType.PRED if by_pred else ElementType.S32)
    require(
        selector in (wanted, ArrayShape(ElementType.PRED)),
        f"conditional chooses by {wanted}, not by {selector}",
    )
    require(
        len(branches) == len(arguments) > 0,
        f"conditional has {len(branches)} branches and {len(arguments)} arguments for them",
    )
    for branch, argument in zip(branches, arguments, strict=True):
        check_arguments("conditional", branch, [argument])
        require(
            same_but_dynamic(branch.root.shape, branches[0].root.shape),
            f"conditional: {branches[0].name} gives {branches[0].root.shape}, {branch.name} gives "
            f"{branch.root.shape}",
        )
    return branches[0].root.shape


def evaluate_conditional(
    evaluator: Any, instruction: Instruction, selector: Array, *arguments: Any
) -> Any:
    attributes = attributes_of(instruction, Conditional)
    number = attributes.chosen(selector)
    return evaluator.call(attributes.branches()[number], arguments[number])


def infer_call(shapes: tuple[Shape, ...], attributes: Call) -> Shape:
    check_arguments("call", attributes.to_apply, shapes)
    return attributes.to_apply.root.shape


def evaluate_call(evaluator: Any, instruction: Instruction, *values: Any) -> Any:
    return evaluator.call(attributes_of(instruction, Call).to_apply, *values)


def infer_fusion(shapes: tuple[Shape, ...], attributes: Fusion) -> Shape:
    check_arguments("fusion", attributes.calls, shapes)
    return attributes.calls.root.shape


def evaluate_fusion(evaluator: Any, instruction: Instruction, *values: Any) -> Any:
    return evaluator.call(attributes_of(instruction, Fusion).calls, *values)


register(OpDef("while", While, infer=infer_while, evaluate=evaluate_while))
register(
    OpDef(
        "conditional",
        Conditional,
        (2, None),
        infer=infer_conditional,
        evaluate=evaluate_conditional,
    )
)
register(OpDef("call", Call, (0, None), infer=infer_call, evaluate=evaluate_call))
register(OpDef("fusion", Fusion, (0, None), infer=infer_fusion, evaluate=evaluate_fusion))
