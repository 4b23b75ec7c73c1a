"""ONNX Runtime on ONNX models with constant weights."""

from __future__ import annotations

import time

from tests.benchmarks import formats
from tests.benchmarks.peers.peer import Job, Prepared


class Peer:
    channels_first = True

    def __init__(self, threads: int) -> None:
        import onnxruntime

        self._package, self.version = onnxruntime, onnxruntime.__version__
        self._options = onnxruntime.SessionOptions()
        self._options.intra_op_num_threads = threads
        self._options.inter_op_num_threads = 1

    def prepare(self, job: Job) -> Prepared:
        path, providers = str(job.folder / "model.onnx"), ["CPUExecutionProvider"]
        start = time.perf_counter()
        session = self._package.InferenceSession(path, self._options, providers=providers)
        seconds = time.perf_counter() - start
        given = formats.channels_first(job.workload, formats.inputs(job.folder))
        feeds = {node.name: given[int(node.name[2:])] for node in session.get_inputs()}
        return Prepared(
            call=lambda: session.run(None, feeds),
            results=lambda: session.run(None, feeds),
            compiled=seconds,
        )
