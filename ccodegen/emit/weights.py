"""Constants as one block of bytes beside the code: where each lies in it, and the block itself."""

from __future__ import annotations

import numpy as np

from ccodegen.loop.ir import Buffer, Program
from ccodegen.loop.steps import used_buffers
from ccodegen.support.immutable import immutable
from ccodegen.target import Abi


@immutable
class WeightsBlock:
    """`offsets`: in bytes from the block's start, multiples of `alignment`, in ascending order."""

    data: bytes
    alignment: int
    offsets: tuple[tuple[Buffer, int], ...]


def pack(program: Program, abi: Abi) -> WeightsBlock:
    """The constants that the program uses, in the target's byte order."""
    used = set(used_buffers(program.steps))
    data, offsets = bytearray(), []
    for constant in program.constants:
        if constant.buffer in used:
            data += bytes(-len(data) % abi.weight_alignment)
            offsets.append((constant.buffer, len(data)))
            data += _stored(constant.array, abi.big_endian)
    return WeightsBlock(bytes(data), abi.weight_alignment, tuple(offsets))


def _stored(array: np.ndarray[tuple[int, ...], np.dtype[np.generic]], big_endian: bool) -> bytes:
    """The elements in row-major order, in that byte order. A complex number is two of them."""
    parts = np.ascontiguousarray(array).reshape(-1)
    if parts.dtype.kind == "c":
        parts = parts.view(f"f{parts.dtype.itemsize // 2}")
    bits = f"u{parts.dtype.itemsize}"
    return parts.view(bits).astype(f"{'>' if big_endian else '<'}{bits}").tobytes()
