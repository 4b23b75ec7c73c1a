"""`HloModule name, attr=…`: what a module says of itself before its computations."""

from __future__ import annotations

import re

from ccodegen.hlo.ir import Alias, Computation
from ccodegen.hlo.shape import Shape, TupleShape, shape_text
from ccodegen.hlo.text.attributes import parse_ints
from ccodegen.hlo.text.cursor import Cursor
from ccodegen.hlo.text.shapes import parse_shape, same_with_layouts
from ccodegen.hlo.verify import compatible
from ccodegen.support.errors import InputError
from ccodegen.support.immutable import frozen
from ccodegen.support.pattern import pattern

ATTRIBUTE = pattern(r"([A-Za-z_][\w-]*)\s*=", re.ASCII)
MODULE_ATTRIBUTES = (
    "is_scheduled",
    "replica_count",
    "num_partitions",
    "input_output_alias",
    "buffer_donor",
    "alias_passthrough_params",
    "entry_computation_layout",
    "frontend_attributes",
    "allow_spmd_sharding_propagation_to_parameters",
    "allow_spmd_sharding_propagation_to_output",
    "origin_recovery_table",
)

_START = pattern(r"HloModule\b")
_ALIAS_KIND = pattern(r"(may|must)-alias\b")


@frozen
class Header:
    """`layout`: the shapes of entry_computation_layout, parameters first, the result last."""

    name: str = ""
    aliases: tuple[Alias, ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()
    layout: tuple[Shape, ...] | None = None


def parse_header(cursor: Cursor) -> Header:
    """The header that stands here; one without a name where there is none."""
    if not cursor.take(_START):
        return Header()
    name = cursor.name("the module's name")
    aliases: tuple[Alias, ...] = ()
    layout: tuple[Shape, ...] | None = None
    annotations: dict[str, str] = {}
    seen: set[str] = set()
    while cursor.accept(","):
        attribute = _attribute_name(cursor, seen)
        if attribute == "input_output_alias":
            aliases = _aliases(cursor)
        elif attribute == "entry_computation_layout":
            layout = _entry_layout(cursor)
        elif attribute in ("replica_count", "num_partitions"):
            annotations[attribute] = str(cursor.integer("a number of devices"))
        else:
            annotations[attribute] = cursor.raw()
    return Header(name, aliases, tuple(annotations.items()), layout)


def _attribute_name(cursor: Cursor, seen: set[str]) -> str:
    at = cursor.position
    name = cursor.expect_match(ATTRIBUTE, "an attribute of the module, such as replica_count=2")[1]
    if name not in MODULE_ATTRIBUTES:
        hint = "a module may have " + " ".join(MODULE_ATTRIBUTES)
        raise cursor.error(f"a module has no attribute '{name}'", at, hint)
    if name in seen:
        raise cursor.error(f"the attribute '{name}' is given twice", at)
    seen.add(name)
    return name


def _aliases(cursor: Cursor) -> tuple[Alias, ...]:
    cursor.expect("{", "before the aliases")
    found: list[Alias] = []
    while not cursor.accept("}"):
        if found:
            cursor.expect(",", "or '}' after an alias")
        found.append(_alias(cursor))
    return tuple(found)


def _alias(cursor: Cursor) -> Alias:
    """`{0}: (1, {}, must-alias)`."""
    output_index = parse_ints(cursor)
    cursor.expect(":", "after the index into the result")
    cursor.expect("(", "before the parameter")
    parameter = cursor.integer("a parameter's number")
    parameter_index: tuple[int, ...] = ()
    kind = "may"
    if cursor.accept(","):
        parameter_index = parse_ints(cursor)
    if cursor.accept(","):
        kind = cursor.expect_match(_ALIAS_KIND, "may-alias or must-alias")[1]
    cursor.expect(")", "after the parameter")
    return Alias(output_index, parameter, parameter_index, kind == "must")


def _entry_layout(cursor: Cursor) -> tuple[Shape, ...]:
    cursor.expect("{", "before the layout of the entry")
    parameters = parse_shape(cursor)
    if not isinstance(parameters, TupleShape):
        raise cursor.error("expected the parameters' shapes in parentheses")
    cursor.expect("->", "after the parameters' shapes")
    result = parse_shape(cursor)
    cursor.expect("}", "after the layout of the entry")
    return (*parameters.elements, result)


def entry_layout_annotation(
    layout: tuple[Shape, ...] | None, entry: Computation
) -> tuple[tuple[str, str], ...]:
    """entry_computation_layout as an annotation, where the entry's own shapes do not say it.

    Raises InputError where it is of other shapes.
    """
    if layout is None:
        return ()
    own = TupleShape((*(p.shape for p in entry.parameters), entry.root.shape))
    if same_with_layouts(own, TupleShape(layout)):
        return ()
    said = _interface_text(layout)
    if not compatible(TupleShape(layout), own):
        message = f"entry_computation_layout says {said}, but the entry is "
        raise InputError(message + _interface_text(own.elements), entry.root.location)
    return (("entry_computation_layout", f"{{{said}}}"),)


def _interface_text(shapes: tuple[Shape, ...]) -> str:
    parameters = ", ".join(map(shape_text, shapes[:-1]))
    return f"({parameters})->{shape_text(shapes[-1])}"


def aliases_text(aliases: tuple[Alias, ...]) -> str:
    """The value of input_output_alias."""
    return "{ " + ", ".join(map(_alias_text, aliases)) + " }"


def _alias_text(alias: Alias) -> str:
    output, parameter = (
        "{" + ",".join(map(str, index)) + "}"
        for index in (alias.output_index, alias.parameter_index)
    )
    kind = "must-alias" if alias.must_alias else "may-alias"
    return f"{output}: ({alias.parameter}, {parameter}, {kind})"
