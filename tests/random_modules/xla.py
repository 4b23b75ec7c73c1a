"""The evaluator against XLA:CPU, on modules of small integers, which both compute exactly."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from ccodegen.hlo.evaluate import evaluate, value_leaves
from ccodegen.hlo.text import parse
from tests.random_modules.batch import Compilation, Found, Report, Started
from tests.random_modules.trial import Trial
from tests.random_modules.values import Array, arguments
from tests.three_ways import assert_close


def run(trials: Sequence[Trial], compilation: Compilation, report: Report) -> None:
    """Reports where they differ; `refused` where XLA does not take the module."""
    for trial in trials:
        report(Started(trial))
        text = trial.text()
        module = parse(text)
        given = arguments(module, trial.seed, exact=True)
        expected = list(value_leaves(evaluate(module, *given)))
        try:
            got = execute(text, given)
        except Exception as error:
            report(Found(trial, str(error), refused=True))
            continue
        try:
            for number, (e, g) in enumerate(zip(expected, got, strict=True)):
                assert_close(e, g, f"XLA, output {number}")
        except Exception as error:
            report(Found(trial, str(error)))


def execute(text: str, given: Sequence[Array]) -> list[Array]:
    """The results of HLO text on XLA:CPU. Raises XlaRuntimeError for what it does not take."""
    import jax

    hlo: Any = importlib.import_module("jaxlib._hlo")
    lib: Any = importlib.import_module("jaxlib._jax")
    client: Any = importlib.import_module("jax.extend.backend").get_backend("cpu")
    devices = client.local_devices()[:1]
    proto = hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    program = lib.mlir.hlo_to_stablehlo(proto)
    executable = client.compile_and_load(program, lib.DeviceList(tuple(devices)))
    with jax.enable_x64(True):
        placed = [jax.device_put(a, devices[0]) for a in given]
    return [np.asarray(result) for result in executable.execute(placed)]
