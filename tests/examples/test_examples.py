"""The examples do what their READMEs say."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ccodegen
from ccodegen import cli
from ccodegen.commands.demo import MODEL, drawings

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCODEGEN_CACHE_DIR", str(tmp_path))


def script(path: str) -> Any:
    """A script of an example as a module."""
    spec = importlib.util.spec_from_file_location("example", EXAMPLES / path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_digits_are_recognised() -> None:
    with np.load(EXAMPLES / "digits" / "weights.npz") as weights:
        classify = ccodegen.compile(EXAMPLES / "digits" / "digits.hlo", constants=dict(weights))
    seven = np.load(EXAMPLES / "digits" / "seven.npy")
    assert int(np.argmax(classify(seven))) == 7


def test_demo_recognises_its_drawings() -> None:
    classify = ccodegen.compile(MODEL)
    assert [int(np.argmax(classify(image))) for image in drawings()] == [2, 4, 7, 0]


@pytest.mark.parametrize("target", ["x86-64", "cortex-m4"])
def test_loss_falls_on_the_device(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    if target == "cortex-m4" and not (
        shutil.which("arm-none-eabi-gcc") and shutil.which("qemu-system-arm")
    ):
        pytest.skip("no Arm compiler or emulator")
    assert script("learning_on_device/run.py").main(target) == 0
    losses = [float(line.split()[-1]) for line in capsys.readouterr().out.splitlines()]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.01


def test_filter_takes_the_noise_away(capsys: pytest.CaptureFixture[str]) -> None:
    script("filter/run.py").main()
    noisy, filtered = (float(line.split()[-1]) for line in capsys.readouterr().out.splitlines())
    assert filtered < noisy / 2


def test_filter_is_a_convolution_over_all_blocks() -> None:
    fir = ccodegen.compile(EXAMPLES / "filter" / "fir.hlo")
    impulse = np.zeros(128, np.float32)
    impulse[0] = 1
    state = np.zeros(15, np.float32)
    response = np.concatenate([fir(state, block)[1] for block in impulse.reshape(2, 64)])
    assert response[:16].sum() == pytest.approx(1, abs=0.01)
    assert not response[16:].any()


def test_decoding_with_a_cache_is_attention() -> None:
    assert script("kv_cache/run.py").main() < 1e-5


@pytest.mark.usefixtures("own_targets")
def test_custom_calls_are_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script("custom_call/run.py").main(tmp_path / "firmware")
    printed = capsys.readouterr().out
    readme = (EXAMPLES / "custom_call" / "README.md").read_text()
    levels = [line for line in printed.splitlines() if line.startswith("level")]
    assert len(levels) == 4 and "\n".join(levels) in readme
    assert (tmp_path / "firmware" / "runtime" / "biquad.h").is_file()


@pytest.mark.usefixtures("own_targets")
def test_a_plugin_registers_on_the_command_line(tmp_path: Path) -> None:
    folder = EXAMPLES / "custom_call"
    command = ["export", str(folder / "program.hlo"), "-o", str(tmp_path / "out")]
    assert cli.main(command) == cli.INPUT_ERROR
    assert cli.main([*command, "--plugin", str(folder / "plugin.py")]) == 0
    assert cli.main([*command, "--plugin", "no.such.module"]) == cli.INPUT_ERROR
