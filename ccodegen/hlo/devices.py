"""A program for one device: what it may not ask for."""

from __future__ import annotations

import re

from ccodegen.hlo.ir import Instruction, Module
from ccodegen.support.errors import UnsupportedError

IDS = frozenset({"partition-id", "replica-id"})
COLLECTIVES = frozenset(
    {
        "all-gather",
        "all-gather-start",
        "all-reduce",
        "all-reduce-start",
        "all-to-all",
        "collective-broadcast",
        "collective-permute",
        "collective-permute-start",
        "ragged-all-to-all",
        "reduce-scatter",
    }
)


def check_one_device(module: Module) -> None:
    """Raises UnsupportedError where a module for several replicas or partitions asks which one it
    runs on, or talks to the others. One that does neither means the same on each of them."""
    several = [
        f"{name}={count}" for name, count in module.annotations if _is_count(name, count)
    ]
    if not several:
        return
    for computation in module.computations:
        for instruction in computation.instructions:
            if instruction.op in COLLECTIVES or instruction.op in IDS:
                raise _refused(instruction, f"in a module of {' and '.join(several)}")


def check_alone(instruction: Instruction) -> None:
    """Raises UnsupportedError for a collective whose groups have more members than one."""
    groups = str(getattr(instruction.attributes, "replica_groups", ""))
    sizes = _group_sizes(groups)
    if sizes is None or max(sizes, default=1) > 1:
        raise _refused(instruction, f"among the replicas {groups}")


def target_is_self(instruction: Instruction) -> bool:
    """Whether a collective-permute sends to this one device; else nobody does.

    Raises UnsupportedError where it names other devices.
    """
    pairs = str(getattr(instruction.attributes, "source_target_pairs", ""))
    if any(number != "0" for number in re.findall(r"\d+", pairs)):
        raise _refused(instruction, f"between the devices {pairs}")
    return bool(re.search(r"\d", pairs))


def _is_count(name: str, text: str) -> bool:
    named = name in ("replica_count", "num_partitions")
    return named and text.strip().isdigit() and int(text) > 1


def _group_sizes(groups: str) -> list[int] | None:
    """Of `{{0,1},{2,3}}` or `[2,4]<=[8]`; empty where all replicas are meant; None: unknown."""
    text = groups.replace(" ", "")
    if text in ("", "{}", "{{}}"):
        return []
    listed = re.match(r"\[(\d+),(\d+)\]<=", text)
    if listed:
        return [int(listed[2])]
    if not text.startswith("{{"):
        return None
    return [len(group.split(",")) for group in re.findall(r"\{([\d,]+)\}", text)]


def _refused(instruction: Instruction, what: str) -> UnsupportedError:
    message = f"{instruction.op} '{instruction.name}' {what}: programs run on one device"
    return UnsupportedError(message, instruction.location)
