"""The benchmarks measure, compare and report; no test looks at how fast anything is."""

from __future__ import annotations

import importlib.util
import inspect
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks import __main__ as command
from tests.benchmarks.formats import error_of
from tests.benchmarks.functions import JaxFunctions, TorchFunctions
from tests.benchmarks.limits import Machine
from tests.benchmarks.peers import PEERS
from tests.benchmarks.report import report, seconds
from tests.benchmarks.results import Results, Run, Timing, load
from tests.benchmarks.run import chosen
from tests.benchmarks.worker import largest_error
from tests.benchmarks.workload import Kind, all_workloads, image, plain
from tests.shared import CHECKOUT

TINY = "odd_conv2x2_17_1_1"


def made_up() -> Results:
    run = Run("matmul_64", "contraction", 1, limit=1e-6, bound="f32")
    run.timings = {
        "ccodegen": Timing(2e-6, 2e-6, 2e-6, compiled=0.1, restored=0.01, memory=1 << 20),
        "xla": Timing(wall=8e-6, median=8e-6, processor=8e-6),
        "numpy": Timing(wall=5e-6, median=6e-6, processor=4e-6),
        "torch": Timing(wall=1e-6, median=1e-6, processor=1e-6, error=0.5, wrong=True),
        "numba": Timing(note="no kernel"),
        "iree": Timing(note="no such luck", failed=True),
    }
    twice = Run("matmul_64", "contraction", 2, {"ccodegen": Timing(1e-6, 1e-6, 2e-6)})
    return Results("a machine", dict.fromkeys(run.timings, "1.0"), [run, twice])


def test_the_best_peer_is_the_fastest_that_is_right() -> None:
    run = made_up().runs[0]
    assert run.best() == ("numpy", 4e-6)
    assert run.against_best() == pytest.approx(2)
    assert run.against("xla") == pytest.approx(4)
    assert run.of_limit() == pytest.approx(0.5)


def test_only_one_thread_is_scored_by_cpu_time() -> None:
    timing = Timing(wall=5e-6, median=5e-6, processor=4e-6)
    assert (timing.score(1), timing.score(2)) == (4e-6, 5e-6)


def test_a_report_has_ratios_means_and_reasons() -> None:
    text = report(made_up())
    means = next(line for line in text.splitlines() if "geometric mean" in line)
    assert "2.00" in means
    assert "4.00" in means
    first = next(line for line in text.splitlines() if "matmul_64" in line)
    assert "2 µs*" in first
    assert "4 µs" in first
    assert "1 µs!" in first
    assert "50% f32" in first
    assert "failed" in first
    assert "torch: wrong by 5.0e-01 of the largest magnitude (matmul_64)" in text
    assert "numba: no kernel (matmul_64)" in text
    assert "iree: no such luck (matmul_64)" in text
    assert "0.10 (0.010) 1 MB" in text


def test_with_more_threads_a_report_has_the_gain() -> None:
    text = report(made_up())
    last = [line for line in text.splitlines() if line.startswith("| matmul_64")][2]
    assert last.split("|")[-2].strip() == "2.00"


def test_results_are_kept_as_json(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    made_up().save(path)
    assert load(path) == made_up()


@pytest.mark.parametrize(
    ("time", "text"), [(1.5, "1.5 s"), (2.5e-3, "2.5 ms"), (1.234e-5, "12.3 µs")]
)
def test_times_have_three_digits(time: float, text: str) -> None:
    assert seconds(time) == text


def test_a_plot_is_drawn_or_a_word_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "plot.png"
    command._plot(made_up(), path)
    installed = importlib.util.find_spec("matplotlib") is not None
    assert path.exists() == installed
    assert ("no plot" in capsys.readouterr().err) != installed


def test_the_list_has_workloads_and_peers(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--list", "--workloads", "^gemv|convolution"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "contraction: gemv_4096",
        "convolution: conv3x3_56_64_64 conv1x1_56_64_256 conv7x7s2_224_3_64 conv3x3_7_512_512 "
        "dwconv3x3_56_144",
        f"peers: {' '.join(PEERS)}",
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--peers", "gcc"],
        ["--threads", "0"],
        ["--workloads", "("],
        ["--python", "xla"],
        ["--python", "xla=no/such/python"],
    ],
)
def test_a_wrong_option_is_said(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == 2


def test_nothing_chosen_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--workloads", "no such workload"]) == 2
    assert "--list" in capsys.readouterr().err


def test_names_of_workloads_can_be_file_names() -> None:
    assert len(all_workloads()) > 90
    assert all(name.isidentifier() for name in all_workloads())
    assert len(chosen("^odd_")) == len(chosen("odd shape"))


def test_both_bindings_have_the_same_functions() -> None:
    for name, function in inspect.getmembers(JaxFunctions, inspect.isfunction):
        if not name.startswith("_"):
            other = getattr(TorchFunctions, name)
            assert inspect.signature(function) == inspect.signature(other), name
    assert {n for n in vars(TorchFunctions) if n[0] != "_"} == {
        n for n in vars(JaxFunctions) if n[0] != "_"
    }


def test_every_peer_has_a_file() -> None:
    files = {path.stem for path in (Path(command.__file__).parent / "peers").glob("*.py")}
    assert files == {*PEERS, "peer", "__init__"}


def test_operands_are_the_same_for_the_same_seed() -> None:
    operand = plain(3, 5)
    assert np.array_equal(operand.array(1), operand.array(1))
    assert not np.array_equal(operand.array(1), operand.array(2))
    assert plain(2, dtype="bfloat16").array(0).dtype.name == "bfloat16"
    assert image(1, 2, 3, 4).kind is Kind.IMAGE


def test_errors_are_relative_and_integers_exact() -> None:
    expected = np.array([1.0, -4.0], np.float32)
    assert largest_error([np.array([1.0, -3.0], np.float32)], [expected]) == 0.25
    assert largest_error([np.array([np.nan, -4.0], np.float32)], [expected]) == np.inf
    assert largest_error([np.array([3, 4])], [np.array([3, 5])]) == np.inf
    assert largest_error([np.array([3, 5], np.int64)], [np.array([3, 5], np.int32)]) == 0


def test_the_error_of_a_program_is_found_in_what_it_said() -> None:
    said = "Traceback …\nValueError: too large\n\nSet X to see more of it\n"
    assert error_of(said) == "ValueError: too large"
    assert error_of("the exporter lacks it\n") == "the exporter lacks it"
    assert error_of("") == "it ended without a word"


def test_limits_are_measured() -> None:
    machine = Machine()
    try:
        computing = machine.limit(1e12, "f32", 1 << 16, 1 << 16, 1, 1)
        reading = machine.limit(1, "f32", 1 << 20, 4, 1, 2)
        turning = machine.limit(1, "f32", 1 << 20, 4, 10, 2)
    finally:
        machine.close()
    assert computing is not None and computing.bound == "f32"
    assert 1e-2 < computing.seconds < 1e4
    assert reading is not None and reading.bound == "read"
    assert turning is not None and turning.seconds > 3 * reading.seconds  # measured anew


def test_a_tiny_workload_runs_in_real_processes(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    words = ["--workloads", f"^{TINY}$", "--peers", "ccodegen,xla,numpy", "--rounds", "1"]
    words += ["--slice-ms", "1", "--json", str(tmp_path / "r.json"), "--files", str(tmp_path)]
    command_line = [sys.executable, "-m", "tests.benchmarks", *words]
    done = subprocess.run(command_line, cwd=CHECKOUT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"| {TINY}" in done.stdout
    assert "- numpy: no such function" in done.stdout
    run = load(tmp_path / "r.json").runs[0]
    ours, theirs = run.timings["ccodegen"], run.timings["xla"]
    assert ours.error is not None and ours.error < 1e-5
    assert ours.wall and theirs.wall
    assert run.limit and run.bound
    json.loads((tmp_path / "r.json").read_text(), parse_constant=pytest.fail)
