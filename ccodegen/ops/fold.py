"""Folding with a computation: what reduce, reduce-window and scan have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from ccodegen.hlo.ir import Computation
from ccodegen.hlo.shape import ArrayShape, Shape, TupleShape
from ccodegen.loop.builder import Builder, apply
from ccodegen.loop.ir import Buffer, Expr
from ccodegen.ops.lowering import Scope
from ccodegen.ops.precision import for_parameters
from ccodegen.ops.shape_checks import result_types
from ccodegen.support.element_type import ElementType, Kind, from_dtype

Array: TypeAlias = np.ndarray[Any, Any]
Arrays: TypeAlias = tuple[Array, ...]

_SEQUENTIAL_UFUNCS = {"add": np.add, "multiply": np.multiply}


def fold(
    evaluator: Any, computation: Computation, initial: Sequence[Array], elements: Iterable[Arrays]
) -> Arrays:
    """The accumulators after computation(*accumulators, *element) for each element in order.

    All arrays have one shape: the fold runs for all their positions at once.
    """
    accumulators = tuple(
        np.array(value, t.dtype)
        for value, t in zip(initial, result_types(computation), strict=True)
    )
    for element in elements:
        accumulators = call_lifted(evaluator, computation, (*accumulators, *element))
    return accumulators


def running(
    evaluator: Any, computation: Computation, initial: Sequence[Array], inputs: Arrays
) -> Arrays:
    """What `fold` over the slices along axis 0 holds after each slice, stacked along axis 0."""
    ufunc = sequential_ufunc(computation, inputs)
    if ufunc is not None:
        rows = np.concatenate([np.broadcast_to(initial[0], (1, *inputs[0].shape[1:])), inputs[0]])
        with np.errstate(all="ignore"):
            return (ufunc.accumulate(rows, axis=0, dtype=rows.dtype)[1:],)
    types = result_types(computation)
    results = tuple(np.empty(inputs[0].shape, t.dtype) for t in types)
    accumulators: Arrays = tuple(np.asarray(v) for v in initial)
    for turn, element in enumerate(zip(*inputs, strict=True)):
        accumulators = call_lifted(evaluator, computation, (*accumulators, *element))
        for result, accumulator in zip(results, accumulators, strict=True):
            result[turn] = accumulator
    return results


def call_lifted(evaluator: Any, computation: Computation, arguments: Arrays) -> Arrays:
    """The results of a scalar computation over arrays of equal shape, as arrays of that shape."""
    types = [p.array_shape.element_type.dtype for p in computation.parameters]
    converted = [a.astype(t, copy=False) for a, t in zip(arguments, types, strict=True)]
    results = evaluator.call(computation, *converted)
    shape = arguments[0].shape
    return tuple(np.broadcast_to(r, shape) for r in as_tuple(results))


def fold_axis(
    evaluator: Any, computation: Computation, initial: Sequence[Array], inputs: Arrays
) -> Arrays:
    """`fold` over the slices along axis 0 of the inputs."""
    ufunc = sequential_ufunc(computation, inputs)
    if ufunc is None:
        return fold(evaluator, computation, initial, zip(*inputs, strict=True))
    rows = np.concatenate([np.broadcast_to(initial[0], (1, *inputs[0].shape[1:])), inputs[0]])
    with np.errstate(all="ignore"):
        return (ufunc.accumulate(rows, axis=0, dtype=rows.dtype)[-1],)


def sequential_ufunc(computation: Computation, inputs: Arrays) -> np.ufunc | None:
    """The ufunc whose `accumulate` makes the computation's very additions or products in order.

    None where the computation is more than that, or NumPy's operator may not be ours.
    """
    types = {from_dtype(array.dtype) for array in inputs}
    ufunc = _SEQUENTIAL_UFUNCS.get(operator_name(computation))
    return ufunc if len(inputs) == 1 and types == _summed_types(computation) else None


def is_sequential(computation: Computation) -> bool:
    """Whether there is such a ufunc for arrays of the computation's type."""
    return operator_name(computation) in _SEQUENTIAL_UFUNCS and bool(_summed_types(computation))


def _summed_types(computation: Computation) -> set[ElementType]:
    """The one type of the parameters, if NumPy's arithmetic in it is ours."""
    types = {p.array_shape.element_type for p in computation.parameters}
    plain = all(t.kind in (Kind.SIGNED, Kind.UNSIGNED, Kind.FLOAT) and t.bits >= 8 for t in types)
    return types if plain and len(types) == 1 else set()


def operator_name(computation: Computation) -> str:
    """The opcode of a computation that is one op over its two parameters; else ""."""
    root = computation.root
    direct = len(root.operands) == 2 and set(root.operands) == set(computation.parameters)
    return root.op if direct else ""


def as_tuple(value: Any) -> Arrays:
    """The leaves of a value that is an array or a tuple of arrays."""
    return value if isinstance(value, tuple) else (value,)


def from_tuple(values: Arrays) -> Any:
    """One value as itself, several as a tuple."""
    return values[0] if len(values) == 1 else values


def from_leaves(shape: Shape, values: Arrays) -> Any:
    """The value of an op whose result is an array, or a tuple of arrays."""
    return values if isinstance(shape, TupleShape) else values[0]


def converted(value: Expr, element_type: ElementType) -> Expr:
    """The value in another type; itself where it has that type."""
    return value if value.type is element_type else apply("convert", value, type=element_type)


class Accumulators:
    """The local variables of a lowered fold."""

    def __init__(self, scope: Scope, computation: Computation, initial: Sequence[Expr]) -> None:
        self._scope = scope
        self._computation = computation
        self._variables: tuple[Buffer, ...] = tuple(
            scope.builder.variable(converted(value, t), "acc")
            for value, t in zip(initial, result_types(computation), strict=True)
        )

    def add(self, element: Sequence[Expr]) -> None:
        """Emits accumulators = computation(*accumulators, *element)."""
        self.set(call_scalars(self._scope, self._computation, (*self.values, *element)))

    def set(self, values: Sequence[Expr]) -> None:
        store_all(self._scope.builder, self._variables, values)

    @property
    def values(self) -> tuple[Expr, ...]:
        return tuple(self._scope.builder.load(v) for v in self._variables)


def call_scalars(
    scope: Scope, computation: Computation, arguments: Sequence[Expr]
) -> tuple[Expr, ...]:
    """`scope.call` with each argument in the type of its parameter."""
    types = (p.array_shape.element_type for p in computation.parameters)
    return scope.call(
        computation, *(converted(a, t) for a, t in zip(arguments, types, strict=True))
    )


def store_all(builder: Builder, variables: Sequence[Buffer], values: Sequence[Expr]) -> None:
    """Stores scalars; all values are computed first, as they may read the variables."""
    if len(values) > 1:
        values = [builder.let(v) for v in values]
    for variable, value in zip(variables, values, strict=True):
        builder.store(variable, (), value)


def takes(shapes: tuple[Shape, ...], attributes: Any) -> tuple[Shape, ...]:
    """OpDef.takes of a fold: `to_apply` gets the accumulators, that is the inits, before the
    inputs' elements; the operands are the inputs, then the inits."""
    parameters = attributes.to_apply.parameters
    count = len(shapes) // 2
    return for_parameters(shapes, (*parameters[count:], *parameters[:count]))


def accumulated(shape: ArrayShape, computation: Computation) -> Shape:
    """The result shape of a fold over positions of `shape`: a tuple where the computation's is."""
    shapes = tuple(shape.with_type(t) for t in result_types(computation))
    return TupleShape(shapes) if isinstance(computation.root.shape, TupleShape) else shapes[0]
