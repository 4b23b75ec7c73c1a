"""A target is data: `load("cortex-m4")` reads targets/cortex-m4.toml into a frozen Target."""

from ccodegen.target.load import load, names
from ccodegen.target.model import Abi, Board, Compiler, Machine, Memory, Runner, Target, Tile

__all__ = [
    "Abi",
    "Board",
    "Compiler",
    "Machine",
    "Memory",
    "Runner",
    "Target",
    "Tile",
    "load",
    "names",
]
