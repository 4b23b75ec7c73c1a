"""Steps that make instructions simpler: smaller arrays, plainer attributes, values and types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields, replace
from functools import partial
from typing import Any

import numpy as np

from ccodegen.hlo import opdef
from ccodegen.hlo.attributes import (
    Attributes,
    AttrKind,
    PaddingDimension,
    SliceDimension,
    Window,
    WindowDimension,
)
from ccodegen.hlo.checks import inferred_shape
from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.literal import Literal
from ccodegen.hlo.rewrite import map_computations, rewrite_computation
from ccodegen.hlo.shape import ArrayShape, Shape, TupleShape, leaves
from ccodegen.ops.creation import Constant
from ccodegen.passes.reducing.cuts import Candidate
from ccodegen.support.element_type import ElementType

Visit = Callable[[Instruction], Instruction]
_SIZES = frozenset({"slice_sizes", "dynamic_slice_sizes", "fft_length"})
_COUNTS = frozenset({"k"})


def smaller_sizes(module: Module) -> Iterator[Candidate]:
    """All dimensions of one size in the whole module get a smaller one."""
    sizes = {n for s in _arrays(module) for n in s.dimensions if n > 1}
    for size in sorted(sizes, reverse=True):
        for smaller in dict.fromkeys((1, 2, size // 2, size - 1)):
            if smaller < size:
                yield partial(_everywhere, module, partial(_resized, {size: smaller}))


def _arrays(module: Module) -> Iterator[ArrayShape]:
    for computation in module.computations:
        for instruction in computation.instructions:
            yield from (s for s in leaves(instruction.shape) if isinstance(s, ArrayShape))


def _everywhere(module: Module, visit: Visit) -> Module:
    """The module with all instructions changed, and of the shapes that follow."""

    def transform(
        computation: Computation, callees: dict[Computation, Computation]
    ) -> Computation:
        return rewrite_computation(computation, lambda i: _inferred(visit(i)), callees)

    return map_computations(module, transform)


def _inferred(instruction: Instruction) -> Instruction:
    definition = opdef.get(instruction.op)
    if definition.infer is None or instruction.op == "constant":
        return instruction
    shape = inferred_shape(definition, instruction.operands, instruction.attributes)
    declared = instruction.shape
    if isinstance(shape, ArrayShape) and isinstance(declared, ArrayShape):
        shape = shape.with_type(declared.element_type)  # which a dot may choose
    return instruction if shape == declared else replace(instruction, shape=shape)


def _resized(sizes: Mapping[int, int], instruction: Instruction) -> Instruction:
    shape = _shape(instruction.shape, lambda s: _smaller_shape(sizes, s))
    attributes = instruction.attributes
    if isinstance(attributes, Constant) and isinstance(shape, ArrayShape):
        whole = attributes.literal.array
        part = whole[tuple(slice(n) for n in shape.dimensions)]
        return replace(instruction, shape=shape, attributes=Constant(Literal(part)))
    return replace(instruction, shape=shape, attributes=_smaller_attributes(sizes, attributes))


def _smaller_shape(sizes: Mapping[int, int], shape: ArrayShape) -> ArrayShape:
    dimensions = tuple(sizes.get(n, n) for n in shape.dimensions)
    return replace(shape, dimensions=dimensions)


def _shape(shape: Shape, change: Callable[[ArrayShape], ArrayShape]) -> Shape:
    if isinstance(shape, TupleShape):
        return TupleShape(tuple(_shape(e, change) for e in shape.elements))
    return change(shape) if isinstance(shape, ArrayShape) else shape


def _smaller_attributes(sizes: Mapping[int, int], attributes: Attributes) -> Attributes:
    changed: dict[str, Any] = {}
    for name, kind in attributes.spelled().values():
        value = getattr(attributes, name)
        if name in _SIZES:
            changed[name] = tuple(sizes.get(n, n) for n in value)
        elif name in _COUNTS:
            changed[name] = sizes.get(value, value)
        elif kind is AttrKind.SLICE:
            changed[name] = tuple(replace(s, limit=sizes.get(s.limit, s.limit)) for s in value)
        elif kind is AttrKind.WINDOW and value is not None:
            dimensions = (replace(w, size=sizes.get(w.size, w.size)) for w in value.dimensions)
            changed[name] = Window(tuple(dimensions))
    return replace(attributes, **changed) if changed else attributes


def plainer_attributes(module: Module) -> Iterator[Candidate]:
    """An attribute at its default, or a number of a window, padding or slice at its usual one."""
    for computation in module.computations:
        for instruction in computation.instructions:
            for attributes in _plainer(instruction.attributes):
                new = replace(instruction, attributes=attributes)
                yield partial(_everywhere, module, partial(_swapped, instruction.name, new))


def _swapped(name: str, new: Instruction, instruction: Instruction) -> Instruction:
    """Told apart by what they are, as the sweep has made new objects of operands."""
    same = instruction.op == new.op and instruction.shape == new.shape
    if not same or instruction.name != name:
        return instruction
    return replace(instruction, attributes=new.attributes)


def _plainer(attributes: Attributes) -> Iterator[Attributes]:
    defaults = {f.name: f.default for f in fields(attributes) if f.default is not MISSING}
    for name, kind in attributes.spelled().values():
        value = getattr(attributes, name)
        if name in defaults and value != defaults[name]:
            yield replace(attributes, **{name: defaults[name]})
        for plain in _plainer_values(kind, value):
            yield replace(attributes, **{name: plain})


def _plainer_values(kind: AttrKind, value: Any) -> Iterator[Any]:
    """The value with one number of one dimension at its usual one."""
    usual: Mapping[AttrKind, Any] = {
        AttrKind.WINDOW: WindowDimension(),
        AttrKind.PADDING: PaddingDimension(0, 0),
        AttrKind.SLICE: SliceDimension(0, 1),
    }
    if kind not in usual or value is None:
        return
    dimensions = value.dimensions if isinstance(value, Window) else value
    for n, dimension in enumerate(dimensions):
        for f in fields(dimension):
            plain = getattr(usual[kind], f.name)
            if getattr(dimension, f.name) != plain:
                one = replace(dimension, **{f.name: plain})
                changed = (*dimensions[:n], one, *dimensions[n + 1 :])
                yield Window(changed) if isinstance(value, Window) else changed


def plainer_literals(module: Module) -> Iterator[Candidate]:
    """A constant of zeros, of ones, or of its first element."""
    for computation in module.computations:
        for instruction in computation.instructions:
            attributes, shape = instruction.attributes, instruction.shape
            if isinstance(attributes, Constant) and isinstance(shape, ArrayShape) and shape.size:
                whole = attributes.literal.array
                for value in (np.zeros((), whole.dtype), np.ones((), whole.dtype), whole.flat[0]):
                    literal = Literal(np.full(whole.shape, value, whole.dtype))
                    visit = partial(_with_literal, attributes.literal, literal)
                    yield partial(_everywhere, module, visit)


def _with_literal(old: Literal, new: Literal, instruction: Instruction) -> Instruction:
    attributes = instruction.attributes
    if isinstance(attributes, Constant) and attributes.literal == old:
        return replace(instruction, attributes=Constant(new))
    return instruction


def commoner_types(module: Module) -> Iterator[Candidate]:
    """One element type in the whole module becomes f32 or s32."""
    used = {s.element_type for s in _arrays(module)}
    for old in sorted(used, key=lambda t: t.text):
        for new in (ElementType.F32, ElementType.S32):
            if old is not new and old is not ElementType.PRED:
                yield partial(_everywhere, module, partial(_retyped, old, new))


def _retyped(old: ElementType, new: ElementType, instruction: Instruction) -> Instruction:
    def change(shape: ArrayShape) -> ArrayShape:
        return shape.with_type(new) if shape.element_type is old else shape

    shape, attributes = _shape(instruction.shape, change), instruction.attributes
    if isinstance(attributes, Constant) and isinstance(shape, ArrayShape):
        with np.errstate(all="ignore"):
            array = attributes.literal.array.astype(shape.element_type.dtype)
        attributes = Constant(Literal(array))
    return replace(instruction, shape=shape, attributes=attributes)
