"""Packages that only some sources need."""

from __future__ import annotations

import importlib.util

from ccodegen.support.errors import InputError


def require(package: str) -> None:
    """Raises InputError, saying what to install, where jax or jaxlib is missing."""
    if importlib.util.find_spec(package) is None:
        hint = 'install it: pip install "ccodegen[jax]"; or convert the program to HLO text'
        raise InputError(f"reading StableHLO and JAX programs needs {package}", hint=hint)
