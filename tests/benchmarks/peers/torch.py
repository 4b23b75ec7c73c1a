"""PyTorch, eager."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from tests.benchmarks import formats
from tests.benchmarks.peers.peer import Job, Prepared, flat
from tests.benchmarks.workload import Array


class Peer:
    channels_first = True

    def __init__(self, threads: int) -> None:
        import torch

        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)
        self._torch, self.version = torch, torch.__version__

    def prepare(self, job: Job) -> Prepared:
        inputs = formats.torch_inputs(job.workload, job.folder)
        module = formats.torch_module(job.workload, job.folder, self.functions())
        start = time.perf_counter()
        function = self.compiled(module)
        function(*inputs)
        seconds = time.perf_counter() - start
        return Prepared(
            call=lambda: function(*inputs),
            results=lambda: [self._array(t) for t in flat(function(*inputs))],
            compiled=seconds,
        )

    def functions(self) -> Any:
        """The binding of the array functions; None for the usual one."""
        return None

    def compiled(self, module: Any) -> Callable[..., Any]:
        return module  # type: ignore[no-any-return]

    def _array(self, tensor: Any) -> Array:
        is_bf16 = tensor.dtype == self._torch.bfloat16
        return (tensor.float() if is_bf16 else tensor).numpy()  # type: ignore[no-any-return]
