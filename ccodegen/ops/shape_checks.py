"""What shape inference asks of operands, with sentences for people where it is not so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ccodegen.hlo.attributes import Window
from ccodegen.hlo.ir import Computation
from ccodegen.hlo.shape import ArrayShape, Shape, TupleShape, leaves
from ccodegen.support.element_type import ElementType
from ccodegen.support.errors import InputError


def require(condition: bool, message: str) -> None:
    """Raises InputError(message) unless the condition holds."""
    if not condition:
        raise InputError(message)


def arrays(op: str, shapes: Sequence[Shape]) -> tuple[ArrayShape, ...]:
    """The operand shapes, all of which must be arrays'."""
    found = tuple(s for s in shapes if isinstance(s, ArrayShape))
    require(len(found) == len(shapes), f"{op} takes arrays, not {_listed(shapes)}")
    return found


def dimension_numbers(op: str, numbers: Iterable[int], rank: int) -> None:
    """Each number must name a dimension, and none twice."""
    seen: set[int] = set()
    for number in numbers:
        require(0 <= number < rank, f"{op}: dimension {number} is not one of the {rank} there are")
        require(number not in seen, f"{op}: dimension {number} is named twice")
        seen.add(number)


def same_dimensions(op: str, shapes: Sequence[ArrayShape]) -> None:
    require(
        len({s.dimensions for s in shapes}) <= 1,
        f"{op} takes operands of the same dimensions, not {_listed(shapes)}",
    )


def without(shape: ArrayShape, dimensions: Iterable[int]) -> ArrayShape:
    """The shape with some dimensions removed; the others keep their order."""
    kept = [d for d in range(shape.rank) if d not in set(dimensions)]
    return picked(shape, kept)


def picked(shape: ArrayShape, dimensions: Sequence[int]) -> ArrayShape:
    """The shape of the named dimensions, in the order of their naming."""
    dynamic = tuple(shape.dynamic[d] for d in dimensions) if shape.dynamic else ()
    sizes = tuple(shape.dimensions[d] for d in dimensions)
    return ArrayShape(shape.element_type, sizes, dynamic if any(dynamic) else ())


def result_types(computation: Computation) -> tuple[ElementType, ...]:
    """The element types of the leaves of what a scalar computation returns."""
    shapes = leaves(computation.root.shape)
    return tuple(s.element_type for s in shapes if isinstance(s, ArrayShape))


def check_scalars(op: str, computation: Computation, taken: Sequence[ElementType]) -> None:
    """The computation takes scalars of these types, floats maybe in another precision."""
    shapes = tuple(p.shape for p in computation.parameters)
    require(
        len(shapes) == len(taken) and all(map(_is_scalar, shapes, taken)),
        f"{op}: {computation.name} takes {_listed(shapes)}; here are scalars of type "
        f"{', '.join(t.text for t in taken)}",
    )


def _is_scalar(shape: Shape, element_type: ElementType) -> bool:
    if not isinstance(shape, ArrayShape) or shape.rank:
        return False
    both_floats = shape.element_type.is_float and element_type.is_float
    return both_floats or shape.element_type is element_type


def one_or_tuple(shapes: Sequence[ArrayShape]) -> Shape:
    """XLA's rule for ops of one or several results."""
    return shapes[0] if len(shapes) == 1 else TupleShape(tuple(shapes))


def inputs_and_inits(
    op: str, shapes: Sequence[Shape], to_apply: Computation
) -> tuple[ArrayShape, ...]:
    """The inputs of a reduction over n inputs of equal dimensions and n scalar inits."""
    require(len(shapes) % 2 == 0, f"{op} takes an init value for each input")
    found = arrays(op, shapes)
    inputs, inits = found[: len(found) // 2], found[len(found) // 2 :]
    same_dimensions(op, inputs)
    for init in inits:
        require(init.rank == 0, f"{op}: an init value is a scalar, not {init}")
    count, results = len(inputs), len(result_types(to_apply))
    require(
        len(to_apply.parameters) == 2 * count and results == count,
        f"{op} of {count} inputs calls a computation of {2 * count} parameters and {count} results,"
        f" not {len(to_apply.parameters)} and {results} as {to_apply.name}",
    )
    types = [s.element_type for s in inputs]
    check_scalars(op, to_apply, [*types, *types])
    return inputs


def window_dimensions(op: str, window: Window, sizes: Sequence[int]) -> tuple[int, ...]:
    """The numbers of window positions over dimensions of these sizes."""
    require(
        len(window.dimensions) == len(sizes),
        f"{op}: the window has {len(window.dimensions)} dimensions, the input {len(sizes)}",
    )
    for w in window.dimensions:
        positive = min(w.stride, w.lhs_dilation, w.rhs_dilation) > 0 and w.size >= 0
        require(positive, f"{op}: window sizes, strides and dilations must be positive")
    return tuple(w.output_size(n) for w, n in zip(window.dimensions, sizes, strict=True))


def _listed(shapes: Iterable[Shape]) -> str:
    return ", ".join(map(str, shapes))
