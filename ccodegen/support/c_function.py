"""Runs functions of runtime_c's headers over NumPy arrays, operation by operation.

The strict evaluator's math is the C source itself: the headers are preprocessed with no macro
defined (so without FMA), parsed by pycparser, and interpreted elementwise with C's conversions.
The results have the bits of the C functions compiled with -DCCG_STRICT -ffp-contract=off.

The C understood is what those functions use: scalars and structs of scalars, declarations and
assignments, arithmetic, casts, `?:`, calls, constant tables, `while`, and memcpy as a bit cast.
Every operand of `?:`, `&&` and `||` is evaluated; a `while` runs until no element wants to go on.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from pycparser import c_ast

from ccodegen.support.c_headers import definitions
from ccodegen.support.c_types import LIBRARY, TYPES, common, literal, promoted
from ccodegen.support.immutable import frozen

# An array or NumPy scalar of exactly the C type, or a struct: values by field name.
Value: TypeAlias = Any
Type: TypeAlias = Any  # np.dtype, or the name of a struct type

HEADERS = ("ccg_scalar.h", "ccg_math_c64.h", "ccg_math_c128.h")
BLOCK = 1 << 15  # elements computed at a time, so that intermediate values stay in cache

_COMPARISONS: dict[str, Callable[..., Value]] = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
_ARITHMETIC: dict[str, Callable[..., Value]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "&": np.bitwise_and,
    "|": np.bitwise_or,
    "^": np.bitwise_xor,
}


@frozen
class Function:
    """A C function: parameters as (name, type), the result's type, and pycparser's body."""

    parameters: tuple[tuple[str, Type], ...]
    result: Type
    body: Any


@frozen
class Library:
    """What the headers define: functions (pycparser's), the fields of struct types, tables."""

    functions: Mapping[str, Any]
    structs: dict[str, dict[str, Type]]
    tables: dict[str, Value]


@functools.cache
def library() -> Library:
    """All of runtime_c's scalar functions."""
    found = definitions(HEADERS)
    result = Library(found.functions, {}, {})
    for node in found.others:
        _collect(node, result)
    return result


@functools.cache
def function_of(name: str) -> Function:
    """Raises KeyError for an unknown name."""
    node = library().functions[name]
    declaration = node.decl.type
    parameters = tuple((p.name, _type_of(p.type)) for p in declaration.args.params)
    return Function(parameters, _type_of(declaration.type), node.body)


def call(name: str, *arguments: Any) -> Any:
    """The C function applied elementwise to arrays, which broadcast.

    Array types are those of the C parameters (a ccg_c64 is a complex64 array, a ccg_c128 a
    complex128 one). Raises KeyError for an unknown name.
    """
    function = function_of(name)
    arrays = np.broadcast_arrays(*(np.asarray(a) for a in arguments))
    shape = arrays[0].shape
    flat = [a.reshape(-1) for a in arrays]
    blocks = [
        _run_block(function, [a[start : start + BLOCK] for a in flat])
        for start in range(0, max(1, flat[0].size), BLOCK)
    ]
    return np.concatenate(blocks).reshape(shape)


def _run_block(function: Function, arrays: list[Any]) -> Any:
    values = [
        _to_struct(array, kind) if isinstance(kind, str) else array.astype(kind, copy=False)
        for array, (_, kind) in zip(arrays, function.parameters, strict=True)
    ]
    with np.errstate(all="ignore"):
        result = _run(function, values)
    if isinstance(result, dict):
        result = _from_struct(result)
    return np.broadcast_to(result, arrays[0].shape)


def _to_struct(array: Any, name: str) -> dict[str, Value]:
    fields = library().structs[name]
    return {"re": array.real.astype(fields["re"]), "im": array.imag.astype(fields["im"])}


def _from_struct(value: dict[str, Value]) -> Any:
    re, im = np.broadcast_arrays(value["re"], value["im"])
    result = np.empty(re.shape, np.result_type(re.dtype, np.complex64))
    result.real, result.imag = re, im
    return result


def _collect(node: Any, into: Library) -> None:
    if isinstance(node, c_ast.Typedef) and isinstance(node.type.type, c_ast.Struct):
        fields = {f.name: _type_of(f.type) for f in node.type.type.decls}
        into.structs[node.name] = fields
    elif isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.ArrayDecl):
        kind = _type_of(node.type.type)
        values = [literal(e).astype(kind) for e in node.init.exprs]
        into.tables[node.name] = np.array(values, kind)


def _type_of(node: Any) -> Type:
    name = " ".join(node.type.names)
    return TYPES.get(name, name)


def _common(a: Value, b: Value) -> tuple[Value, Value]:
    kind = common(a.dtype, b.dtype)
    return a.astype(kind, copy=False), b.astype(kind, copy=False)


def _divide(a: Value, b: Value) -> Value:
    """Integers are truncated toward zero. Zero divisors occur where the result is not used."""
    return np.divide(a, b) if a.dtype.kind == "f" else (a - np.fmod(a, b)) // b


def _binary(operator: str, a: Value, b: Value) -> Value:
    if operator in ("<<", ">>"):
        a = a.astype(promoted(a.dtype), copy=False)
        shift = np.left_shift if operator == "<<" else np.right_shift
        return shift(a, b.astype(a.dtype))
    if operator in ("&&", "||"):
        both = np.logical_and if operator == "&&" else np.logical_or
        return np.asarray(both(a != 0, b != 0)).astype(np.int32)
    a, b = _common(a, b)
    if operator in _COMPARISONS:
        return np.asarray(_COMPARISONS[operator](a, b)).astype(np.int32)
    if operator == "/":
        return _divide(a, b)
    return np.fmod(a, b) if operator == "%" else _ARITHMETIC[operator](a, b)


def _convert(value: Value, kind: Type) -> Value:
    return value if isinstance(kind, str) else value.astype(kind, copy=False)


def _select(condition: Value, a: Value, b: Value) -> Value:
    if isinstance(a, dict):
        return {field: _select(condition, a[field], b[field]) for field in a}
    a, b = _common(a, b)
    return np.where(condition != 0, a, b)


def _run(function: Function, values: list[Value]) -> Value:
    scope = _Scope()
    for (name, kind), value in zip(function.parameters, values, strict=True):
        scope.declare(name, kind, _convert(value, kind))
    scope.statements(function.body.block_items)
    return _convert(scope.result, function.result)


class _Scope:
    """The variables of one call. C's blocks need no scopes: no name is declared twice."""

    def __init__(self) -> None:
        self.types: dict[str, Type] = {}
        self.values: dict[str, Value] = {}
        self.active: Value = None  # inside a loop: which elements are still in it
        self.result: Value = None

    def declare(self, name: str, kind: Type, value: Value) -> None:
        self.types[name] = kind
        self.values[name] = value

    def statements(self, nodes: list[Any]) -> None:
        for node in nodes:
            getattr(self, f"_do_{type(node).__name__}")(node)

    def _do_Decl(self, node: Any) -> None:
        kind = _type_of(node.type)
        value = {} if isinstance(kind, str) else kind.type(0)
        if node.init is not None:
            value = _convert(self.value(node.init), kind)
        self.declare(node.name, kind, value)

    def _do_Cast(self, node: Any) -> None:
        """`(void)x;` has no effect."""

    def _do_Assignment(self, node: Any) -> None:
        operator = node.op.removesuffix("=")
        value = self.value(node.rvalue)
        if operator:
            value = _binary(operator, self.value(node.lvalue), value)
        self.assign(node.lvalue, value)

    def assign(self, target: Any, value: Value) -> None:
        if isinstance(target, c_ast.StructRef):
            name, field = target.name.name, target.field.name
            kind = library().structs[self.types[name]][field]
            self.values[name] = {**self.values[name], field: _convert(value, kind)}
            return
        value = _convert(value, self.types[target.name])
        if self.active is not None:
            value = np.where(self.active, value, self.values[target.name])
        self.values[target.name] = value

    def _do_While(self, node: Any) -> None:
        outer = self.active
        while True:
            wanted = self.value(node.cond) != 0
            self.active = wanted if outer is None else wanted & outer
            if not np.any(self.active):
                break
            self.statements(node.stmt.block_items)
        self.active = outer

    def _do_FuncCall(self, node: Any) -> None:
        """memcpy(&to, &from, size): the bits of a variable as another type."""
        assert node.name.name == "memcpy", node.name.name
        to, source = (argument.expr.name for argument in node.args.exprs[:2])
        self.values[to] = np.asarray(self.values[source]).view(self.types[to])

    def _do_Return(self, node: Any) -> None:
        self.result = self.value(node.expr)

    def value(self, node: Any) -> Value:
        return getattr(self, f"_of_{type(node).__name__}")(node)

    def _of_ID(self, node: Any) -> Value:
        return self.values[node.name]

    def _of_Constant(self, node: Any) -> Value:
        return literal(node)

    def _of_StructRef(self, node: Any) -> Value:
        return self.value(node.name)[node.field.name]

    def _of_ArrayRef(self, node: Any) -> Value:
        return library().tables[node.name.name][self.value(node.subscript)]

    def _of_Cast(self, node: Any) -> Value:
        return _convert(self.value(node.expr), _type_of(node.to_type.type))

    def _of_UnaryOp(self, node: Any) -> Value:
        if node.op == "sizeof":
            return np.uint64(_type_of(node.expr.type).itemsize)
        value = self.value(node.expr)
        if node.op == "!":
            return np.asarray(value == 0).astype(np.int32)
        value = value.astype(promoted(value.dtype), copy=False)
        return np.negative(value) if node.op == "-" else np.invert(value)

    def _of_BinaryOp(self, node: Any) -> Value:
        return _binary(node.op, self.value(node.left), self.value(node.right))

    def _of_TernaryOp(self, node: Any) -> Value:
        values = (self.value(n) for n in (node.cond, node.iftrue, node.iffalse))
        return _select(*values)

    def _of_FuncCall(self, node: Any) -> Value:
        name = node.name.name
        values = [self.value(n) for n in node.args.exprs]
        if name in LIBRARY:
            return LIBRARY[name](*values)
        return _run(function_of(name), values)
