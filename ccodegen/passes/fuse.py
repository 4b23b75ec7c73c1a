"""Groups of instructions become fusions: one nested computation, one kernel each."""

from __future__ import annotations

from dataclasses import replace

from ccodegen.hlo.ir import Computation, Instruction, Module, called_first
from ccodegen.hlo.rewrite import map_computations, with_callees
from ccodegen.hlo.shape import TupleShape
from ccodegen.ops.control import Conditional, Fusion, While
from ccodegen.ops.creation import Parameter
from ccodegen.ops.tuples import GetTupleElement
from ccodegen.passes.context import PassContext
from ccodegen.passes.fusion_group import CONTRACTIONS, Group, is_written_out
from ccodegen.passes.fusion_groups import fusion_groups
from ccodegen.support import graph


def fuse(module: Module, context: PassContext) -> Module:
    """Before: `a = add(x, y); ROOT m = multiply(a, y)`. After: `ROOT f = fusion(x, y),
    kind=kLoop, calls={ … }`.

    kLoop: elementwise and movement. kInput: with reduces. kOutput: after a dot or convolution.
    Only computations that run as control flow are looked at, not those applied to scalars.
    """
    control = control_computations(module)

    def transform(
        computation: Computation, callees: dict[Computation, Computation]
    ) -> Computation:
        groups = fusion_groups(computation, context.has_vectors) if computation in control else []
        return _Outliner(computation, groups, callees).run()

    return map_computations(module, transform)


def control_computations(module: Module) -> set[Computation]:
    """The entry, and what its loops and conditionals run."""
    found = {module.entry}
    for computation in reversed(called_first([module.entry])):
        if computation in found:
            for instruction in computation.instructions:
                if isinstance(instruction.attributes, While | Conditional):
                    found.update(instruction.attributes.computations())
    return found


class _Outliner:
    """Rewrites one computation with its groups as fusions."""

    def __init__(
        self,
        computation: Computation,
        groups: list[Group],
        callees: dict[Computation, Computation],
    ) -> None:
        self._computation = computation
        self._callees = callees
        self._group_of_root = {root: group for group in groups for root in group.roots}
        self._new: dict[Instruction, Instruction] = {}

    def run(self) -> Computation:
        old = self._computation
        roots = (*old.parameters, *old.side_roots, old.root)
        for instruction in graph.post_order(roots, self._reads):
            if instruction not in self._new:
                self._visit(instruction)
        if all(self._new[r] is r for r in roots):
            return old
        return replace(
            old,
            parameters=tuple(self._new[p] for p in old.parameters),
            root=self._new[old.root],
            side_roots=tuple(self._new[r] for r in old.side_roots),
        )

    def _reads(self, instruction: Instruction) -> list[Instruction]:
        """What it reads, or where it is made by a group all that the group reads."""
        group = self._group_of_root.get(instruction)
        if group is None:
            return [*instruction.control_predecessors, *instruction.operands]
        return group.inputs()

    def _visit(self, instruction: Instruction) -> None:
        group = self._group_of_root.get(instruction)
        if group is not None:
            self._outline(group)
            return
        new = instruction.with_operands(tuple(self._new[o] for o in instruction.operands))
        control = tuple(self._new[c] for c in instruction.control_predecessors)
        attributes = with_callees(instruction.attributes, self._callees)
        if control != instruction.control_predecessors or attributes is not instruction.attributes:
            new = replace(new, control_predecessors=control, attributes=attributes)
        self._new[instruction] = new

    def _outline(self, group: Group) -> None:
        inputs = group.inputs()
        nested = _nested_computation(group, inputs)
        operands = tuple(self._new[i] for i in inputs)
        fusion = Instruction(
            "fusion",
            nested.root.shape,
            operands,
            Fusion(_kind(group), nested),
            f"{group.roots[0].name}_fusion",
            group.roots[0].metadata,
            group.roots[0].location,
        )
        if len(group.roots) == 1:
            self._new[group.roots[0]] = fusion
            return
        for number, root in enumerate(group.roots):
            self._new[root] = Instruction(
                "get-tuple-element", root.shape, (fusion,), GetTupleElement(number), root.name
            )


def _kind(group: Group) -> str:
    if any(m.op in CONTRACTIONS for m in group.members):
        return "kOutput"
    return "kInput" if any(m.op == "reduce" for m in group.members) else "kLoop"


def _nested_computation(group: Group, inputs: list[Instruction]) -> Computation:
    inside: dict[Instruction, Instruction] = {}
    for number, source in enumerate(inputs):
        inside[source] = Instruction(
            "parameter", source.shape, (), Parameter(number), f"{source.name}_in"
        )
    for member in group.members:
        for operand in member.operands:
            if is_written_out(operand):
                inside.setdefault(operand, operand)
        inside[member] = replace(
            member,
            operands=tuple(inside[o] for o in member.operands),
            control_predecessors=(),
        )
    parameters = tuple(inside[i] for i in inputs)
    roots = tuple(inside[r] for r in group.roots)
    if len(roots) == 1:
        return Computation(f"{roots[0].name}_fused", parameters, roots[0])
    shape = TupleShape(tuple(r.shape for r in roots))
    return Computation(
        f"{roots[0].name}_fused", parameters, Instruction("tuple", shape, roots, name="outputs")
    )
