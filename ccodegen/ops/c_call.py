"""Custom calls that are calls of a C function of the user's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from ccodegen.hlo.evaluate import unflatten
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.layout import major_to_minor
from ccodegen.hlo.shape import ArrayShape, Shape, TokenShape, leaves
from ccodegen.loop.ir import CallC, Const
from ccodegen.ops.backend_config import backend_config_of
from ccodegen.ops.lowering import NestScope
from ccodegen.support.element_type import ElementType, from_dtype
from ccodegen.support.errors import InputError, UnsupportedError
from ccodegen.support.immutable import immutable

Scalars: TypeAlias = "Sequence[str] | Callable[[Instruction], Sequence[Any]]"


@immutable
class CFunction:
    """A C function, and what is passed to it beside arrays.

    `void name(const T *operand, …, U *result, …, S scalar, …)`: the leaves of the operands, then of
    the result, then the scalars. Arrays are dense, in the order that the layouts of the custom call
    say (operand_layout_constraints, and the result's shape; row-major where there are none), with
    element types as in the interface of the program: pred as uint8_t, sub-byte integers one a byte,
    f16 and bf16 as uint16_t, c64 as float[2]. A result overlaps nothing else, and all of it has to
    be written. The function may be called from several threads, and keeps no state.

    `header`: the name of the file that defines it, `static inline` or `static`, which
    `support.runtime_c.add_header` knows. `scalars`: keys of the backend_config, or a function that
    gives numbers for the instruction. A NumPy scalar has its C type, a Python int is int64_t, a
    float is double, a bool uint8_t.
    """

    name: str
    header: str
    scalars: Scalars = ()

    def nest(self, scope: NestScope, instruction: Instruction) -> None:
        buffers = (*scope.operands, *scope.results)
        writes = tuple(range(len(scope.operands), len(buffers)))
        scalars = tuple(map(_constant, self.values(instruction)))
        scope.builder.emit(CallC(self.name, self.header, buffers, scalars, writes))

    def values(self, instruction: Instruction) -> Sequence[Any]:
        """The scalars of a call. Raises InputError for a key that is missing."""
        if callable(self.scalars):
            return self.scalars(instruction)
        config = backend_config_of(instruction)
        for key in self.scalars:
            if key not in config:
                known = ", ".join(config) or "nothing"
                raise InputError(
                    f"backend_config of custom-call '{instruction.name}' has no '{key}'",
                    instruction.location,
                    hint=f"it has {known}",
                )
        return [config[key] for key in self.scalars]


def evaluation(function: CFunction, reference: Callable[..., Any]) -> Callable[..., Any]:
    """The `evaluate` of a CustomCallDef, out of a function of arrays as the C function gets them:
    `reference(*operands, *scalars)` gives the results."""

    def evaluate(evaluator: Any, instruction: Instruction, *operands: Any) -> Any:
        shapes = operand_shapes(instruction)
        pairs = zip(operands, shapes, strict=True)
        arrays = [a.transpose(major_to_minor(s)) for a, s in pairs if isinstance(s, ArrayShape)]
        given = reference(*arrays, *function.values(instruction))
        results = iter(given if isinstance(given, tuple | list) else [given])
        values = (_logical(s, results) for s in leaves(instruction.shape))
        return unflatten(instruction.shape, values)

    return evaluate


def _logical(shape: Shape, results: Any) -> Any:
    if not isinstance(shape, ArrayShape):
        return None
    array = np.asarray(next(results), shape.element_type.dtype)
    return array.transpose(np.argsort(major_to_minor(shape)))


def operand_shapes(instruction: Instruction) -> tuple[Shape, ...]:
    """The operands' shapes with the layouts that the call wants. Refuses tuples."""
    constraints = getattr(instruction.attributes, "operand_layout_constraints", None)
    shapes: tuple[Shape, ...] = constraints or tuple(
        o.shape.with_dimensions(o.shape.dimensions) if isinstance(o.shape, ArrayShape) else o.shape
        for o in instruction.operands
    )
    if not all(isinstance(shape, ArrayShape | TokenShape) for shape in shapes):
        message = f"a tuple as an operand of custom-call '{instruction.name}'"
        raise UnsupportedError(message, instruction.location)
    return shapes


def _constant(value: Any) -> Const:
    if isinstance(value, bool | np.bool_):
        return Const(ElementType.PRED, bool(value))
    if isinstance(value, int):
        return Const(ElementType.S64, value)
    if isinstance(value, float) and not isinstance(value, np.generic):
        return Const(ElementType.F64, value)
    try:
        return Const(from_dtype(value.dtype), value)
    except (AttributeError, KeyError):
        raise InputError(f"{value!r} cannot be passed to a C function as a scalar") from None
