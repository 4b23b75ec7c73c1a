"""NumPy and SciPy, where they have one function that does it."""

from __future__ import annotations

import contextlib

import numpy as np

from tests.benchmarks import formats
from tests.benchmarks.peers.peer import Job, NotOfferedError, Prepared, flat


class Peer:
    channels_first = False

    def __init__(self, threads: int) -> None:
        self.version = np.__version__
        with contextlib.suppress(ImportError):  # SciPy is for a few workloads only
            import scipy.fft

            self._workers = scipy.fft.set_workers(threads)
            self._workers.__enter__()  # for the life of the process

    def prepare(self, job: Job) -> Prepared:
        function = job.workload.numpy
        if function is None:
            raise NotOfferedError("no such function")
        given = [np.array(array) for array in formats.arguments(job.folder)]
        return Prepared(
            call=lambda: function(*given),
            results=lambda: flat(function(*given)),
            compiled=0.0,
        )
