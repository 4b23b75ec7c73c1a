"""The command line: `ccodegen COMMAND …`.

Exit codes: 0 done; 1 the input is wrong or not supported; 2 the command line is wrong; 3 `verify`
found a difference; 70 a bug of ours.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from ccodegen.commands import common, demo, export, inspect, ops, reduce, run, targets, tune, verify
from ccodegen.commands import compile as compile_command
from ccodegen.support.decisions import debug_level
from ccodegen.support.errors import CcodegenError, InternalError
from ccodegen.support.version import VERSION

COMMANDS = (compile_command, run, export, verify, tune, reduce, inspect, targets, ops, demo)

TEXT = """\
Compiles array programs (HLO, StableHLO, JAX) to portable C99.

  ccodegen demo                      a tour in a few seconds
  ccodegen run model.hlo             compile for this machine and run
  ccodegen export model.hlo          C files for a microcontroller
"""
_EXITS = """\
exit codes: 0 done, 1 wrong or unsupported input, 2 wrong command line, 3 verify found a
difference, 70 a bug in ccodegen. CCODEGEN_DEBUG=1 verifies every pass and shows tracebacks; 2 also
tells what was fused, laid out and shared, and why.
"""
INPUT_ERROR, BUG, INTERRUPTED = 1, 70, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit code."""
    args = _parser().parse_args(arguments)
    try:
        common.load_plugins(getattr(args, "plugin", ()))
        return int(args.main(args))
    except InternalError as error:
        return _bug(error)
    except CcodegenError as error:
        print(error, file=sys.stderr)
        return INPUT_ERROR
    except MemoryError as error:
        print(f"error: not enough memory: {error}", file=sys.stderr)
        return INPUT_ERROR
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        failure = common.failure_of_plugin(error, getattr(args, "plugin", ()))
        if failure is not None:
            print(failure, file=sys.stderr)
            return INPUT_ERROR
        return _bug(InternalError(f"{type(error).__name__}: {error}"), error)


def _bug(shown: InternalError, error: Exception | None = None) -> int:
    if debug_level() > 0:
        raise error or shown
    print(shown, file=sys.stderr)
    return BUG


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ccodegen",
        description=TEXT,
        epilog=_EXITS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=VERSION)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
