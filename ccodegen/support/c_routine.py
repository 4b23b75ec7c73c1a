"""Runs routines of runtime_c over NumPy arrays: functions with pointers, loops and early returns.

The C is translated to Python source, function by function, as a call first needs them. Results have
the bits of the C compiled with -DCCG_STRICT -ffp-contract=off, so that the evaluator, the
interpreter of the loop IR and strict C agree. `support.c_function` runs scalar functions over whole
arrays; here everything is done one number at a time.

In Python a pointer is an array and a place in it (`a`, `a__at`), a float a NumPy scalar of its
type, an integer an int (unsigned ones are masked; C leaves no other overflow defined), a struct a
tuple.

The C understood: declarations with and without a value, also of local arrays and pointers;
assignments, also to fields and elements, `++` and `--` as statements; `if`, `for`, `while`, `do`,
`break`, `continue`, `return`; every operator on scalars, pointer + integer, casts; calls, and
memcpy of a variable as a bit cast. Not understood, so not to be used: `&x` elsewhere, pointers to
pointers, comparisons of pointers, `switch`, `goto`, assignments inside of expressions, static
variables.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pycparser import c_ast

from ccodegen.support import c_arithmetic
from ccodegen.support.c_arithmetic import PRELUDE, Pointer, Type, Value
from ccodegen.support.c_headers import Definitions, definitions
from ccodegen.support.c_types import LIBRARY
from ccodegen.support.errors import InternalError

HEADERS = (
    "ccg_gees.h",
    "ccg_geev.h",
    "ccg_gehrd.h",
    "ccg_geqrf.h",
    "ccg_gesdd.h",
    "ccg_getrf.h",
    "ccg_gtsv.h",
    "ccg_heevd.h",
    "ccg_potrf.h",
)


def call(name: str, arrays: Sequence[Any], scalars: Sequence[Any]) -> None:
    """Calls the routine with pointers to the contiguous arrays, which it changes, and integers.

    Complex arrays go as those of their parts. Raises InternalError for an unknown routine.
    """
    arguments: list[Any] = []
    for array in arrays:
        flat = array.reshape(-1)
        parts = flat.real.dtype if flat.dtype.kind == "c" else flat.dtype
        arguments += [flat.view(parts), 0]
    function = _library().python(name)
    with np.errstate(all="ignore"):
        function(*arguments, *map(int, scalars))


def is_routine(name: str) -> bool:
    return name in _library().functions


@dataclass
class Library:
    """What the headers define: functions, struct types, constant tables.

    `namespace`: the tables, and the functions that are translated already.
    """

    functions: Mapping[str, Any]
    structs: dict[str, dict[str, Type]] = field(default_factory=dict)
    tables: dict[str, Type] = field(default_factory=dict)
    namespace: dict[str, Any] = field(default_factory=lambda: dict(PRELUDE))

    def python(self, name: str) -> Any:
        """The function in Python, translated with all that it calls."""
        waiting = [name]
        while waiting:
            wanted = waiting.pop()
            if wanted in self.namespace:
                continue
            if wanted not in self.functions:
                raise InternalError(f"runtime_c's routines have no function {wanted}")
            translation = _Translation(self)
            exec(translation.function(self.functions[wanted]), self.namespace)
            waiting += translation.called
        return self.namespace[name]


@functools.cache
def _library() -> Library:
    return library_of(definitions(HEADERS))


def library_of(found: Definitions) -> Library:
    """What a file defines."""
    library = Library(found.functions)
    for node in found.others:
        if isinstance(node, c_ast.Typedef) and isinstance(node.type.type, c_ast.Struct):
            fields = node.type.type.decls
            library.structs[node.name] = {f.name: c_arithmetic.type_of(f.type) for f in fields}
        elif isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.ArrayDecl):
            kind = c_arithmetic.type_of(node.type)
            numbers = [eval(c_arithmetic.constant(e).text, dict(PRELUDE)) for e in node.init.exprs]
            library.tables[node.name] = kind
            library.namespace[node.name] = np.array(numbers, c_arithmetic.memory_dtype(kind))
            library.namespace[f"{node.name}__at"] = 0
    return library


class _Translation:
    """One function's way to Python: lines so far, types of variables, functions it calls."""

    def __init__(self, library: Library) -> None:
        self.called: set[str] = set()
        self._library = library
        self._lines: list[str] = []
        self._depth = 0
        self._types: dict[str, Type] = {}
        self._steps: list[Any] = []  # of the open loops: what `continue` has to do first
        self._result: Type = None

    def function(self, node: Any) -> str:
        declaration = node.decl.type
        self._result = c_arithmetic.type_of(declaration.type)
        parameters: list[str] = []
        for parameter in declaration.args.params:
            kind = self._declare(parameter)
            pointer = [f"{parameter.name}__at"] if isinstance(kind, Pointer) else []
            parameters += [_python_name(parameter.name), *pointer]
        self._emit(f"def {node.decl.name}({', '.join(parameters)}):")
        self._block(node.body)
        return "\n".join(self._lines)

    def _emit(self, line: str) -> None:
        self._lines.append("    " * self._depth + line)

    def _declare(self, node: Any) -> Type:
        kind = c_arithmetic.type_of(node.type)
        self._types[node.name] = kind
        return kind

    def _block(self, node: Any) -> None:
        """A statement, or those of a block, one level further in."""
        self._depth += 1
        length = len(self._lines)
        self._statement(node)
        if len(self._lines) == length:
            self._emit("pass")
        self._depth -= 1

    def _statement(self, node: Any) -> None:
        handler = getattr(self, f"_do_{type(node).__name__}", None)
        if handler is None:
            raise InternalError(f"C at {node.coord} is not understood: {type(node).__name__}")
        handler(node)

    def _do_Compound(self, node: Any) -> None:
        for item in node.block_items or ():
            self._statement(item)

    def _do_DeclList(self, node: Any) -> None:
        for declaration in node.decls:
            self._statement(declaration)

    def _do_EmptyStatement(self, node: Any) -> None:
        pass

    def _do_Decl(self, node: Any) -> None:
        kind = self._declare(node)
        if isinstance(node.type, c_ast.ArrayDecl):
            length = self._value(node.type.dim).text
            array = f"zeros({length}, '{c_arithmetic.memory_dtype(kind)}')"
            self._emit(f"{_python_name(node.name)}, {node.name}__at = {array}, 0")
        elif node.init is not None:
            self._assign(c_ast.ID(node.name), self._value(node.init))
        elif isinstance(kind, str):
            self._emit(f"{_python_name(node.name)} = (0,) * {len(self._library.structs[kind])}")

    def _do_Assignment(self, node: Any) -> None:
        value = self._value(node.rvalue)
        operator = node.op.removesuffix("=")
        if operator:
            value = c_arithmetic.binary(operator, self._value(node.lvalue), value)
        self._assign(node.lvalue, value)

    def _do_UnaryOp(self, node: Any) -> None:
        one = Value("1", np.dtype(np.int32))
        operator = "+" if "++" in node.op else "-"
        self._assign(node.expr, c_arithmetic.binary(operator, self._value(node.expr), one))

    def _assign(self, target: Any, value: Value) -> None:
        if isinstance(target, c_ast.StructRef):
            self._assign_field(target, value)
            return
        to = self._place(target)
        converted = c_arithmetic.convert(value, to.type)
        if isinstance(to.type, Pointer):
            self._emit(f"{to.text}, {to.at} = {converted.text}, {converted.at}")
        else:
            self._emit(f"{to.text} = {converted.text}")

    def _assign_field(self, target: Any, value: Value) -> None:
        """Structs are values: a field's assignment makes a new one."""
        struct = self._value(target.name)
        parts = []
        for number, (name, kind) in enumerate(self._library.structs[struct.type].items()):
            own = name == target.field.name
            parts += [c_arithmetic.convert(value, kind).text if own else f"{struct.text}[{number}]"]
        self._emit(f"{struct.text} = ({', '.join(parts)})")

    def _do_If(self, node: Any) -> None:
        self._emit(f"if {c_arithmetic.condition(self._value(node.cond))}:")
        self._block(node.iftrue)
        if node.iffalse is not None:
            self._emit("else:")
            self._block(node.iffalse)

    def _do_For(self, node: Any) -> None:
        if node.init is not None:
            self._statement(node.init)
        condition = "True" if node.cond is None else c_arithmetic.condition(self._value(node.cond))
        self._loop(f"while {condition}:", node.stmt, node.next)

    def _do_While(self, node: Any) -> None:
        condition = c_arithmetic.condition(self._value(node.cond))
        self._loop(f"while {condition}:", node.stmt, None)

    def _do_DoWhile(self, node: Any) -> None:
        leave = c_ast.If(c_ast.UnaryOp("!", node.cond), c_ast.Break(), None)
        self._loop("while True:", node.stmt, leave)

    def _loop(self, head: str, body: Any, step: Any) -> None:
        self._emit(head)
        self._steps.append(step)
        self._block(body)
        self._steps.pop()
        if step is not None:
            self._block(step)

    def _do_Break(self, node: Any) -> None:
        self._emit("break")

    def _do_Continue(self, node: Any) -> None:
        if self._steps[-1] is not None:
            self._statement(self._steps[-1])
        self._emit("continue")

    def _do_Return(self, node: Any) -> None:
        if node.expr is None:
            self._emit("return")
            return
        value = c_arithmetic.convert(self._value(node.expr), self._result)
        self._emit(f"return {value.text}")

    def _do_FuncCall(self, node: Any) -> None:
        if node.name.name == "memcpy":
            to, source = (self._value(argument.expr) for argument in node.args.exprs[:2])
            self._emit(f"{to.text} = {c_arithmetic.bit_cast(source, to.type)}")
        else:
            self._emit(self._value(node).text)

    def _do_Cast(self, node: Any) -> None:
        """`(void)x;` says that x is not used, `(void)f(x);` that its result is not."""
        if isinstance(node.expr, c_ast.FuncCall):
            self._do_FuncCall(node.expr)

    def _value(self, node: Any) -> Value:
        handler = getattr(self, f"_of_{type(node).__name__}", None)
        if handler is None:
            raise InternalError(f"C at {node.coord} is not understood: {type(node).__name__}")
        value: Value = handler(node)
        return value

    def _of_ID(self, node: Any) -> Value:
        kind = self._types.get(node.name, self._library.tables.get(node.name))
        at = f"{node.name}__at" if isinstance(kind, Pointer) else ""
        return Value(_python_name(node.name), kind, at)

    def _of_Constant(self, node: Any) -> Value:
        return c_arithmetic.constant(node)

    def _of_StructRef(self, node: Any) -> Value:
        struct = self._value(node.name)
        fields = self._library.structs[struct.type]
        number = list(fields).index(node.field.name)
        return Value(f"{struct.text}[{number}]", fields[node.field.name])

    def _place(self, node: Any) -> Value:
        """What an assignment changes: a variable, or an element in memory."""
        if isinstance(node, c_ast.ArrayRef):
            pointer = c_arithmetic.binary("+", self._value(node.name), self._value(node.subscript))
            return c_arithmetic.element(pointer)
        if isinstance(node, c_ast.UnaryOp) and node.op == "*":
            return c_arithmetic.element(self._value(node.expr))
        return self._value(node)

    def _of_ArrayRef(self, node: Any) -> Value:
        return c_arithmetic.loaded(self._place(node))

    def _of_Cast(self, node: Any) -> Value:
        return c_arithmetic.convert(self._value(node.expr), c_arithmetic.type_of(node.to_type.type))

    def _of_UnaryOp(self, node: Any) -> Value:
        if node.op == "sizeof":
            size = c_arithmetic.type_of(node.expr.type).itemsize
            return Value(str(size), np.dtype(np.uint64))
        if node.op == "*":
            return c_arithmetic.loaded(self._place(node))
        return c_arithmetic.unary(node.op, self._value(node.expr))

    def _of_BinaryOp(self, node: Any) -> Value:
        return c_arithmetic.binary(node.op, self._value(node.left), self._value(node.right))

    def _of_TernaryOp(self, node: Any) -> Value:
        condition, then, otherwise = map(self._value, (node.cond, node.iftrue, node.iffalse))
        return c_arithmetic.select(condition, then, otherwise)

    def _of_FuncCall(self, node: Any) -> Value:
        name = node.name.name
        values = [self._value(argument) for argument in (node.args.exprs if node.args else ())]
        if name in LIBRARY:
            return c_arithmetic.library_call(name, values)
        if name not in self._library.functions:
            raise InternalError(f"C at {node.coord} calls {name}, which runtime_c does not define")
        self.called.add(name)
        declaration = self._library.functions[name].decl.type
        texts: list[str] = []
        for parameter, value in zip(declaration.args.params, values, strict=True):
            given = c_arithmetic.convert(value, c_arithmetic.type_of(parameter.type))
            texts += [given.text, given.at] if isinstance(given.type, Pointer) else [given.text]
        return Value(f"{name}({', '.join(texts)})", c_arithmetic.type_of(declaration.type))


_RESERVED = {"lambda", "is", "in", "not", "and", "or", "from", "with", "pass", "def", "del", "as"}


def _python_name(name: str) -> str:
    return f"{name}_" if name in _RESERVED or name in PRELUDE else name
