"""The generators Threefry 2x32-20 and Philox 4x32-10 (Salmon et al., 2011), over 32-bit words.

Written once for NumPy arrays and for expressions: `Words` says how to apply an operator of u32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeAlias, TypeVar

from ccodegen.support.immutable import immutable

Word = TypeVar("Word")

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
_PHILOX_FACTORS = (0xD2511F53, 0xCD9E8D57)
_PHILOX_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)


@immutable
class Words(Generic[Word]):
    """`apply(operator, a, b)`: a scalar operator of u32. `number(n)`: a constant."""

    apply: Callable[[str, Word, Word], Word]
    number: Callable[[int], Word]

    def add(self, a: Word, b: Word) -> Word:
        return self.apply("add", a, b)

    def xor(self, a: Word, b: Word) -> Word:
        return self.apply("xor", a, b)

    def rotated(self, a: Word, bits: int) -> Word:
        """a, rotated to the left."""
        high = self.apply("shift-left", a, self.number(bits))
        low = self.apply("shift-right-logical", a, self.number(32 - bits))
        return self.apply("or", high, low)


Pair: TypeAlias = tuple[Word, Word]
Four: TypeAlias = tuple[Word, Word, Word, Word]


def threefry(words: Words[Word], key: Pair[Word], counter: Pair[Word]) -> Pair[Word]:
    """20 rounds; the keys are added before the first and after every fourth."""
    parity = words.xor(words.xor(key[0], key[1]), words.number(_PARITY))
    keys = (*key, parity)
    x, y = words.add(counter[0], keys[0]), words.add(counter[1], keys[1])
    for group in range(5):
        for bits in _ROTATIONS[group % 2]:
            x = words.add(x, y)
            y = words.xor(words.rotated(y, bits), x)
        x = words.add(x, keys[(group + 1) % 3])
        y = words.add(words.add(y, keys[(group + 2) % 3]), words.number(group + 1))
    return x, y


def philox(words: Words[Word], key: Pair[Word], counter: Four[Word]) -> Four[Word]:
    """10 rounds; the key is raised after each."""
    factors = [words.number(f) for f in _PHILOX_FACTORS]
    steps = [words.number(s) for s in _PHILOX_KEY_STEPS]
    a, b, c, d = counter
    k, m = key
    for _ in range(10):
        high_a, low_a = _product(words, a, factors[0])
        high_c, low_c = _product(words, c, factors[1])
        a, b = words.xor(words.xor(high_c, b), k), low_c
        c, d = words.xor(words.xor(high_a, d), m), low_a
        k, m = words.add(k, steps[0]), words.add(m, steps[1])
    return a, b, c, d


def _product(words: Words[Word], a: Word, factor: Word) -> Pair[Word]:
    """The high and the low word of a · factor."""
    return words.apply("mulhi", a, factor), words.apply("multiply", a, factor)
