"""The functions of every kind of type give the evaluator's results in strict mode on processors
without the hardware for them: a Cortex-M4 has no f64 and no f16, neither has C a name for those."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from ccodegen.hlo.opdef import get
from ccodegen.loop import operators
from ccodegen.ops.elementwise import MATH_FUNCTIONS
from ccodegen.package import export
from ccodegen.support.element_type import HLO_TYPES, ElementType

BINARY = "add multiply divide remainder power atan2"
TYPES = ("f16", "bf16", "f32", "f64", "f8e4m3fn", "c64", "c128")
NOTABLE = (0.0, -0.0, 1.0, -1.0, 0.5, -0.75, 1e-40, -3e-320, 1e30, np.inf, -np.inf, np.nan)
COUNT = 24


def program() -> str:
    """Every function over each type."""
    lines = [f"x{t} = {t}[{COUNT}] parameter({n})" for n, t in enumerate(TYPES)]
    names = []
    for t in TYPES:
        for op in (*MATH_FUNCTIONS.split(), *BINARY.split()):
            arity = get(op).arity[0]
            if operators.check(op, (HLO_TYPES[t],) * arity, HLO_TYPES[t]) == "":
                names.append(f"{t}_{op}")
                shifted = f"reverse(x{t}), dimensions={{0}}"
                lines.append(f"y{names[-1]} = {shifted}" if arity == 2 else "")
                operands = f"x{t}, y{names[-1]}" if arity == 2 else f"x{t}"
                lines.append(f"{names[-1]} = {op}({operands})")
    body = "\n".join([*filter(None, lines), f"ROOT r = tuple({', '.join(names)})"])
    return f"HloModule math\nENTRY e {{\n{body}\n}}\n"


def values(element_type: ElementType) -> np.ndarray:
    rng = np.random.default_rng(element_type.bits)
    parts = np.stack([np.array(NOTABLE), rng.permutation(NOTABLE)])
    parts = np.concatenate([parts, 3 * rng.normal(size=(2, COUNT - len(NOTABLE)))], axis=1)
    with np.errstate(all="ignore"):
        if element_type.is_complex:
            return (parts[0] + 1j * parts[1]).astype(element_type.dtype)
        return parts[0].astype(element_type.dtype)


@pytest.mark.parametrize(
    ("target", "tools"),
    [
        ("x86-64", ("gcc",)),
        ("arm64", ("aarch64-linux-gnu-gcc", "qemu-aarch64")),
        ("cortex-m4", ("arm-none-eabi-gcc", "qemu-system-arm")),
    ],
)
def test_strict_results_are_the_evaluators(
    target: str, tools: tuple[str, ...], tmp_path: Path
) -> None:
    missing = [tool for tool in (*tools, "make") if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")
    source = tmp_path / "math.hlo"
    source.write_text(program())
    inputs = [values(HLO_TYPES[t]) for t in TYPES]
    export(source, target, "functions", tmp_path / "out", strict=True, inputs=inputs)
    done = subprocess.run(
        ["make", "-s", "-C", str(tmp_path / "out"), "test"], capture_output=True, text=True
    )
    wrong = [line for line in done.stdout.splitlines() if "wrong" in line]
    assert done.stdout.endswith("PASS\n"), (wrong, done.stdout[-500:], done.stderr[-2000:])
