"""Targets: the files that come with ccodegen, inheritance, and errors that point at the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from ccodegen.support.errors import InputError
from ccodegen.target import load, names, native

MINIMAL = 'description = "d"\n[compiler]\ncommands = ["cc"]\n'


def write(directory: Path, name: str, text: str) -> Path:
    path = directory / f"{name}.toml"
    path.write_text(text)
    return path


def test_first_targets_come_with_ccodegen() -> None:
    assert {"host", "x86-64", "arm64", "cortex-m4"} <= set(names())


@pytest.mark.parametrize("name", names())
def test_every_target_loads_and_its_files_exist(name: str) -> None:
    target = load(name)
    assert target.name == name and target.description
    for file in [*target.board.startup, target.board.linker_script]:
        assert (target.directory / file).exists()
    assert target.machine.vector_bytes > 0
    assert "-std=c99" in target.compile_flags(strict=True)
    assert "-ffp-contract=off" in target.compile_flags(strict=True)


def test_host_asks_this_machine_for_its_vectors() -> None:
    machine = load("host").machine
    assert machine.vector_bytes in (16, 32, 64) and machine.vector_registers in (16, 32)


def test_minimal_file_has_defaults(tmp_path: Path) -> None:
    target = load(write(tmp_path, "tiny", MINIMAL))
    assert target.compiler.commands == ("cc",)
    assert target.tile_size(4) == (6, 8)
    assert target == load(tmp_path / "tiny.toml")


def test_inherits_merges_tables_key_by_key(tmp_path: Path) -> None:
    write(tmp_path, "base", MINIMAL + 'flags = ["-a"]\n[abi]\npointer_bits = 32\n')
    heir = write(tmp_path, "heir", 'inherits = "base"\n[abi]\nbig_endian = true\n')
    target = load(heir)
    assert (target.abi.pointer_bits, target.abi.big_endian) == (32, True)
    assert target.compiler.flags == ("-a",)


def test_macros_become_defines(tmp_path: Path) -> None:
    target = load(write(tmp_path, "m", MINIMAL + "[macros]\nCCG_PLAIN = 1\n"))
    assert "-DCCG_PLAIN=1" in target.compile_flags(strict=False)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (MINIMAL + "[abi]\npointer_bit = 32\n", 5, "unknown key abi.pointer_bit"),
        (MINIMAL + "[ab]\n", 4, "unknown key ab"),
        (MINIMAL + '[abi]\npointer_bits = "32"\n', 5, "must be an integer from 0"),
        (MINIMAL + "[abi]\npointer_bits = -1\n", 5, "must be an integer from 0"),
        (MINIMAL + "[abi]\nbig_endian = 1\n", 5, "must be true or false"),
        (MINIMAL + "[macros]\nNDEBUG = 1\n", 5, "CCG_NAME = integer"),
        ('description = "d"\n[compiler]\n', 2, "needs commands"),
        ('description = "d"\ncompiler = 3\n', 2, "must be a table"),
        ('description = "d"\n', 0, "has no compiler"),
        ("a = = 1", 0, "not a TOML file"),
        ('inherits = "it"\n' + MINIMAL, 1, "inherits from itself"),
    ],
)
def test_wrong_files_are_errors_with_a_line(
    tmp_path: Path, text: str, line: int, message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        load(write(tmp_path, "it", text))
    assert caught.value.location is not None
    assert caught.value.location.line == line


def test_unknown_name_suggests() -> None:
    with pytest.raises(InputError, match="did you mean arm64"):
        load("arm46")
    with pytest.raises(InputError, match="cannot read target"):
        load("/nowhere/x.toml")


@pytest.mark.parametrize(
    ("size", "found"), [("32K", 1 << 15), ("48K", 3 << 14), ("1M", 0), ("", 0), (None, 0)]
)
def test_first_level_cache(
    size: str | None, found: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "CACHES", tmp_path)
    for number, kind in enumerate(("Instruction", "Data")):
        folder = tmp_path / f"index{number}"
        folder.mkdir()
        (folder / "level").write_text("1\n")
        (folder / "type").write_text(f"{kind}\n")
        if size is not None:
            (folder / "size").write_text(f"{size}\n" if kind == "Data" else "64K\n")
    assert native.cache_bytes.__wrapped__() == found


@pytest.mark.parametrize(
    ("cpuinfo", "ahead"),
    [
        ("processor : 0\nvendor_id : AuthenticAMD\ncpu family : 25\n\nprocessor : 1\n", True),
        ("processor : 0\nvendor_id : AuthenticAMD\ncpu family : 26\n", False),
        ("processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\n", False),
        ("", False),
    ],
)
def test_processors_that_fetch_ahead(
    cpuinfo: str, ahead: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "CPUINFO", tmp_path / "cpuinfo")
    (tmp_path / "cpuinfo").write_text(cpuinfo)
    monkeypatch.setattr(native, "processor", native.processor.__wrapped__)
    assert native.fetches_ahead() == ahead
    assert load("host").machine.fetches_ahead == ahead
    assert ("-DCCG_FETCHES_AHEAD=1" in load("host").compile_flags(strict=False)) == ahead
