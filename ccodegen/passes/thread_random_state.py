"""Makes the random state a value: a parameter and a result of each computation that draws from it.

The entry gets one more parameter and one more result, in the same memory. The caller keeps it from
call to call and begins with `hlo.random_state.INITIAL`, which the parameter's annotation says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ccodegen.hlo.attributes import Attributes
from ccodegen.hlo.effects import has_side_effect
from ccodegen.hlo.ir import Alias, Computation, Instruction, Module, called_first, post_order
from ccodegen.hlo.random_state import INITIAL, words
from ccodegen.hlo.shape import Shape, TupleShape
from ccodegen.ops.build import derived, element_of, tuple_of
from ccodegen.ops.control import Call, Conditional, Fusion, While
from ccodegen.ops.creation import Parameter
from ccodegen.ops.rng import blocks, drawn
from ccodegen.ops.rng_state import STATE, RngGetAndUpdateState, advanced
from ccodegen.passes.context import PassContext
from ccodegen.passes.settle_entry_layout import settle_entry_layout
from ccodegen.support.errors import UnsupportedError
from ccodegen.support.immutable import immutable

_ANNOTATION = "ccodegen_random_state"
_DRAWING = ("rng", "rng-get-and-update-state")


def thread_random_state(module: Module, context: PassContext | None = None) -> Module:
    """`%s = u64[2] rng-get-and-update-state(), delta=4` →
    `%s = u64[2] parameter(n)`, and `%s + 4` as another result; `rng` likewise. Instructions draw
    in the order in which the evaluator runs them."""
    entry = module.entry
    if not any(map(_draws, entry.instructions)):
        return module
    state = _state_parameter(entry.root, len(entry.parameters))
    ran = _Threader().run(entry, entry.parameters, state)
    aliases = module.aliases
    if not isinstance(entry.root.shape, TupleShape):
        aliases = tuple(replace(a, output_index=(0,)) for a in aliases)
    made = replace(
        entry,
        parameters=(*entry.parameters, state),
        root=ran.root,
        side_roots=ran.side_roots,
    )
    last = len(_elements(entry.root.shape))
    alias = Alias((last,), len(entry.parameters), must_alias=True)
    return replace(module, entry=made, aliases=(*aliases, alias))


def with_random_state(module: Module) -> Module:
    """`thread_random_state` before other passes: the interface that the compiled program has."""
    settled = settle_entry_layout(module)
    threaded = thread_random_state(settled)
    return module if threaded is settled else threaded


def initial_state(parameter: Instruction) -> tuple[int, ...]:
    """What a parameter that is the random state begins with; empty for others."""
    found = re.search(rf'{_ANNOTATION}="(\d+),(\d+)"', _attributes_text(parameter))
    return (int(found[1]), int(found[2])) if found else ()


def _attributes_text(parameter: Instruction) -> str:
    return parameter.annotation("frontend_attributes") or ""


def _state_parameter(origin: Instruction, number: int) -> Instruction:
    low, high = words(INITIAL)
    return Instruction(
        "parameter",
        STATE,
        (),
        Parameter(number),
        "random_state",
        location=origin.location,
        annotations=(("frontend_attributes", f'{{{_ANNOTATION}="{low},{high}"}}'),),
    )


def _draws(instruction: Instruction) -> bool:
    if instruction.op in _DRAWING:
        return True
    called = called_first(instruction.attributes.computations())
    return any(i.op in _DRAWING for c in called for i in c.instructions)


@immutable
class _Ran:
    """A computation's root and state as one tuple, and what it keeps for side effects."""

    root: Instruction
    side_roots: tuple[Instruction, ...]


@dataclass
class _Threader:
    made: dict[tuple[Computation, bool], Computation] = field(default_factory=dict)

    def run(
        self, computation: Computation, arguments: Sequence[Instruction], state: Instruction
    ) -> _Ran:
        """The computation over arguments and a state."""
        memo = dict(zip(computation.parameters, arguments, strict=True))
        carriers: dict[Instruction, Instruction] = {}
        effects = tuple(r for r in computation.side_roots if has_side_effect(r))
        for old in post_order((*effects, computation.root)):
            if old in memo:
                continue
            new = replace(
                old,
                operands=tuple(memo[o] for o in old.operands),
                control_predecessors=tuple(
                    carriers.get(c, memo[c]) for c in old.control_predecessors
                ),
            )
            if _draws(old):
                memo[old], state, carriers[old] = self._drawing(new, state)
            else:
                memo[old] = carriers[old] = new
        root = _joined(computation.root, memo[computation.root], state)
        kept = (carriers[r] for r in effects if r in carriers)
        return _Ran(root, tuple(r for r in kept if has_side_effect(r)))

    def _drawing(
        self, new: Instruction, state: Instruction
    ) -> tuple[Instruction, Instruction, Instruction]:
        """The value, the state after it, and the instruction that has the other effects."""
        if new.op == "rng":
            return drawn(new, state), advanced(new, state, blocks(new)), state
        attributes = new.attributes
        if isinstance(attributes, RngGetAndUpdateState):
            return state, advanced(new, state, attributes.delta), state
        threaded = self._calling(new, attributes, state)
        value, after = _parted(new, threaded)
        return value, after, threaded

    def _calling(
        self, new: Instruction, attributes: Attributes, state: Instruction
    ) -> Instruction:
        """The control flow instruction with the state in its operands and its result."""
        if isinstance(attributes, While):
            return self._loop(new, attributes, state)
        shape = _with_state(new.shape)
        if isinstance(attributes, Conditional):
            changed = _map_branches(attributes, self._of_tuple)
            selector, *arguments = new.operands
            operands = (selector, *(_joined(new, a, state) for a in arguments))
            return replace(new, shape=shape, operands=operands, attributes=changed)
        operands = (*new.operands, state)
        if isinstance(attributes, Call):
            called: Attributes = replace(attributes, to_apply=self._of_list(attributes.to_apply))
        elif isinstance(attributes, Fusion):
            called = replace(attributes, calls=self._of_list(attributes.calls))
        else:
            message = f"random numbers in what {new.op} '{new.name}' calls"
            raise UnsupportedError(message, new.location)
        return replace(new, shape=shape, operands=operands, attributes=called)

    def _loop(self, new: Instruction, attributes: While, state: Instruction) -> Instruction:
        if any(map(_draws, attributes.condition.instructions)):
            message = f"random numbers in the condition of while '{new.name}'"
            raise UnsupportedError(message, new.location)
        operand = _joined(new, new.operands[0], state)
        changed = replace(
            attributes,
            condition=_ignoring_state(attributes.condition),
            body=self._of_tuple(attributes.body),
        )
        return replace(new, shape=operand.shape, operands=(operand,), attributes=changed)

    def _of_tuple(self, computation: Computation) -> Computation:
        """The computation of one parameter with the state as another element of it."""
        key = (computation, True)
        if key not in self.made:
            joined, value, state = _joined_parameter(computation)
            ran = self.run(computation, (value,), state)
            self.made[key] = replace(
                computation, parameters=(joined,), root=ran.root, side_roots=ran.side_roots
            )
        return self.made[key]

    def _of_list(self, computation: Computation) -> Computation:
        """The computation with the state as its last parameter."""
        key = (computation, False)
        if key not in self.made:
            count = len(computation.parameters)
            state = derived(computation.root, "parameter", STATE, (), Parameter(count))
            ran = self.run(computation, computation.parameters, state)
            self.made[key] = replace(
                computation,
                parameters=(*computation.parameters, state),
                root=ran.root,
                side_roots=ran.side_roots,
            )
        return self.made[key]


def _map_branches(
    attributes: Conditional, change: Callable[[Computation], Computation]
) -> Conditional:
    both = (attributes.true_computation, attributes.false_computation)
    true, false = (None if c is None else change(c) for c in both)
    branches = tuple(map(change, attributes.branch_computations))
    return replace(
        attributes, true_computation=true, false_computation=false, branch_computations=branches
    )


def _ignoring_state(condition: Computation) -> Computation:
    """The condition over a loop state that the random state is part of."""
    joined, value, _ = _joined_parameter(condition)
    memo = {condition.parameters[0]: value}
    for old in condition.instructions:
        if old not in memo:
            memo[old] = replace(
                old,
                operands=tuple(memo[o] for o in old.operands),
                control_predecessors=tuple(memo[c] for c in old.control_predecessors),
            )
    return replace(
        condition,
        parameters=(joined,),
        root=memo[condition.root],
        side_roots=tuple(memo[r] for r in condition.side_roots),
    )


def _joined_parameter(
    computation: Computation,
) -> tuple[Instruction, Instruction, Instruction]:
    """One parameter for the old one and the state; and each of the two taken out of it."""
    (old,) = computation.parameters
    joined = replace(old, shape=_with_state(old.shape))
    return joined, *_parted(old, joined)


def _elements(shape: Shape) -> tuple[Shape, ...]:
    return shape.elements if isinstance(shape, TupleShape) else (shape,)


def _with_state(shape: Shape) -> TupleShape:
    return TupleShape((*_elements(shape), STATE))


def _joined(origin: Instruction, value: Instruction, state: Instruction) -> Instruction:
    """The elements of a value that is a tuple, or the value, and the state. What is dynamic stands
    in the value's shape: `expose_sizes` gives arrays at their bounds, beside their sizes."""
    if not isinstance(value.shape, TupleShape):
        return tuple_of(origin, (value, state))
    parts = [element_of(origin, value, n) for n in range(len(value.shape.elements))]
    return replace(tuple_of(origin, (*parts, state)), shape=_with_state(value.shape))


def _parted(old: Instruction, joined: Instruction) -> tuple[Instruction, Instruction]:
    """What `_joined` joined; `old` has the value's shape."""
    count = len(_elements(old.shape))
    parts = [element_of(old, joined, n) for n in range(count)]
    value = tuple_of(old, parts) if isinstance(old.shape, TupleShape) else parts[0]
    return value, element_of(old, joined, count)
