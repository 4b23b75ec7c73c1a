"""Says the layouts of the entry's interface in its own shapes, as the header would have them."""

from __future__ import annotations

from dataclasses import replace

from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.layout import same_memory
from ccodegen.hlo.rewrite import rewrite_with_old
from ccodegen.hlo.shape import ArrayShape, Layout, Shape, TupleShape, shape_text
from ccodegen.hlo.text.shapes import shape_from_text
from ccodegen.ops.build import derived, element_of, tuple_of
from ccodegen.passes.context import PassContext

_ANNOTATION = "entry_computation_layout"


def settle_entry_layout(module: Module, context: PassContext | None = None) -> Module:
    """`entry_computation_layout={(f32[2,3]{0,1})->f32[3,2]{1,0}}` → parameters of these layouts,
    and copies to these layouts at the root; the annotation goes.

    Without the annotation the parameters' and the root's own layouts count, and nothing changes.
    """
    annotations = dict(module.annotations)
    if _ANNOTATION not in annotations:
        return module
    parameters, result = _interface(annotations.pop(_ANNOTATION))
    entry = _with_parameters(module.entry, parameters)
    root = laid_out(entry.root, result)
    if root is not entry.root:
        entry = replace(entry, root=root)
    return replace(module, entry=entry, annotations=tuple(annotations.items()))


def laid_out(value: Instruction, shape: Shape) -> Instruction:
    """The value, with a copy of each array whose layout is not the shape's."""
    if isinstance(shape, ArrayShape):
        if same_memory(shape, value.shape):
            return value
        return derived(value, "copy", _with_layout(value, shape), (value,))
    if not isinstance(shape, TupleShape):
        return value
    old = [element_of(value, value, i) for i in range(len(shape.elements))]
    new = [laid_out(e, s) for e, s in zip(old, shape.elements, strict=True)]
    if all(a is b for a, b in zip(old, new, strict=True)):
        return value
    return tuple_of(value, new)


def with_row_major_interface(module: Module) -> Module:
    """The module with a header that says so: of a front end whose layouts nobody asked for."""
    parameters = ", ".join(shape_text(p.shape, layouts=False) for p in module.entry.parameters)
    result = shape_text(module.entry.root.shape, layouts=False)
    annotations = {**dict(module.annotations), _ANNOTATION: f"{{({parameters})->{result}}}"}
    return replace(module, annotations=tuple(annotations.items()))


def _interface(text: str) -> tuple[tuple[Shape, ...], Shape]:
    left, right = text.strip()[1:-1].rsplit("->", 1)
    parameters = shape_from_text(left)
    assert isinstance(parameters, TupleShape)
    return parameters.elements, shape_from_text(right)


def _with_parameters(entry: Computation, shapes: tuple[Shape, ...]) -> Computation:
    """What reads a parameter gets it in the layout that it had: a bitcast looks at that."""
    wanted = dict(zip(entry.parameters, shapes, strict=True))
    changed = {p: replace(p, shape=s) for p, s in wanted.items()}

    def visit(old: Instruction, new: Instruction) -> Instruction:
        return laid_out(changed[old], old.shape) if old in changed else new

    rewritten = rewrite_with_old(entry, visit)
    return replace(rewritten, parameters=tuple(changed.values()))


def _with_layout(value: Instruction, shape: ArrayShape) -> ArrayShape:
    layout = shape.layout or Layout(tuple(reversed(range(shape.rank))))
    return replace(value.array_shape, layout=layout)
