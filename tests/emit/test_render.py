"""Headers that were rendered are kept where Python keeps its compiled modules."""

import os
import subprocess
import sys
from pathlib import Path

import ccodegen
from ccodegen.emit.runtime import header_text
from ccodegen.support.cache import package_stamp

_NAME = "ccg_tile_f32_2x4.h"
_RENDER = f"""
import sys
import jinja2
from ccodegen.emit import tile
compiled = []
compile_template = jinja2.Environment.compile
jinja2.Environment.compile = lambda *args: compiled.append(1) or compile_template(*args)
text = tile.header_text(tile.NAME.fullmatch("{_NAME}"))
print(len(compiled), file=sys.stderr)
print(text, end="")
"""


def _templates_compiled(**environment: str) -> int:
    """By a process that writes a tile, which is the same as ever."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", _RENDER],
        env=kept | environment,
        cwd=Path(ccodegen.__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == header_text(_NAME)
    return int(done.stderr)


def test_a_template_is_compiled_once(tmp_path: Path):
    assert _templates_compiled(PYTHONPYCACHEPREFIX=str(tmp_path)) == 1
    assert _templates_compiled(PYTHONPYCACHEPREFIX=str(tmp_path)) == 0


def test_a_damaged_header_is_rendered_again(tmp_path: Path):
    _templates_compiled(PYTHONPYCACHEPREFIX=str(tmp_path))
    (kept,) = tmp_path.rglob("kept/*/*")
    kept.write_text("#define NO_TILE\n", encoding="utf-8")
    assert _templates_compiled(PYTHONPYCACHEPREFIX=str(tmp_path)) == 1
    assert _templates_compiled(PYTHONPYCACHEPREFIX=str(tmp_path)) == 0


def test_it_is_not_kept_where_python_keeps_no_modules():
    assert _templates_compiled(PYTHONDONTWRITEBYTECODE="1") == 1
    assert _templates_compiled(PYTHONDONTWRITEBYTECODE="1") == 1


def test_the_stamp_of_the_package_is_that_of_its_sources():
    stamp = package_stamp()
    _templates_compiled()
    assert package_stamp() == stamp
