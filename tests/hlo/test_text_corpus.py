"""HLO text of the corpus: parse, print, parse again to the same text; jaxlib reads the same."""

from __future__ import annotations

from pathlib import Path

import pytest

import ccodegen.ops  # noqa: F401  (fills the registry)
from ccodegen.hlo.ir import Module
from ccodegen.hlo.shape import shape_text
from ccodegen.hlo.text import parse, to_text
from ccodegen.support.errors import CcodegenError
from tests.shared import corpus_dir

# XLA printed these, and its own parser refuses them.
REFUSED = {
    "xla_hlo_tools_comparison_original_tensor_summary_calculator_test.cc.28.hlo": "called first",
    "xla_hlo_tools_comparison_original_tensor_summary_calculator_test.cc.29.hlo": "called first",
    "xla_service_hlo_verifier_test.cc.52.hlo": "abs-start without the operand of abs",
    "xla_service_hlo_verifier_test.cc.76.hlo": "parameter-start: sugar cannot say this",
    "xla_service_hlo_verifier_test.cc.77.hlo": "parameter-start: sugar cannot say this",
}


def files(suite: str) -> list[Path]:
    return sorted((corpus_dir() / suite).glob("*.hlo"))


def failure(path: Path) -> str:
    """Why the file does not survive the round trip; empty where it does."""
    try:
        printed = to_text(parse(path.read_text(), path.name))
        return "" if to_text(parse(printed)) == printed else f"{path.name}: differs"
    except CcodegenError as error:
        return str(error)


@pytest.mark.parametrize(
    "suite",
    [
        "xla_parse",
        "xla_run",
        "stablehlo_testdata",
        "stablehlo_testdata_quantized",
        "stablehlo_interpret",
        "stablehlo_interpret_chlo",
        "stablehlo_math",
    ],
)
def test_round_trip(suite: str) -> None:
    failures = [failure(path) for path in files(suite) if path.name not in REFUSED]
    assert not [text for text in failures if text]


def outline(module: Module) -> list[tuple[str, str]]:
    """Opcode and shape of every instruction, sorted."""
    return sorted(
        (i.op, shape_text(i.shape, layouts=False))
        for computation in module.computations
        for i in computation.instructions
    )


def test_jaxlib_reads_what_we_print_as_what_we_read() -> None:
    hlo = pytest.importorskip("jaxlib._hlo")
    compared = 0
    for path in files("stablehlo_testdata")[::20] + files("xla_run")[::10]:
        module = parse(path.read_text(), path.name)
        theirs = hlo.hlo_module_from_text(to_text(module)).to_string()
        if "{...}" not in theirs:
            assert outline(parse(theirs)) == outline(module), path.name
            compared += 1
    assert compared > 50
