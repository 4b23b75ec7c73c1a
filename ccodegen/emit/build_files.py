"""Prints what builds a package: a Makefile and a CMakeLists.txt that compile for its target."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from ccodegen.emit.render import render
from ccodegen.support.immutable import immutable
from ccodegen.support.version import VERSION
from ccodegen.target import Target

WARNINGS = "-pedantic -Wall -Wextra -Wconversion -Wshadow -Wmissing-prototypes"


@immutable
class _BuildView:
    """`sources` and `tests`: C files without their endings; no tests: none are built."""

    prefix: str
    target: str
    version: str
    compiler: str
    cross: bool
    flags: str
    warnings: str
    link_flags: str
    run: str
    sources: tuple[str, ...]
    tests: tuple[str, ...]
    flag_list: tuple[str, ...]
    cmake_link_list: tuple[str, ...]
    cmake_run_list: tuple[str, ...]


def print_build_files(
    target: Target, prefix: str, files: Sequence[str], strict: bool
) -> Mapping[str, str]:
    """Makefile and CMakeLists.txt for a package of these files, paths within it."""
    flags = target.compile_flags(strict)
    script = target.board.linker_script.rpartition("/")[2]
    link = [*(["-T", f"test/{script}"] if script else []), *target.compiler.link_flags]
    in_source = [word.replace("test/", "${CMAKE_CURRENT_SOURCE_DIR}/test/") for word in link]
    view = _BuildView(
        prefix=prefix,
        target=target.name,
        version=VERSION,
        compiler=target.compiler.commands[0],
        cross=bool(target.board.startup),
        flags=shlex.join(flags),
        warnings=WARNINGS,
        link_flags=shlex.join(link),
        run=shlex.join(_run_command(target, f"build/{prefix}_test")),
        sources=_stems(files, "src/"),
        tests=_stems(files, "test/"),
        flag_list=flags,
        cmake_link_list=tuple(in_source),
        cmake_run_list=_run_command(target, f"$<TARGET_FILE:{prefix}_test>"),
    )
    templates = {"Makefile": "Makefile.j2", "CMakeLists.txt": "CMakeLists.txt.j2"}
    return {name: render(template, view) for name, template in templates.items()}


def _stems(files: Sequence[str], folder: str) -> tuple[str, ...]:
    inside = (file for file in files if file.startswith(folder) and file.endswith(".c"))
    return tuple(sorted(file.removeprefix(folder).removesuffix(".c") for file in inside))


def _run_command(target: Target, program: str) -> tuple[str, ...]:
    return tuple(word.replace("{program}", program) for word in target.runner.command)
