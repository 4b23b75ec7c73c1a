"""What several commands share: the options of a program, arrays in files, what goes to stderr."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import runpy
import sys
import traceback
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from rich.console import Console

from ccodegen.backend.build import Build, build, build_optimized
from ccodegen.backend.options import BuildOptions, Parameter, with_threads
from ccodegen.frontends.read import read
from ccodegen.loop import text as loop_text
from ccodegen.loop.ir import Program
from ccodegen.support.errors import CcodegenError, InputError
from ccodegen.target import load

Array = np.ndarray[Any, Any]
Subparsers = Any  # argparse's types of these two are private
Group = Any

STARTS = ("hlo", "optimized", "loop")
_WIDE = 160
MISMATCH = 3  # exit code of verify


def new_parser(commands: Subparsers, name: str, summary: str, text: str) -> argparse.ArgumentParser:
    """A command's parser. `text`: what it does, then examples, as --help shows them."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=text,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser


def add_program(parser: argparse.ArgumentParser, target: str = "host") -> None:
    """The program, the target, and how it is compiled."""
    parser.add_argument(
        "program", help="HLO text or proto, StableHLO text or bytecode, or a saved jax.export"
    )
    group = parser.add_argument_group("how it is compiled")
    group.add_argument(
        "--target",
        default=target,
        help="name of a target (see `ccodegen targets`) or path of a .toml file;"
        " default: %(default)s",
    )
    _add_parameters(group)
    group.add_argument(
        "--strict", action="store_true", help="the reference's bits, at the price of speed"
    )
    group.add_argument(
        "--threads", type=_count, default=1, metavar="N", help="most threads of a call; default: 1"
    )
    group.add_argument(
        "--plugin",
        action="append",
        default=[],
        metavar="MODULE",
        help="import this Python module, or .py file, first: it registers custom calls; may be"
        " repeated",
    )
    group.add_argument(
        "--dump-dir", type=Path, metavar="DIR", help="write the program after each pass there"
    )


def _add_parameters(group: Group) -> None:
    group.add_argument(
        "--constant",
        action="append",
        default=[],
        metavar="PARAM=FILE.npy",
        help="bind a parameter, by name or number, to an array; may be repeated",
    )
    group.add_argument(
        "--constants",
        metavar="FILE.npz",
        help="bind the parameters that the arrays in the file are named after",
    )
    group.add_argument(
        "--donate",
        action="append",
        default=[],
        metavar="PARAM",
        help="update this parameter in place: an output of the same shape and type takes its"
        " memory; may be repeated",
    )


def load_plugins(names: Sequence[str]) -> None:
    """Imports modules by name or path. Raises InputError where that fails."""
    for name in names:
        try:
            if name.endswith(".py"):
                runpy.run_path(name)
            else:
                importlib.import_module(name)
        except CcodegenError:
            raise
        except (Exception, SystemExit) as error:
            reason = f"{type(error).__name__}: {error}{_place(error, name)}"
            raise InputError(f"cannot import the plugin '{name}': {reason}") from error


def failure_of_plugin(error: Exception, names: Sequence[str]) -> InputError | None:
    """What came up in a function of a plugin, such as a custom call's on the host."""
    for name in names:
        place = _place(error, name)
        if place:
            return InputError(f"the plugin '{name}' failed: {type(error).__name__}: {error}{place}")
    return None


def _place(error: BaseException, name: str) -> str:
    """The last line of the plugin that was run."""
    file = name if name.endswith(".py") else getattr(sys.modules.get(name), "__file__", "")
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == file]
    return f" (line {lines[-1]})" if lines else ""


def add_start(parser: argparse.ArgumentParser, stages: Sequence[str] = STARTS) -> None:
    """`stages`: those that the command can begin with."""
    parser.add_argument(
        "--start-from",
        choices=stages,
        default="hlo",
        help="the stage that PROGRAM is in, as `compile --stop-after` prints it; hlo (default):"
        " any program",
    )


def add_inputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="FILE",
        help="an .npz with arrays in0, in1, … or one .npy per parameter, repeated; default:"
        " random arrays",
    )
    parser.add_argument("--seed", type=_natural, default=0, help="of the random arrays; default: 0")


def options_of(args: argparse.Namespace) -> BuildOptions:
    constants = dict(map(_named_array, args.constant))
    if args.constants:
        constants |= {_parameter(k): v for k, v in load_npz(args.constants).items()}
    donate = tuple(map(_parameter, args.donate))
    target = with_threads(load(args.target), args.threads)
    if args.dump_dir:
        _make_folder(args.dump_dir)
    return BuildOptions(target, constants, donate, args.strict, args.dump_dir)


def build_from(path: str, start: str, options: BuildOptions) -> Build:
    """The program at all stages from HLO on, where the file is HLO."""
    with progress(f"compiling {path}"):
        module = read(Path(path))
        return build(module, options) if start == "hlo" else build_optimized(module, options)


def program_from(path: str, start: str, options: BuildOptions) -> Program:
    if start != "loop":
        return build_from(path, start, options).program
    if options.constants or options.donate or options.dump_dir:
        raise InputError("--constant, --donate and --dump-dir need a program in HLO")
    try:
        return loop_text.parse(Path(path).read_text(encoding="utf-8"), path)
    except (OSError, UnicodeDecodeError) as error:
        _unreadable(path, error)


def inputs_from(files: Sequence[str]) -> list[Array] | None:
    """The arrays of .npz files (in0, in1, …) and .npy files, in that order; None for no files."""
    if not files:
        return None
    arrays: list[Array] = []
    for file in files:
        if file.endswith(".npz"):
            named = load_npz(file)
            arrays += _numbered(file, named)
        else:
            arrays.append(load_npy(file))
    return arrays


def load_npy(path: str) -> Array:
    loaded = _load(path)
    if isinstance(loaded, dict):
        raise InputError(f"{path} holds several arrays: it should be named .npz")
    return loaded


def load_npz(path: str) -> dict[str, Array]:
    loaded = _load(path)
    if not isinstance(loaded, dict):
        raise InputError(f"{path} holds one array: it should be named .npy")
    return loaded


def _load(path: str) -> Array | dict[str, Array]:
    """The array of an .npy file, or those of an .npz file by name."""
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        with loaded:
            return dict(loaded)
    except OSError as error:
        _unreadable(path, error)
    except (ValueError, EOFError, zipfile.BadZipFile):
        # NumPy takes anything else for a pickle, which we never load.
        hint = "numpy.save and numpy.savez write such files, of arrays that hold no objects"
        raise InputError(f"{path} is no whole .npy or .npz file of NumPy", hint=hint) from None


def printer() -> Console:
    """Prints to stdout, tables as wide as they need where that is no terminal."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=_WIDE)


@contextlib.contextmanager
def progress(what: str) -> Iterator[None]:
    """Says on a terminal's stderr what is going on, as long as it goes on."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield


def bytes_text(count: int) -> str:
    """A size for people: 512 B, 13.4 KB, 2.10 MB, with 1 KB = 1024 B."""
    if count < 1024:
        return f"{count} B"
    kilobytes = count / 1024
    return f"{kilobytes:.1f} KB" if kilobytes < 1024 else f"{kilobytes / 1024:.2f} MB"


def _natural(text: str) -> int:
    return _at_least(0, text)


def _count(text: str) -> int:
    return _at_least(1, text)


def _at_least(least: int, text: str) -> int:
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"expected an integer of at least {least}, got '{text}'")
    return int(text)


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write the folder '{path}': {error.strerror}") from None


def _numbered(file: str, named: dict[str, Array]) -> list[Array]:
    names = [f"in{n}" for n in range(len(named))]
    if set(names) != set(named):
        found = ", ".join(sorted(named)[:8])
        raise InputError(f"{file}: the arrays must be named in0, in1, …; found {found}")
    return [named[name] for name in names]


def _named_array(text: str) -> tuple[Parameter, Array]:
    name, equals, file = text.partition("=")
    if not equals:
        raise InputError(f"--constant {text}: expected PARAM=FILE.npy")
    return _parameter(name), load_npy(file)


def _parameter(name: str) -> Parameter:
    return int(name) if name.isdigit() else name


def _unreadable(path: str, error: Exception) -> NoReturn:
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    raise InputError(f"cannot read '{path}': {reason}") from None
