"""Prints a test of a program: inputs and expected results as C arrays, and a main that checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ccodegen.emit.constants import ConstantText, print_constant
from ccodegen.emit.lines import fitted
from ccodegen.emit.names import Names
from ccodegen.emit.render import render
from ccodegen.emit.source import MOST_PARAMETERS, Sources
from ccodegen.emit.types import array_length, memory_type
from ccodegen.loop.ir import Argument, Buffer, ConstantData, Program, Space
from ccodegen.loop.spelling import c_type, converted, headers
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable

_RESERVED = "main memory arena args error passed check check_bytes reader weights"


@immutable
class Expectation:
    """One run: arrays by parameter and by output number. `tolerances`: by output number, the
    greatest difference over the greatest expected value; types other than floats must be equal.
    `counts`: by output number, which elements are compared, as u8; None or missing: all."""

    inputs: Sequence[np.ndarray[Any, Any]]
    outputs: Sequence[np.ndarray[Any, Any]]
    tolerances: Sequence[float]
    counts: Sequence[np.ndarray[Any, Any] | None] = ()


@immutable
class _Array:
    """An array the test writes to; `given` is what it holds before, if anything."""

    name: str
    type: str
    length: int
    given: str


@immutable
class _Result:
    """`counts`: name of the array that says what is compared, "" for all; of `length` numbers."""

    name: str
    label: str
    expected: str
    counts: str
    length: int
    reader: str
    count: int
    bytes: int
    tolerance: str


@immutable
class _Reader:
    """Gives an element as a double."""

    suffix: str
    type: str
    expression: str


@immutable
class _TestView:
    prefix: str
    upper: str
    headers: tuple[str, ...]
    written: tuple[_Array, ...]
    updated: tuple[_Array, ...]
    readers: tuple[_Reader, ...]
    exact: bool
    packed: str
    call: str
    results: tuple[_Result, ...]


@immutable
class _VectorsView:
    prefix: str
    upper: str
    vectors: tuple[ConstantText, ...]


@immutable
class Selftest:
    """`files`: text by path in the package. `headers`: the files of runtime_c they include."""

    files: Mapping[str, str]
    headers: tuple[str, ...]


def print_test(
    program: Program, prefix: str, sources: Sources, expectation: Expectation
) -> Selftest:
    """test/PREFIX_test.c and test/PREFIX_vectors.h."""
    printer = _TestPrinter(program, prefix, sources, expectation)
    view = printer.view()
    vectors = _VectorsView(prefix, prefix.upper(), tuple(printer.vectors.values()))
    files = {
        f"test/{prefix}_test.c": render("test.c.j2", view),
        f"test/{prefix}_vectors.h": render("vectors.h.j2", vectors),
    }
    return Selftest(files, view.headers)


class _TestPrinter:
    def __init__(
        self, program: Program, prefix: str, sources: Sources, expectation: Expectation
    ) -> None:
        self._program, self._prefix = program, prefix
        self._sources, self._expected = sources, expectation
        self._names = Names([*_RESERVED.split(), f"{prefix}_run", f"{prefix}_args"])
        self.vectors: dict[str, ConstantText] = {}

    def view(self) -> _TestView:
        written = [self._written(a) for a in self._program.arguments if a.output is not None]
        values = [self._pointer(a) for a in self._program.arguments]
        compared = [a for a in self._program.arguments if a.output is not None and not a.initial]
        results = [self._result(a) for a in compared]
        readers = [_reader(t) for t in self._read_types()]
        return _TestView(
            prefix=self._prefix,
            upper=self._prefix.upper(),
            headers=tuple(sorted(headers(" ".join(r.expression for r in readers)))),
            written=tuple(written),
            updated=tuple(array for array in written if array.given),
            readers=tuple(readers),
            exact=any(not result.reader for result in results),
            packed=_packed(values),
            call=self._call(values),
            results=tuple(results),
        )

    def _name(self, argument: Argument) -> str:
        return self._names.name(argument.buffer, argument.name, "argument")

    def _vector(self, argument: Argument, array: np.ndarray[Any, Any], role: str) -> str:
        """The name of an array of constants."""
        name = f"{role}_{self._name(argument)}"
        if name not in self.vectors:
            buffer = argument.buffer
            same = Buffer(name, buffer.type, buffer.dimensions, Space.CONSTANT)
            typed = np.asarray(array, buffer.type.dtype)
            self.vectors[name] = print_constant(ConstantData(same, typed), name, 8)
        return self.vectors[name].reference

    def _given(self, argument: Argument) -> str:
        if argument.parameter is None:
            return ""
        if argument.initial:
            return self._vector(argument, np.array(argument.initial), "given")
        return self._vector(argument, self._expected.inputs[argument.parameter], "given")

    def _written(self, argument: Argument) -> _Array:
        buffer = argument.buffer
        return _Array(
            self._name(argument),
            memory_type(buffer.type),
            array_length(buffer),
            self._given(argument),
        )

    def _pointer(self, argument: Argument) -> str:
        return self._given(argument) if argument.output is None else self._name(argument)

    def _result(self, argument: Argument) -> _Result:
        assert argument.output is not None
        buffer, name = argument.buffer, self._name(argument)
        floating = buffer.type.is_float or buffer.type.is_complex
        return _Result(
            name=name,
            label=f"{name} {buffer.shape}",
            expected=self._vector(argument, self._expected.outputs[argument.output], "expected"),
            counts=self._counts(argument),
            length=array_length(buffer),
            reader=buffer.type.component.text if floating else "",
            count=buffer.size * (2 if buffer.type.is_complex else 1),
            bytes=buffer.bytes,
            tolerance=repr(float(self._expected.tolerances[argument.output])),
        )

    def _counts(self, argument: Argument) -> str:
        """The name of an array of u8, one for each number that the result has in C."""
        counts = dict(enumerate(self._expected.counts)).get(argument.output or 0)
        if counts is None:
            return ""
        length, name = array_length(argument.buffer), f"counts_{self._name(argument)}"
        each = np.repeat(counts.reshape(-1), length // max(counts.size, 1))
        buffer = Buffer(name, ElementType.U8, each.shape, Space.CONSTANT)
        self.vectors[name] = print_constant(ConstantData(buffer, each), name, 8)
        return self.vectors[name].reference

    def _read_types(self) -> list[ElementType]:
        types = [a.buffer.type for a in self._program.arguments if a.output is not None]
        read = {t.component for t in types if t.is_float or t.is_complex}
        return sorted(read, key=lambda t: t.text)

    def _call(self, values: Sequence[str]) -> str:
        arguments = ["&args"] if len(values) > MOST_PARAMETERS else [*values]
        if self._sources.weights is not None:
            block = np.frombuffer(self._sources.weights.data, np.uint8)
            buffer = Buffer("weights", ElementType.U8, block.shape, Space.CONSTANT)
            alignment = self._sources.weights.alignment
            data = ConstantData(buffer, block)
            self.vectors["weights"] = print_constant(data, "weights", alignment)
            arguments.insert(0, "weights")
        arguments += ["arena", *(["NULL"] if self._sources.threads else [])]
        text = f"    error = {self._prefix}_run({', '.join(arguments)});"
        return "\n".join(fitted([text]))


def _packed(values: Sequence[str]) -> str:
    """The members of the struct that takes the place of many parameters."""
    if len(values) <= MOST_PARAMETERS:
        return ""
    return "\n".join(fitted([f"        {', '.join(values)},"]))


def _reader(element: ElementType) -> _Reader:
    expression = converted(element, ElementType.F64).format("p[i]")
    return _Reader(element.text, c_type(element), expression)
