"""Targets of custom-call that a user has told the meaning of: a program's text does not say it."""

from __future__ import annotations

_TARGETS: set[str] = set()


def add_user_target(target: str) -> None:
    _TARGETS.add(target)


def is_user_target(target: str) -> bool:
    return target in _TARGETS


def has_user_targets() -> bool:
    """Whether a program's text alone may not say what it means."""
    return bool(_TARGETS)
