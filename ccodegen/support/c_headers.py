"""What runtime_c's headers define, as pycparser reads them.

To read them takes half a second, and a program needs few of the functions: each of these is kept by
itself, and unpickled as it is asked for.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pycparser
from pycparser import c_ast

from ccodegen.support import c_preprocessor
from ccodegen.support.c_types import C_NAMES, LIMITS
from ccodegen.support.cache import digest
from ccodegen.support.immutable import frozen
from ccodegen.support.kept import kept
from ccodegen.support.runtime_c import header_dir


@frozen
class Definitions:
    """`others`: the struct types and the constant tables, in their order."""

    functions: Mapping[str, Any]
    others: list[Any]


class _Pickled(Mapping[str, Any]):
    def __init__(self, values: dict[str, bytes]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> Any:
        return pickle.loads(self._values[name])

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def definitions(headers: Sequence[str]) -> Definitions:
    """Those of the headers and of what they include, with no macro defined."""
    typedefs = {**C_NAMES, "ptrdiff_t": "long long"}.items()
    types = "".join(f"typedef {c} {name};\n" for name, c in typedefs)
    text = LIMITS + "".join(f'#include "{name}"\n' for name in headers)
    files = [Path(c_preprocessor.__file__), *sorted(header_dir().glob("*.*"))]
    origin = digest(pycparser.__version__, types, text, *(file.read_bytes() for file in files))

    def read() -> bytes:
        return _pickled(types + c_preprocessor.preprocess(text, header_dir()))

    return _unpickled(kept(text, origin, read))


def definitions_of(text: str) -> Definitions:
    """What C without directives defines."""
    return _unpickled(_pickled(text))


def _pickled(text: str) -> bytes:
    functions, others = {}, []
    for node in pycparser.CParser().parse(text).ext:
        if isinstance(node, c_ast.FuncDef):
            functions[node.decl.name] = pickle.dumps(node)
        else:
            others.append(node)
    return pickle.dumps((functions, others))


def _unpickled(data: bytes) -> Definitions:
    functions, others = pickle.loads(data)
    return Definitions(_Pickled(functions), others)
