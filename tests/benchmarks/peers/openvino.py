"""OpenVINO on ONNX models with constant weights, in f32; inputs and outputs are shared memory."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from tests.benchmarks import formats
from tests.benchmarks.peers.peer import Job, Prepared


class Peer:
    channels_first = True

    def __init__(self, threads: int) -> None:
        import openvino

        self._package, self.version = openvino, openvino.__version__.partition("-")[0]
        self._core = openvino.Core()
        self._settings = {
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": 1,
            "INFERENCE_PRECISION_HINT": "f32",
            "ENABLE_CPU_PINNING": False,
        }

    def prepare(self, job: Job) -> Prepared:
        start = time.perf_counter()
        model = self._core.read_model(job.folder / "model.onnx")
        compiled = self._core.compile_model(model, "CPU", self._settings)
        seconds = time.perf_counter() - start
        request = compiled.create_infer_request()
        given = formats.channels_first(job.workload, formats.inputs(job.folder))
        shared = [np.array(array) for array in given]
        for node in compiled.inputs:
            array = shared[int(node.any_name[2:])]
            request.set_tensor(node, self._package.Tensor(array, shared_memory=True))

        def call() -> Any:
            # The request has no reference of its own to the arrays: the call keeps them.
            return request.infer(None, share_inputs=True, share_outputs=True), shared

        def results() -> list[Any]:
            call()
            count = len(compiled.outputs)
            return [np.array(request.get_output_tensor(n).data) for n in range(count)]

        return Prepared(call, results, seconds)
