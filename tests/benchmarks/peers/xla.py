"""XLA:CPU, by JAX. Weights are arguments that are on the device already."""

from __future__ import annotations

import os
import time

import numpy as np

from tests.benchmarks import formats
from tests.benchmarks.peers.peer import Job, Prepared, flat


class Peer:
    channels_first = False

    def __init__(self, threads: int) -> None:
        os.environ["JAX_PLATFORMS"] = "cpu"
        os.environ["PJRT_NPROC"] = os.environ["NPROC"] = str(threads)
        if threads == 1:
            flags = os.environ.get("XLA_FLAGS", "")
            os.environ["XLA_FLAGS"] = f"{flags} --xla_cpu_multi_thread_eigen=false"
        import jax

        self._jax, self.version = jax, jax.__version__

    def prepare(self, job: Job) -> Prepared:
        jax = self._jax
        arguments = [jax.device_put(np.array(a)) for a in formats.arguments(job.folder)]
        lowered = formats.lower(job.workload, arguments)
        start = time.perf_counter()
        compiled = lowered.compile()
        seconds = time.perf_counter() - start
        return Prepared(
            call=lambda: jax.block_until_ready(compiled(*arguments)),
            results=lambda: [np.asarray(a) for a in flat(compiled(*arguments))],
            compiled=seconds,
        )
