"""PyTorch's compiler, with weights frozen to constants. Slow to compile."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any

from tests.benchmarks.functions import TorchFunctions
from tests.benchmarks.peers import torch as eager
from tests.benchmarks.peers.peer import Job, Prepared

_TOGETHER = 4  # turns of a loop in one compiled function, which would unroll all of them


class Peer(eager.Peer):
    def __init__(self, threads: int) -> None:
        os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"
        os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
        super().__init__(threads)
        import torch._inductor.config as config

        config.freezing = True

    def prepare(self, job: Job) -> Prepared:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.mkdtemp(dir=job.scratch)
        self._torch._dynamo.reset()
        return super().prepare(job)

    def functions(self) -> Any:
        return _Functions()

    def compiled(self, module: Any) -> Callable[..., Any]:
        return self._torch.compile(module, dynamic=False)  # type: ignore[no-any-return]


class _Functions(TorchFunctions):
    def __init__(self) -> None:
        super().__init__()
        self._several: dict[int, Callable[[Any], Any]] = {}
        self.repeat = self._torch.compiler.disable(self._repeat)  # type: ignore[method-assign]

    def _repeat(self, turns: int, step: Callable[[Any], Any], x: Any) -> Any:
        once = super().repeat
        if turns not in self._several:
            together = _TOGETHER
            self._several[turns] = self._torch.compile(lambda y: once(together, step, y))
        x = once(turns // _TOGETHER, self._several[turns], x)
        return once(turns % _TOGETHER, step, x)
