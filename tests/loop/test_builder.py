"""How loops are cut into blocks."""

from __future__ import annotations

import pytest

from ccodegen.loop.builder import even_width


@pytest.mark.parametrize(
    ("count", "most", "threads", "width"),
    [
        (1000, 2048, 2, 500),
        (1000, 512, 2, 500),
        (1000, 300, 2, 250),
        (1000, 2048, 1, 1000),
        (1003, 2048, 2, 1003),  # a prime
        (1003, 512, 2, 512),
        (100, 2048, 2, 100),  # blocks would be short
        (192, 64, 2, 64),  # three
        (0, 64, 2, 0),
    ],
)
def test_blocks_of_threads_are_even_if_they_can_be(
    count: int, most: int, threads: int, width: int
) -> None:
    assert even_width(count, most, 1, threads) == width
    assert even_width(count, most, threads, threads) == min(count, most)
