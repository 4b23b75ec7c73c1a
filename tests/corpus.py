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

# Cases whose expected values are not HLO's, or that are none of its programs.
KNOWN = {
    "xla_run/xla_tests_reduce_test.cc.2": "XLA:CPU adds an init that is not neutral 33 times",
    "xla_run/xla_backends_cpu_codegen_tiled_tests_elementwise_complex_divide.hlo.0": (
        "XLA:CPU recovers infinities of a quotient as C99's annex G does"
    ),
    "xla_run/xla_tools_tests_hlo_extractor_test.hlo.0": "draws random bits, unused, of a state f32",
}


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
