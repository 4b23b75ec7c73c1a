"""LiteRT with XNNPACK on TFLite models with constant weights."""

from __future__ import annotations

import importlib.metadata
import re
import time
from typing import Any

from tests.benchmarks import formats
from tests.benchmarks.peers.peer import Job, Prepared


class Peer:
    channels_first = True

    def __init__(self, threads: int) -> None:
        from ai_edge_litert import interpreter

        self._package, self._threads = interpreter, threads
        self.version = importlib.metadata.version("ai-edge-litert")

    def prepare(self, job: Job) -> Prepared:
        path = str(job.folder / "model.tflite")
        given = formats.channels_first(job.workload, formats.inputs(job.folder))
        start = time.perf_counter()
        model = self._package.Interpreter(model_path=path, num_threads=self._threads)
        model.allocate_tensors()
        for place, detail in enumerate(model.get_input_details()):
            named = re.search(r"args_(\d+)", detail["name"])
            model.set_tensor(detail["index"], given[int(named[1]) if named else place])
        model.invoke()  # packs the weights
        seconds = time.perf_counter() - start
        indices = [detail["index"] for detail in model.get_output_details()]

        def results() -> list[Any]:
            model.invoke()
            return [model.get_tensor(index) for index in indices]

        return Prepared(call=model.invoke, results=results, compiled=seconds)
