"""Data classes whose functions come later behave as those of the standard library."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from typing import Any

import pytest

from ccodegen.support.immutable import frozen, frozen_object, immutable

Decorator = Callable[[type], type]
VALUES: dict[str, tuple[Decorator, Decorator]] = {
    "frozen": (frozen, dataclass(frozen=True)),
    "immutable": (immutable, dataclass(frozen=True)),
    "frozen_object": (frozen_object, dataclass(frozen=True, eq=False)),
}


def classes(decorate: Decorator) -> tuple[type, type]:
    @decorate
    class Point:
        x: int
        y: int = 2
        note: str = field(default="", compare=False)
        parts: list[int] = field(default_factory=list, compare=False, repr=False)

    @decorate
    class Named(Point):
        name: str = "n"

        def __post_init__(self) -> None:
            if not self.name:
                raise ValueError("no name")

    Point.__qualname__, Named.__qualname__ = "Point", "Named"
    return Point, Named


def behaviour(decorate: Decorator) -> list[Any]:
    point, named = classes(decorate)
    first, second = point(1), point(1, 2, note="other")
    return [
        repr(first),
        repr(named(1, name="m")),
        first == second,
        first != point(1, 3),
        first == named(1, 2),
        len({first, second, point(x=2)}),
        replace(first, y=5).y,
        first.parts is not second.parts,
        [f.name for f in fields(named)],
        point.__match_args__,  # type: ignore[attr-defined]
    ]


@pytest.mark.parametrize("name", VALUES)
def test_they_are_as_those_of_the_standard_library(name: str) -> None:
    ours, theirs = VALUES[name]
    assert behaviour(ours) == behaviour(theirs)


@pytest.mark.parametrize("name", VALUES)
def test_wrong_arguments_are_refused(name: str) -> None:
    point, named = classes(VALUES[name][0])
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        point()
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        point(1, z=2)
    with pytest.raises(ValueError, match="no name"):
        named(1, name="")


@pytest.mark.parametrize("name", VALUES)
def test_the_first_objects_are_as_the_many_after_them(name: str) -> None:
    def texts(decorate: Decorator) -> list[str]:
        made = []
        makers: tuple[Any, ...] = classes(decorate)
        for n in range(20):
            for c in makers:
                made += [c(n), c(n, 3), c(n, note="a"), c(x=n, y=4), c(n, 3, "a", [n])]
        return [f"{one} {one.parts} {one.note}" for one in made]

    ours, theirs = VALUES[name]
    assert texts(ours) == texts(theirs)


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("made", [0, 20])
def test_arguments_that_do_not_fit_are_refused_at_any_time(name: str, made: int) -> None:
    _, named = classes(VALUES[name][0])
    for n in range(made):
        named(n, 2, "a", [])
    wrong: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((1,), {"x": 2}),
        ((1, 2, "", [], "n", 6), {}),
        ((), {"y": 2}),
    ]
    for arguments, others in wrong:
        with pytest.raises(TypeError):
            named(*arguments, **others)


@pytest.mark.parametrize("decorate", [frozen, frozen_object])
def test_nothing_is_assigned_to_what_is_frozen(decorate: Decorator) -> None:
    point, _ = classes(decorate)
    made = point(1)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        made.x = 2
    with pytest.raises(FrozenInstanceError):
        del made.x
    assert made.x == 1


@pytest.mark.parametrize("decorate", [frozen, frozen_object, immutable])
def test_many_threads_may_be_the_first_to_use_one(decorate: Decorator) -> None:
    for _ in range(50):
        _, named = classes(decorate)
        barrier = threading.Barrier(8)

        def use(number: int, named: Any = named, barrier: Any = barrier) -> tuple[Any, ...]:
            barrier.wait()
            return named(number).x, named.__match_args__, [f.name for f in fields(named)]

        names = ["x", "y", "note", "parts", "name"]
        with ThreadPoolExecutor(8) as pool:
            expected = [(n, tuple(names), names) for n in range(8)]
            assert list(pool.map(use, range(8))) == expected
