"""The command line: what commands print and write, and the codes they exit with."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from ccodegen import cli
from ccodegen.commands import verify
from ccodegen.commands.common import MISMATCH
from ccodegen.support.errors import InternalError
from ccodegen.tolerance import Comparison

PROGRAM = """HloModule affine
ENTRY main {
  x = f32[3,4] parameter(0)
  w = f32[4,2] parameter(1)
  d = f32[3,2] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[3,2] tanh(d)
}
"""
TEXTS = ("hlo", "optimized", "loop")


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The path of a program; caches go to a folder of the test."""
    monkeypatch.setenv("CCODEGEN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("CCODEGEN_DEBUG", raising=False)
    path = tmp_path / "affine.hlo"
    path.write_text(PROGRAM)
    return str(path)


def usage_code(*arguments: str) -> object:
    with pytest.raises(SystemExit) as left:
        cli.main(arguments)
    return left.value.code


def test_run_reads_and_writes_arrays(program: str, tmp_path: Path) -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4) / 10
    w = np.ones((4, 2), np.float32)
    np.savez(tmp_path / "in.npz", in0=x, in1=w)
    out = tmp_path / "out.npz"
    files = ["--input", str(tmp_path / "in.npz"), "--output", str(out)]
    assert cli.main(["run", program, *files]) == 0
    with np.load(out) as results:
        assert list(results) == ["out0"]
        np.testing.assert_allclose(results["out0"], np.tanh(x @ w), rtol=1e-5)


def test_run_with_npy_files_and_a_constant(program: str, tmp_path: Path) -> None:
    x, w = np.ones((3, 4), np.float32), np.full((4, 2), 0.1, np.float32)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "w.npy", w)
    arguments = ["--input", str(tmp_path / "x.npy"), "--constant", f"w={tmp_path / 'w.npy'}"]
    out = str(tmp_path / "y.npy")
    assert cli.main(["run", program, *arguments, "--output", out]) == 0
    np.testing.assert_allclose(np.load(out), np.tanh(x @ w), rtol=1e-5)


def test_reference_agrees_with_compiled(program: str, tmp_path: Path) -> None:
    paths = [str(tmp_path / name) for name in ("a.npy", "b.npy")]
    assert cli.main(["run", program, "--seed", "7", "--output", paths[0]]) == 0
    assert cli.main(["run", program, "--seed", "7", "--reference", "--output", paths[1]]) == 0
    np.testing.assert_allclose(np.load(paths[0]), np.load(paths[1]), rtol=1e-5)


@pytest.mark.parametrize("stage", TEXTS)
def test_stages_print_and_start_again(stage: str, program: str, tmp_path: Path) -> None:
    printed, again = tmp_path / "printed", tmp_path / "again"
    assert cli.main(["compile", program, "--stop-after", stage, "-o", str(printed)]) == 0
    start = ["compile", str(printed), "--start-from", stage]
    assert cli.main([*start, "--stop-after", stage, "-o", str(again)]) == 0
    assert again.read_text() == printed.read_text()
    out = [str(tmp_path / name) for name in ("a.npy", "b.npy")]
    assert cli.main(["run", program, "--output", out[0]]) == 0
    assert cli.main(["run", str(printed), "--start-from", stage, "--output", out[1]]) == 0
    np.testing.assert_array_equal(*map(np.load, out))


def test_compile_prints_c(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compile", program, "--target", "cortex-m4", "--stop-after", "c"]) == 0
    assert "int model_run(" in capsys.readouterr().out


def test_compile_says_what_it_needs(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compile", program]) == 0
    printed = capsys.readouterr().out
    assert "affine(x: f32[3,4], w: f32[4,2])" in printed
    assert "arena" in printed


def test_dump_dir_gets_each_pass(program: str, tmp_path: Path) -> None:
    dumps = tmp_path / "dumps"
    assert cli.main(["compile", program, "--stop-after", "c", "--dump-dir", str(dumps)]) == 0
    assert (dumps / "00_input.hlo").is_file()
    assert (dumps / "loop.txt").is_file()
    (tmp_path / "file").write_text("")
    assert cli.main(["compile", program, "--dump-dir", str(tmp_path / "file" / "dumps")]) == 1


def test_verify_passes_per_output_and_per_kernel(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["verify", program, "--per-kernel"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("out0 f32[3,2]: largest difference")
    assert len(lines) >= 3
    assert lines[-1] == "PASS"


def test_verify_reports_a_mismatch(
    program: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify, "compare", lambda *_: Comparison(1.0, 0.1, 3))
    assert cli.main(["verify", program]) == MISMATCH
    assert capsys.readouterr().out.endswith("wrong (3 elements)\nFAIL\n")


def test_verify_runs_programs_for_other_targets(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["verify", program, "--target", "x86-64", "--strict"]) == 0
    assert capsys.readouterr().out.endswith("PASS\n")


def test_export_writes_a_package(
    program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert cli.main(["export", program, "--name", "affine", "-o", str(out), "--no-test"]) == 0
    assert (out / "include" / "affine.h").is_file()
    assert not (out / "test").exists()
    assert "arena" in capsys.readouterr().out


def test_export_for_threads(program: str, tmp_path: Path) -> None:
    assert cli.main(["export", program, "--threads", "2", "-o", str(tmp_path), "--no-test"]) == 0
    assert "const ccg_threads *threads" in (tmp_path / "include" / "model.h").read_text()


def test_inspect_prints_tables(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["inspect", program]) == 0
    printed = capsys.readouterr().out
    for heading in ("Graph", "Arguments", "Kernels", "Arena"):
        assert heading in printed


def test_inspect_writes_one_page(program: str, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    assert cli.main(["inspect", program, "--html", str(path)]) == 0
    text = path.read_text()
    assert "<svg" in text
    assert 'href="#line' in text
    assert "src=" not in text
    assert "http" not in text


def test_page_escapes_names(tmp_path: Path) -> None:
    path = tmp_path / "evil.hlo"
    path.write_text("""HloModule m
ENTRY e {
  x = f32[2] parameter(0), metadata={op_name="<script>alert(1)</script>"}
  ROOT r = f32[2] add(x, x), metadata={op_name="</pre><b>"}
}""")
    page = tmp_path / "page.html"
    assert cli.main(["inspect", str(path), "--html", str(page)]) == 0
    assert "<script>alert" not in page.read_text()
    assert "</pre><b>" not in page.read_text()


def test_lists(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["targets"]) == 0
    assert "cortex-m4" in capsys.readouterr().out
    assert cli.main(["ops"]) == 0
    printed = capsys.readouterr().out
    assert "133 ops" in printed
    assert "select-and-scatter" in printed


def test_demo_goes_through_everything(
    program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["demo", "-o", str(tmp_path / "demo")]) == 0
    printed = capsys.readouterr().out
    for digit in "2470":
        assert f" {digit}, " in printed
    assert "wrong" not in printed
    assert "FAIL" not in printed
    assert (tmp_path / "demo" / "include" / "digits.h").is_file()


@pytest.mark.parametrize("command", ["compile", "run", "export", "verify", "inspect"])
def test_missing_and_wrong_files(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([command, str(tmp_path / "missing.hlo")]) == 1
    assert "cannot read" in capsys.readouterr().err
    wrong = tmp_path / "wrong.hlo"
    wrong.write_text("HloModule m\nENTRY e {\n  ROOT r = f32[2] nonsense(x)\n}\n")
    assert cli.main([command, str(wrong)]) == 1
    error = capsys.readouterr().err
    assert f"{wrong}:3:" in error
    assert "^" in error
    assert "Traceback" not in error


@pytest.mark.parametrize(
    "arguments",
    [
        ["--target", "cortexm4"],
        ["--constant", "w"],
        ["--constant", "w=missing.npy"],
        ["--constants", "missing.npz"],
        ["--output", "nowhere"],
        ["--plugin", "missing.py"],
        ["--donate", "nobody"],
        ["--donate", "99"],
    ],
)
def test_wrong_options(
    arguments: list[str], program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["compile", program, *arguments]) == 1
    assert "error:" in capsys.readouterr().err


def test_wrong_inputs(program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "x.npy", np.ones(3, np.float32))
    (tmp_path / "junk.npz").write_bytes(b"junk")
    np.savez(tmp_path / "empty.npz")
    for file in ("x.npy", "junk.npz", "empty.npz"):
        assert cli.main(["run", program, "--input", str(tmp_path / file)]) == 1
        assert "error:" in capsys.readouterr().err
    assert cli.main(["run", program, "--constants", str(tmp_path / "x.npy")]) == 1
    assert cli.main(["run", program, "--output", str(tmp_path / "y.txt")]) == 1
    assert cli.main(["run", program, "--output", str(tmp_path / "no" / "y.npz")]) == 1
    assert cli.main(["run", program, "--target", "cortex-m4"]) == 1


@pytest.mark.parametrize("code", ["1 / 0", "import sys\nsys.exit(5)", "def f(:"])
def test_plugins_that_fail(
    code: str, program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin = tmp_path / "plugin.py"
    plugin.write_text("\n\n" + code)
    assert cli.main(["run", program, "--plugin", str(plugin)]) == 1
    error = capsys.readouterr().err
    assert "cannot import the plugin" in error
    assert f"line {2 + len(code.splitlines())})" in error


@pytest.mark.usefixtures("own_targets")
def test_a_function_of_a_plugin_that_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin, program = tmp_path / "plugin.py", tmp_path / "asks.hlo"
    plugin.write_text(
        "import ccodegen\nccodegen.register_custom_call('ask_in_vain', host=lambda x: x[9])\n"
    )
    program.write_text(
        "ENTRY e {\n  x = f32[4] parameter(0)\n"
        '  ROOT r = f32[4] custom-call(x), custom_call_target="ask_in_vain"\n}\n'
    )
    for more in ([], ["--reference"]):
        assert cli.main(["run", str(program), "--plugin", str(plugin), *more]) == 1
        assert "IndexError" in capsys.readouterr().err


@pytest.mark.usefixtures("own_targets")
def test_functions_of_a_plugin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plugin, program = tmp_path / "plugin.py", tmp_path / "asks.hlo"
    plugin.write_text(
        "import ccodegen\nccodegen.register_custom_call('ask_for_five', host=lambda x: x + 5)\n"
    )
    program.write_text(
        "ENTRY e {\n  x = f32[4] parameter(0)\n"
        '  ROOT r = f32[4] custom-call(x), custom_call_target="ask_for_five"\n}\n'
    )
    common = [str(program), "--plugin", str(plugin)]
    out = tmp_path / "out.npy"
    np.save(tmp_path / "x.npy", np.ones(4, np.float32))
    for more in ([], ["--reference"]):
        files = ["--input", str(tmp_path / "x.npy"), "--output", str(out)]
        assert cli.main(["run", *common, *files, *more]) == 0
        assert np.load(out).tolist() == [6, 6, 6, 6]
    assert cli.main(["verify", *common, "--per-kernel"]) == 0
    capsys.readouterr()
    assert cli.main(["verify", *common, "--target", "cortex-m4"]) == 1
    assert "asks its caller through ccg_io for call" in capsys.readouterr().err


def test_output_into_a_pipe_and_through_a_link(program: str, tmp_path: Path) -> None:
    pipe, link, file = tmp_path / "pipe", tmp_path / "link", tmp_path / "file"
    os.mkfifo(pipe)
    link.symlink_to(file)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for output in (pipe, link):
        assert cli.main(["compile", program, "--stop-after", "hlo", "-o", str(output)]) == 0
    assert os.read(reader, 9) == b"HloModule"
    os.close(reader)
    assert pipe.is_fifo() and link.is_symlink()
    assert file.stat().st_mode & 0o444 == 0o444 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_output_that_cannot_be_written_leaves_nothing(program: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    before = sorted(tmp_path.iterdir())
    assert cli.main(["compile", program, "--stop-after", "hlo", "-o", str(folder)]) == 1
    assert sorted(tmp_path.iterdir()) == before


def test_a_compiler_that_does_not_work(
    program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "mine.toml"
    target.write_text('inherits = "host"\n[compiler]\nflags = ["-no-such-flag"]\n')
    assert cli.main(["run", program, "--target", str(target)]) == 1
    error = capsys.readouterr().err
    assert "no-such-flag" in error
    assert "mend the flags" in error


def test_memory_beyond_the_addresses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "large.hlo"
    path.write_text("ENTRY e { x = s8[3000000000] parameter(0)\n  ROOT r = s8[3000000000] abs(x) }")
    command = ["compile", str(path), "--stop-after", "c", "--target"]
    assert cli.main([*command, "arm64"]) == 0
    capsys.readouterr()
    assert cli.main([*command, "cortex-m4"]) == 1
    assert "x of 3000000000 bytes: target cortex-m4 has addresses of 32" in capsys.readouterr().err


def test_options_for_hlo_alone(program: str, tmp_path: Path) -> None:
    path = str(tmp_path / "program.loop")
    assert cli.main(["compile", program, "--stop-after", "loop", "-o", path]) == 0
    assert cli.main(["run", path, "--start-from", "loop", "--donate", "x"]) == 1


def test_usage_errors() -> None:
    assert usage_code() == 2
    assert usage_code("bogus") == 2
    assert usage_code("run") == 2
    assert usage_code("run", "x", "--threads", "0") == 2
    assert usage_code("run", "x", "--threads", "two") == 2
    assert usage_code("run", "x", "--seed", "-1") == 2
    assert usage_code("reduce", "x", "--seconds", "0") == 2


@pytest.mark.parametrize("command", [m.__name__.rpartition(".")[2] for m in cli.COMMANDS])
def test_help_has_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert usage_code(command, "--help") == 0
    assert f"\n  ccodegen {command}" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["run", "verify", "export"])
def test_arrays_too_large_to_try(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "large.hlo"
    size = f"f32[{2**40}]"
    path.write_text(f"HloModule m\nENTRY e {{ ROOT x = {size} parameter(0) }}\n")
    assert cli.main([command, str(path), "--target", "host"]) == 1
    assert "not enough memory" in capsys.readouterr().err


def test_bugs_of_ours(
    program: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(error: Exception) -> None:
        def broken(*_: object) -> None:
            raise error

        monkeypatch.setattr("ccodegen.commands.common.build", broken)

    for error in (InternalError("broken"), ZeroDivisionError("broken")):
        fail(error)
        assert cli.main(["compile", program]) == cli.BUG
        assert "this is a bug in ccodegen" in capsys.readouterr().err
