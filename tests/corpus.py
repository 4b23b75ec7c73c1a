"""The runnable cases of the corpus: a module, its inputs, and what must come out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from tests.shared import corpus_dir

Array = np.ndarray[Any, Any]

SUITES = (
    "stablehlo_testdata",
    "stablehlo_interpret",
    "stablehlo_interpret_chlo",
    "stablehlo_math",
    "stablehlo_testdata_quantized",
    "xla_run",
)

# What the compiler has to know by now; of the others any part may be missing.
_LATER_OPS = frozenset(
    {
        "fft", "rng", "rng-get-and-update-state", "custom-call", "ragged-dot", "scaled-dot",
        "reduce-precision", "stochastic-convert",
        "infeed", "outfeed", "send", "recv", "async-start", "async-update",
        "async-done", "all-reduce", "all-gather", "all-to-all", "collective-permute",
        "collective-broadcast", "reduce-scatter", "partition-id", "replica-id", "after-all",
        "add-dependency", "domain", "copy-start", "copy-done", "scan",
    }
)  # fmt: skip
_LISTED_TYPES = frozenset(
    {
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
        "float16", "bfloat16", "float32", "float64", "complex64",
    }
)  # fmt: skip


@dataclass(frozen=True)
class CorpusCase:
    """A line of index.jsonl that has inputs and expected values."""

    folder: Path
    facts: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.facts['suite']}/{self.facts['name']}"

    @property
    def text(self) -> str:
        path = self.folder / str(self.facts["hlo"])
        return path.read_text(encoding="utf-8")

    @property
    def is_listed(self) -> bool:
        """Whether all its ops and types are among those that must work."""
        return _LISTED_TYPES.issuperset(self.facts["dtypes"].values()) and (
            _LATER_OPS.isdisjoint(self.facts["ops"])
        )

    def inputs(self) -> list[Array]:
        return self._arrays("in", self.facts["inputs"])

    def expected(self) -> list[Array]:
        return self._arrays("expected", self.facts["outputs"])

    def expected_like(self, got: Sequence[Array]) -> list[Array]:
        """The expected values. A result of dynamic shape XLA gives in an array of its bound, dense
        from the first byte on: what counts of it by the sizes that we got."""
        expected = self.expected()
        if "set-dimension-size" not in self.facts["ops"] or len(got) != len(expected):
            return expected
        pairs = zip(expected, got, strict=True)
        return [e.reshape(-1)[: g.size].reshape(g.shape) for e, g in pairs]

    def _arrays(self, stem: str, count: int) -> list[Array]:
        """In their own types, which NumPy may have stored as raw integers."""
        found = []
        with np.load(self.folder / self.facts["npz"]) as arrays:
            for number in range(count):
                wanted = self.facts["dtypes"][f"{stem}{number}"]
                dtype = np.dtype(getattr(ml_dtypes, wanted, None) or wanted)
                array = arrays[f"{stem}{number}"]
                found.append(array if array.dtype == dtype else array.view(dtype))
        return found


def runnable_cases(suite: str) -> Iterator[CorpusCase]:
    """All cases of a suite, in the order of the index."""
    corpus = corpus_dir()
    for line in (corpus / "index.jsonl").read_text(encoding="utf-8").splitlines():
        facts = json.loads(line)
        if facts["suite"] == suite and "npz" in facts:
            yield CorpusCase(corpus, facts)
