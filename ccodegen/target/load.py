"""Reads targets/NAME.toml: inheritance, then every key and its type checked."""

from __future__ import annotations

import dataclasses
import difflib
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn, get_type_hints

from ccodegen.support.errors import InputError
from ccodegen.support.location import Location
from ccodegen.support.pattern import pattern
from ccodegen.support.targets import targets_dir
from ccodegen.target import native
from ccodegen.target.model import Target, Tile

_MACRO = pattern(r"CCG_[A-Z0-9_]+")
_OWN_KEYS = ("inherits", "description", "macros", "tiles")


def names() -> tuple[str, ...]:
    """The targets that come with ccodegen, sorted."""
    return tuple(sorted(path.stem for path in targets_dir().glob("*.toml")))


def load(name_or_path: str | Path) -> Target:
    """The target of that name, or of that TOML file.

    Raises InputError for an unknown name, and for a wrong file with the line of the wrong key.
    """
    if not isinstance(name_or_path, str | Path):
        given = type(name_or_path).__name__
        raise InputError(f"target: expected a name or the path of a .toml file, got a {given}")
    path = _find(str(name_or_path))
    table, origin = _inherit(path, ())
    given = table.setdefault("machine", {})
    target = _Reader(origin).target(path, table)
    if given.get("vector_bytes", 1) and given.get("vector_registers", 1):
        return target
    width, registers = native.vector_unit()
    machine = dataclasses.replace(
        target.machine,
        vector_bytes=width,
        vector_registers=registers,
        cache_bytes=native.cache_bytes() or target.machine.cache_bytes,
        fetches_ahead=target.machine.fetches_ahead or native.fetches_ahead(),
        converts_f16=native.converts_f16(),
        computes_f16=native.computes_f16(),
        bf16_pairs=native.multiplies_bf16_pairs(),
        matrix_registers=target.machine.matrix_registers
        or (target.runner.in_process and native.has_matrix_registers()),
    )
    return dataclasses.replace(target, machine=machine)


def _find(name: str) -> Path:
    path = Path(name)
    if path.suffix == ".toml":
        return path
    if name in names():
        return targets_dir() / f"{name}.toml"
    close = difflib.get_close_matches(name, names(), 1)
    known = f"did you mean {close[0]}?" if close else f"known targets: {', '.join(names())}"
    raise InputError(f"unknown target {name!r}", hint=f"{known} (or give a path to a .toml file)")


def _inherit(path: Path, heirs: tuple[Path, ...]) -> tuple[dict[str, Any], dict[str, Path]]:
    """The file's tables over those it inherits from, and for each key the file it stands in."""
    table = _parse(path)
    parent = table.pop("inherits", None)
    origin = dict.fromkeys(_paths(table), path)
    if parent is None:
        return table, origin
    if not isinstance(parent, str):
        _fail(path, "inherits", "inherits names one target")
    base = path.parent / f"{parent}.toml"
    base = base if base.is_file() else _find(parent)
    if base in (path, *heirs):
        _fail(path, "inherits", f"{base.name} inherits from itself")
    inherited, base_origin = _inherit(base, (path, *heirs))
    return _merge(inherited, table), base_origin | origin


def _parse(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read target {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"not a TOML file: {error}", Location(str(path))) from None


def _merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(merged.get(key), dict):
            merged[key] = _merge(merged[key], value)
        else:
            merged[key] = value
    return merged


def _paths(table: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Dotted names of all keys."""
    found = []
    for key, value in table.items():
        found.append(prefix + key)
        if isinstance(value, dict):
            found += _paths(value, f"{prefix}{key}.")
    return found


@dataclasses.dataclass
class _Reader:
    """Turns checked tables into the dataclasses; `origin` says which file a key stands in."""

    origin: Mapping[str, Path]

    def target(self, path: Path, table: Mapping[str, Any]) -> Target:
        hints = get_type_hints(Target)
        sections = {name: cls for name, cls in hints.items() if dataclasses.is_dataclass(cls)}
        values: dict[str, Any] = {"name": path.stem, "directory": path.parent}
        for key in table:
            if key in sections:
                values[key] = self.section(sections[key], key, table[key])
            elif key not in _OWN_KEYS:
                self.unknown(key, [*sections, *_OWN_KEYS])
        for key in ("description", "compiler"):
            if key not in table:
                raise InputError(f"target {path.stem} has no {key}", Location(str(path)))
        values["description"] = self.value(str, "description", table["description"])
        values["macros"] = self.macros(table.get("macros", {}))
        values["tiles"] = self.tiles(table.get("tiles", {}))
        return Target(**values)

    def section(self, cls: Any, name: str, table: Any) -> Any:
        if not isinstance(table, dict):
            self.fail(name, f"{name} must be a table: [{name}]")
        hints = get_type_hints(cls)
        for key in table:
            if key not in hints:
                self.unknown(f"{name}.{key}", list(hints))
        values = {k: self.value(hints[k], f"{name}.{k}", v) for k, v in table.items()}
        for field in dataclasses.fields(cls):
            most, given = field.metadata.get("most"), values.get(field.name, 0)
            if most is not None and given > most:
                key = f"{name}.{field.name}"
                self.fail(key, f"{key} must be at most {most}, not {given}")
        try:
            return cls(**values)
        except TypeError:
            self.fail(name, f"[{name}] needs {', '.join(_required(cls))}")

    def value(self, hint: Any, key: str, value: Any) -> Any:
        if hint in (str, bool, int):
            if type(value) is not hint or (hint is int and value < 0):
                self.fail(key, f"{key} must be {_KINDS[hint]}, not {value!r}")
            return value
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            self.fail(key, f"{key} must be a list of strings, not {value!r}")
        return tuple(value)

    def macros(self, table: Any) -> tuple[tuple[str, str], ...]:
        if not isinstance(table, dict):
            self.fail("macros", "macros must be a table: [macros]")
        for name, value in table.items():
            if not _MACRO.fullmatch(name) or type(value) is not int:
                self.fail(f"macros.{name}", f"macros.{name}: a macro is CCG_NAME = integer")
        return tuple((name, str(value)) for name, value in sorted(table.items()))

    def tiles(self, table: Any) -> tuple[tuple[str, Tile], ...]:
        if not isinstance(table, dict):
            self.fail("tiles", "tiles must be tables: [tiles.CONTRACTION]")
        parts = sorted(table.items())
        return tuple((name, self.section(Tile, f"tiles.{name}", part)) for name, part in parts)

    def unknown(self, key: str, known: list[str]) -> NoReturn:
        last = key.rpartition(".")[2]
        close = difflib.get_close_matches(last, known, 1)
        hint = f"did you mean {close[0]}?" if close else f"known keys: {', '.join(known)}"
        self.fail(key, f"unknown key {key}", hint)

    def fail(self, key: str, message: str, hint: str = "") -> NoReturn:
        _fail(self.origin[key], key, message, hint)


_KINDS = {str: "a string", bool: "true or false", int: "an integer from 0"}


def _required(cls: Any) -> list[str]:
    return [
        f.name
        for f in dataclasses.fields(cls)
        if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
    ]


def _fail(path: Path, key: str, message: str, hint: str = "") -> NoReturn:
    """Raises InputError at the line of the key (`table.key` or `table`)."""
    table, _, name = key.rpartition(".")
    inside = not table
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text.startswith("["):
            inside = text.startswith(f"[{table or name}]")
        if (inside and re.match(rf"{re.escape(name)}\s*=", text)) or text == f"[{key}]":
            column = len(line) - len(line.lstrip()) + 1
            raise InputError(message, Location(str(path), number, column, line), hint)
    raise InputError(message, Location(str(path)), hint)
