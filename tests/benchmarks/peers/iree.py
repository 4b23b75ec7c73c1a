"""IREE on StableHLO. Weights are arguments that are on the device already."""

from __future__ import annotations

import importlib.metadata
import time

import numpy as np

from tests.benchmarks import formats
from tests.benchmarks.peers.peer import Job, Prepared, flat

_FLAGS = [
    "--iree-llvmcpu-target-cpu=host",
    "--iree-opt-level=O3",
    "--iree-opt-data-tiling=true",
]


class Peer:
    channels_first = False

    def __init__(self, threads: int) -> None:
        from iree import compiler, runtime

        self._compiler, self._runtime = compiler, runtime
        self.version = importlib.metadata.version("iree-base-compiler")
        if threads > 1:
            runtime.flags.parse_flags(f"--task_topology_group_count={threads}")
        self._config = runtime.Config("local-sync" if threads == 1 else "local-task")

    def prepare(self, job: Job) -> Prepared:
        runtime, source = self._runtime, (job.folder / "program.mlir").read_text(encoding="utf-8")
        start = time.perf_counter()
        binary = self._compiler.compile_str(
            source, input_type="stablehlo", target_backends=["llvm-cpu"], extra_args=_FLAGS
        )
        context = runtime.SystemContext(config=self._config)
        module = runtime.VmModule.copy_buffer(context.instance, binary)
        context.add_vm_module(module)
        seconds = time.perf_counter() - start
        function = context.modules[module.name]["main"]
        given = [np.array(array) for array in formats.arguments(job.folder)]
        placed = [runtime.asdevicearray(self._config.device, array) for array in given]
        return Prepared(
            call=lambda: function(*placed),
            results=lambda: [array.to_host() for array in flat(function(*placed))],
            compiled=seconds,
        )
