"""Runtime files: what generated code includes, and all that follows from it."""

from __future__ import annotations

import pytest

from ccodegen.emit import runtime
from ccodegen.support.errors import InternalError


def test_closure_follows_includes_and_inc_files() -> None:
    files = runtime.closure(["ccg_integer_32.h"])
    assert list(files) == sorted(files)
    assert {"ccg_base.h", "ccg_signed.inc", "ccg_integer_common.inc"} <= set(files)
    assert not {"ccg_integer_64.h", "ccg_math_f32.h"} & set(files)


def test_generated_headers_bring_what_they_include() -> None:
    assert list(runtime.closure(["ccg_tile_f32_2x8.h"])) == [
        "ccg_base.h",
        "ccg_tile_f32_2x8.h",
        "ccg_vector.h",
    ]


def test_unknown_file_is_a_bug_of_ours() -> None:
    with pytest.raises(InternalError, match="no_such"):
        runtime.header_text("no_such.h")
