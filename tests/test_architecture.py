"""Imports point one way, modules stay small, heavy packages stay in the front ends."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import ccodegen

PACKAGE = Path(ccodegen.__file__).parent
ROOMS = (
    "support", "target", "loop", "hlo", "ops", "passes", "lower", "emit", "frontends", "backend",
)  # fmt: skip
# A room may import every room before it, save these.
FORBIDDEN = {"loop": {"hlo"}, "emit": {"hlo", "ops", "passes", "lower"}}
HEAVY = {"jax", "jaxlib", "onnx", "torch", "tensorflow"}
MOST_LINES = 600


@dataclass(frozen=True)
class Import:
    """One imported name, and whether a function imports it only when it is called."""

    file: Path
    line: int
    name: str
    inside: bool

    def __str__(self) -> str:
        return f"{self.file.relative_to(PACKAGE)}:{self.line} imports {self.name}"

    @property
    def room(self) -> str:
        """The room of ours that the name is in; empty for others."""
        parts = self.name.split(".")
        return parts[1] if parts[0] == "ccodegen" and len(parts) > 1 else ""


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def room_of(file: Path) -> str:
    parts = file.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else ""


def imports(file: Path) -> Iterator[Import]:
    tree: ast.AST = ast.parse(file.read_text(encoding="utf-8"))
    pending = [(tree, False)]
    while pending:
        node, inside = pending.pop()
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            for alias in node.names:
                yield Import(file, node.lineno, f"{node.module}.{alias.name}", inside)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(file, node.lineno, alias.name, inside)
        within = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        pending += [(child, within) for child in ast.iter_child_nodes(node)]


def all_imports() -> Iterator[Import]:
    for file in modules():
        yield from imports(file)


def test_rooms_import_only_those_before_them() -> None:
    allowed = {r: set(ROOMS[: n + 1]) - FORBIDDEN.get(r, set()) for n, r in enumerate(ROOMS)}
    found = [i for i in all_imports() if room_of(i.file) in ROOMS and i.name.startswith("ccodegen")]
    assert not [str(i) for i in found if i.room not in allowed[room_of(i.file)]]


def test_every_folder_is_a_room() -> None:
    folders = {room_of(file) for file in modules()} - {""}
    assert folders == {*ROOMS, "commands"}


def test_heavy_packages_are_imported_by_functions() -> None:
    heavy = [i for i in all_imports() if i.name.partition(".")[0] in HEAVY]
    assert not [str(i) for i in heavy if not i.inside]
    outside = [i.file for i in heavy if room_of(i.file) != "frontends"]
    assert {file.name for file in outside} <= {"jitted.py"}  # pytrees


def test_jaxlib_is_called_in_one_place() -> None:
    found = {i.file.name for i in all_imports() if i.name.partition(".")[0] == "jaxlib"}
    assert found == {"_jaxlib.py"}


def test_modules_are_small() -> None:
    lines = {file: len(file.read_text(encoding="utf-8").splitlines()) for file in modules()}
    assert not {str(file): count for file, count in lines.items() if count > MOST_LINES}
