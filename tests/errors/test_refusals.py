"""What cannot be compiled or called is refused by a sentence, with its place, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.errors.refusals import Refusal, all_refusals


@pytest.mark.parametrize("refusal", all_refusals(), ids=lambda r: r.kind.replace(" ", "-"))
def test_refused(refusal: Refusal, tmp_path: Path) -> None:
    error = refusal.seen(tmp_path)
    assert error is not None, "it was taken"
    assert type(error).__name__ == refusal.error, str(error)
    assert refusal.message in str(error)
    assert not refusal.has_place or (error.location is not None and error.location.line)
    assert not (tmp_path / "out").exists(), "something was written"
