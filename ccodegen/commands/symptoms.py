"""What is wrong with a program, as `reduce` asks again and again: found in a process of its own, so
that crashes and hangs are answers, too."""

from __future__ import annotations

import multiprocessing
import shlex
import subprocess
import tempfile
import traceback
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeAlias

from ccodegen.backend.build import build
from ccodegen.backend.options import BuildOptions
from ccodegen.commands.run import call
from ccodegen.frontends._jaxlib import run_hlo
from ccodegen.hlo.evaluate import evaluate, value_leaves
from ccodegen.hlo.ir import Module
from ccodegen.ops.custom_call import with_hosts
from ccodegen.random_inputs import random_inputs
from ccodegen.special_inputs import special_inputs
from ccodegen.support.element_type import from_dtype
from ccodegen.support.errors import CcodegenError, InputError, InternalError
from ccodegen.support.hooks import NO_IO
from ccodegen.tolerance import compare, tolerance

# "" for a program without fault, else what tells one fault from another.
Symptom: TypeAlias = Callable[[Module], str]
_SEEDS = 3


def symptom_of(check: str, options: BuildOptions, seconds: float) -> Symptom:
    """`check`: differs, crashes, xla, or a shell command. Raises InputError for anything else."""
    inner: dict[str, Callable[[Module, BuildOptions], str]] = {
        "differs": _differs,
        "crashes": _crashes,
        "xla": _differs_from_xla,
    }
    if check not in inner and "{}" not in check:
        hint = f"one of {', '.join(inner)}, or a shell command in which {{}} stands for a file"
        raise InputError(f"--check '{check}' says nothing of the program", hint=hint)
    if check not in inner:
        return lambda module: _by_command(check, module, seconds)
    return lambda module: _apart(inner[check], module, options, seconds)


def _by_command(command: str, module: Module, seconds: float) -> str:
    """Exit status 0 means that the program still shows the fault."""
    with tempfile.TemporaryDirectory(prefix="ccodegen-") as folder:
        path = Path(folder) / "module.hlo"
        path.write_text(module.to_text(), encoding="utf-8")
        filled = command.replace("{}", shlex.quote(str(path)))
        try:
            done = subprocess.run(filled, shell=True, capture_output=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            return ""
    return "" if done.returncode else "fault"


def _apart(
    check: Callable[[Module, BuildOptions], str],
    module: Module,
    options: BuildOptions,
    seconds: float,
) -> str:
    context = multiprocessing.get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(check, module, options, sending))
    process.start()
    sending.close()
    try:
        return str(receiving.recv()) if receiving.poll(seconds) else "hangs"
    except EOFError:
        process.join()
        return f"ends with code {process.exitcode}"
    finally:
        process.kill()
        process.join()


def _child(
    check: Callable[[Module, BuildOptions], str],
    module: Module,
    options: BuildOptions,
    sending: Connection,
) -> None:
    try:
        answer = check(module, options)
    except InternalError as error:
        answer = _place(error)
    except CcodegenError:
        answer = ""
    except Exception as error:
        answer = _place(error)
    sending.send(answer)


def _place(error: BaseException) -> str:
    """The kind of an error and where it came up: the same fault has the same one."""
    first: BaseException = error
    while first.__cause__ is not None:
        first = first.__cause__
    frame = traceback.extract_tb(first.__traceback__)[-1]
    return f"{type(first).__name__} in {Path(frame.filename).name}:{frame.lineno}"


def _crashes(module: Module, options: BuildOptions) -> str:
    program = build(module, options).program
    for inputs in _inputs(module):
        call(program, options, inputs)
    return ""


def _differs(module: Module, options: BuildOptions) -> str:
    program = build(module, options).program
    for inputs in _inputs(module):
        if not _agree(call(program, options, inputs), _evaluated(module, inputs), options.strict):
            return "differs"
    return ""


def _differs_from_xla(module: Module, options: BuildOptions) -> str:
    """On ordinary inputs alone: what XLA makes of others is not always HLO's."""
    inputs = random_inputs(module)
    found = run_hlo(module.to_text(), inputs)
    return "" if _agree(found, _evaluated(module, inputs), strict=False) else "differs"


def _inputs(module: Module) -> Sequence[list[Any]]:
    ordinary = [random_inputs(module, seed) for seed in range(_SEEDS)]
    return [*ordinary, *(special_inputs(module, seed) for seed in range(_SEEDS))]


def _evaluated(module: Module, inputs: Sequence[Any]) -> list[Any]:
    results = evaluate(module, *inputs, io=with_hosts(NO_IO))
    return [v for v in value_leaves(results) if v is not None]


def _agree(found: Sequence[Any], expected: Sequence[Any], strict: bool) -> bool:
    return all(
        compare(f, e, tolerance(from_dtype(e.dtype), strict)).passed
        for f, e in zip(found, expected, strict=True)
    )
