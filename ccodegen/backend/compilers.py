"""Which C compiler a target takes, and what its code is for."""

from __future__ import annotations

import os
import shlex
import shutil

from ccodegen.support.errors import InputError
from ccodegen.support.immutable import frozen
from ccodegen.target import Target, native


@frozen
class CompilerCommand:
    """A compiler that is installed: the words of its command line."""

    words: tuple[str, ...]

    @property
    def stamp(self) -> str:
        """Changes when another compiler is installed under the same name; had without running it.
        Empty where the file is gone."""
        path = shutil.which(self.words[0])
        if path is None:
            return ""
        facts = os.stat(path)
        found = f"{os.path.realpath(path)} {facts.st_size} {facts.st_mtime_ns}"
        return f"{shlex.join(self.words)} {found}"


def find_compiler(target: Target) -> CompilerCommand:
    """The target's compiler: $CC where the target allows it, else the first one installed.

    Raises InputError that says what to install.
    """
    chosen = shlex.split(os.environ.get("CC", "")) if target.compiler.environment else []
    if chosen and shutil.which(chosen[0]) is None:
        raise InputError(f"the compiler in CC is not installed: {chosen[0]}")
    for words in [chosen, *([command] for command in target.compiler.commands)]:
        if words and shutil.which(words[0]):
            return CompilerCommand(tuple(words))
    names = " or ".join(target.compiler.commands)
    hint = f"install it: {target.compiler.install}" if target.compiler.install else ""
    raise InputError(f"target {target.name} needs the C compiler {names}", hint=hint)


def machine(target: Target) -> str:
    """This machine, where the target's code is for no other."""
    return native.identity() if "-march=native" in target.compiler.flags else ""
