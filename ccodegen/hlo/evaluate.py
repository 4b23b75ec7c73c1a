"""The reference: runs a module with NumPy, one instruction after the other.

A value is an ndarray of the shape's NumPy type (0-d for a scalar), a DynamicArray where less of it
counts (see `hlo.dynamic`), a tuple of values, or None for a token. What an op computes stands in
its OpDef; here is only the order, and the memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ccodegen.hlo import dynamic, opdef
from ccodegen.hlo.devices import check_one_device
from ccodegen.hlo.dynamic import DynamicArray
from ccodegen.hlo.effects import has_side_effect
from ccodegen.hlo.ir import Computation, Instruction, Module, post_order
from ccodegen.hlo.precision import settled
from ccodegen.hlo.random_state import RandomState
from ccodegen.hlo.shape import ArrayShape, Shape, TokenShape, TupleShape, leaves
from ccodegen.support.errors import InputError, InternalError, UnsupportedError
from ccodegen.support.hooks import IO, NO_IO
from ccodegen.support.immutable import frozen
from ccodegen.support.naming import counted

# Computations over scalars made of these and of elementwise ops mean the same over whole arrays.
_LIFTED = frozenset({"parameter", "constant", "tuple", "get-tuple-element", "call", "fusion"})


def evaluate(module: Module, *arguments: Any, io: IO = NO_IO) -> Any:
    """The root's value for these arguments: an array, or nested tuples for a tuple.

    An argument is an array per entry parameter, with nested tuples for tuple parameters; or all
    leaves of all parameters, flat. `io` answers what the program asks of its caller. Raises
    InputError when the arguments do not fit the parameters, and UnsupportedError for an op that has
    no reference yet.
    """
    check_one_device(module)
    values = bind_arguments([p.shape for p in module.entry.parameters], arguments)
    result = Evaluator(io).call(settled(module).entry, *values)
    return dynamic.cut(module.entry.root.shape, result)


@frozen
class _Step:
    """One instruction of a plan and the operands that nobody needs after it."""

    instruction: Instruction
    evaluate: opdef.Evaluate
    last_uses: tuple[Instruction, ...]


class Evaluator:
    """Runs computations. Keeps a plan for each, so that loops run at NumPy's pace."""

    def __init__(self, io: IO = NO_IO) -> None:
        self.io = io
        self._plans: dict[Computation, tuple[_Step, ...]] = {}
        self._lifts: dict[Computation, bool] = {}
        self.random_state = RandomState()

    def call(self, computation: Computation, *values: Any) -> Any:
        """The root's value.

        A computation over scalars may be called with arrays of equal dimensions instead: the result
        has an element for each of theirs.
        """
        if not _is_lifted(computation, values):
            with np.errstate(all="ignore"):
                return self._run(computation, values, checked=True)
        arrays = np.broadcast_arrays(*values)
        if self._lifts_whole(computation):
            result = self._run(computation, arrays, checked=False)
            return _broadcast(result, arrays[0].shape)
        return self._call_each(computation, arrays)

    def _run(self, computation: Computation, arguments: Sequence[Any], checked: bool) -> Any:
        values: dict[Instruction, Any] = dict(
            zip(computation.parameters, arguments, strict=True)
        )
        for step in self._plan(computation):
            instruction = step.instruction
            operands = [values[o] for o in instruction.operands]
            if any(type(value) is DynamicArray for value in operands):
                definition = opdef.get(instruction.op)
                value = dynamic.evaluate(self, definition, instruction, operands)
            else:
                value = step.evaluate(self, instruction, *operands)
            if checked:
                _check_value(instruction, value)
            values[instruction] = value
            for operand in step.last_uses:
                del values[operand]
        return values[computation.root]

    def _plan(self, computation: Computation) -> tuple[_Step, ...]:
        if computation not in self._plans:
            self._plans[computation] = tuple(_steps(computation))
        return self._plans[computation]

    def _lifts_whole(self, computation: Computation) -> bool:
        """Whether every instruction means the same over arrays as over scalars."""
        if computation not in self._lifts:
            self._lifts[computation] = all(
                (i.op in _LIFTED or opdef.get(i.op).elementwise)
                and all(map(self._lifts_whole, i.attributes.computations()))
                for i in computation.instructions
            )
        return self._lifts[computation]

    def _call_each(self, computation: Computation, arrays: Sequence[np.ndarray[Any, Any]]) -> Any:
        """Element by element, for computations with control flow."""
        results = [
            np.empty(arrays[0].shape, leaf.element_type.dtype)
            for leaf in leaves(computation.root.shape)
            if isinstance(leaf, ArrayShape)
        ]
        for index in np.ndindex(arrays[0].shape):
            value = self._run(computation, [np.asarray(a[index]) for a in arrays], checked=True)
            for result, leaf in zip(results, value_leaves(value), strict=True):
                result[index] = leaf
        return unflatten(computation.root.shape, iter(results))


def value_leaves(value: Any) -> Iterator[Any]:
    """The arrays (and None for tokens) in nested tuples, left to right."""
    if isinstance(value, tuple):
        for element in value:
            yield from value_leaves(element)
    else:
        yield value


def unflatten(shape: Shape, values: Iterator[Any]) -> Any:
    """Nested tuples like the shape's, filled with the values in order."""
    if isinstance(shape, TupleShape):
        return tuple(unflatten(element, values) for element in shape.elements)
    return next(values)


def bind_arguments(shapes: Sequence[Shape], arguments: Sequence[Any]) -> list[Any]:
    """A value per parameter shape out of one argument each, or out of all leaves, flat. Tokens are
    None, or left out."""
    flat = [value for value in value_leaves(tuple(arguments)) if value is not None]
    all_leaves = [leaf for shape in shapes for leaf in leaves(shape)]
    expected = [leaf for leaf in all_leaves if not isinstance(leaf, TokenShape)]
    if len(flat) != len(expected):
        raise InputError(
            f"the program takes {counted(len(expected), 'argument')}, not {len(flat)}",
            hint="it expects " + ", ".join(map(str, expected)),
        )
    pairs = enumerate(zip(expected, flat, strict=True))
    given = iter([_argument(n, shape, value) for n, (shape, value) in pairs])
    bound = iter([None if isinstance(s, TokenShape) else next(given) for s in all_leaves])
    return [unflatten(shape, bound) for shape in shapes]


def _argument(number: int, shape: Shape, value: Any) -> Any:
    if not isinstance(shape, ArrayShape):
        return value
    array = np.asarray(value)
    if array.dtype != shape.element_type.dtype:
        raise InputError(
            f"argument {number} is of type {array.dtype}, the parameter is {shape}",
            hint=f"convert it with .astype({shape.element_type.dtype.name!r})",
        )
    if not _fits(shape, array.shape):
        raise InputError(f"argument {number} has dimensions {array.shape}, not those of {shape}")
    return dynamic.fitted(shape, array)


def _fits(shape: ArrayShape, dimensions: tuple[int, ...]) -> bool:
    """Whether an array of these dimensions is of the shape: equal, or within dynamic bounds."""
    if not shape.dynamic or len(dimensions) != shape.rank:
        return dimensions == shape.dimensions
    return all(
        n == size or (dynamic and (size < 0 or n <= size))
        for n, size, dynamic in zip(dimensions, shape.dimensions, shape.dynamic, strict=True)
    )


def _steps(computation: Computation) -> Iterator[_Step]:
    """Dead code is left out."""
    effects = tuple(r for r in computation.side_roots if has_side_effect(r))
    needed = post_order((*effects, computation.root))
    last_user: dict[Instruction, Instruction] = {}
    for instruction in needed:
        last_user.update(dict.fromkeys(instruction.operands, instruction))
    for instruction in needed:
        if instruction.op == "parameter":
            continue
        definition = opdef.get(instruction.op)
        if definition.evaluate is None:
            raise UnsupportedError(
                f"{instruction.op} '{instruction.name}' cannot be evaluated yet",
                instruction.location,
            )
        done = (o for o in dict.fromkeys(instruction.operands) if last_user[o] is instruction)
        last_uses = tuple(o for o in done if o is not computation.root)
        yield _Step(instruction, definition.evaluate, last_uses)


def _is_lifted(computation: Computation, values: Sequence[Any]) -> bool:
    """Whether a computation over scalars alone is called with an array."""
    if not any(isinstance(v, np.ndarray) and v.ndim for v in values):
        return False
    shapes = [p.shape for p in computation.parameters]
    return all(isinstance(s, ArrayShape) and s.rank == 0 for s in shapes)


def _broadcast(value: Any, dimensions: tuple[int, ...]) -> Any:
    if isinstance(value, tuple):
        return tuple(_broadcast(v, dimensions) for v in value)
    return np.broadcast_to(value, dimensions)


def _check_value(instruction: Instruction, value: Any) -> None:
    """Guards against a reference whose result is not of the instruction's shape."""
    shape = instruction.shape
    if not isinstance(shape, ArrayShape):
        return
    array = dynamic.padded(value)
    if array.dtype != shape.element_type.dtype or not _fits(shape, array.shape):
        found = f"{array.dtype}{list(array.shape)}"
        raise InternalError(
            f"the reference of {instruction.op} gave {found} for {shape}", instruction.location
        )
