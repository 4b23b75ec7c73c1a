"""Templates that were compiled are kept where Python keeps its compiled modules."""

import os
import subprocess
import sys
from pathlib import Path

import ccodegen
from ccodegen.backend.cache import package_stamp

_RENDER = """
import jinja2
from ccodegen.emit import tile
compiled = []
compile_template = jinja2.Environment.compile
jinja2.Environment.compile = lambda *args: compiled.append(1) or compile_template(*args)
tile.header_text(tile.NAME.fullmatch("ccg_tile_f32_2x4.h"))
print(len(compiled))
"""


def _templates_compiled(**environment: str) -> int:
    """By a process that writes a tile."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", _RENDER],
        env=kept | environment,
        cwd=Path(ccodegen.__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


def test_a_template_is_compiled_once(tmp_path: Path):
    assert _templates_compiled(PYTHONPYCACHEPREFIX=str(tmp_path)) == 1
    assert _templates_compiled(PYTHONPYCACHEPREFIX=str(tmp_path)) == 0


def test_it_is_not_kept_where_python_keeps_no_modules():
    assert _templates_compiled(PYTHONDONTWRITEBYTECODE="1") == 1
    assert _templates_compiled(PYTHONDONTWRITEBYTECODE="1") == 1


def test_the_stamp_of_the_package_is_that_of_its_sources():
    stamp = package_stamp()
    _templates_compiled()
    assert package_stamp() == stamp
