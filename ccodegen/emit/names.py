"""Names and comments: whatever a model file calls a thing, what reaches C is harmless."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Hashable, Iterable

from ccodegen.support import naming
from ccodegen.support.errors import InputError
from ccodegen.support.pattern import pattern

_WORDS = """
auto break case char const continue default do double else enum extern float for goto if inline
int long register restrict return short signed sizeof static struct switch typedef union
unsigned void volatile while
alignas alignof asm bool catch class consteval constexpr constinit co_await co_return co_yield
concept decltype delete dynamic_cast explicit export false friend mutable namespace new noexcept
nullptr operator private protected public reinterpret_cast requires static_assert static_cast
template this thread_local throw true try typeid typename typeof using virtual wchar_t
and and_eq bitand bitor compl not not_eq or or_eq xor xor_eq
main errno linux unix arm near far interrupt complex imaginary
"""
_KEYWORDS = frozenset(_WORDS.split())
_HEADERS = """
assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdarg
stdbool stddef stdint stdio stdlib string tgmath time wchar wctype
"""
_LENGTH = 40  # C99 promises 63 significant characters; a prefix and a number must fit too
_PREFIX = pattern(r"[A-Za-z][A-Za-z0-9_]{0,23}")


def identifier(text: str, fallback: str = "x") -> str:
    """A C identifier after `text` that no compiler, header or macro of ours claims.

    Keywords of C and C++, names of standard types (`…_t`), macros (all capitals) and our own
    (`ccg_…`) get an underscore at the end.
    """
    name = naming.identifier(text, fallback)[:_LENGTH].strip("_")
    macro = len(name) > 1 and name.upper() == name
    taken = name in _KEYWORDS or name.endswith("_t") or name.lower().startswith("ccg_")
    return f"{name}_" if macro or taken or name == "I" else name


def check_prefix(prefix: str) -> str:
    """The prefix of all external names and of files, as the user gave it. Raises InputError if C
    cannot use it."""
    if isinstance(prefix, str) and _PREFIX.fullmatch(prefix):
        reserved = prefix in _KEYWORDS or prefix in _HEADERS.split()
        if not reserved and not prefix.lower().startswith("ccg_"):
            return prefix
    hint = "take up to 24 letters, digits and underscores, a letter first, and no word of C or C++"
    raise InputError(f"{prefix!r} cannot be the prefix of C names", hint=hint)


class Names:
    """One C scope: gives each thing a name of its own, the same one each time it is asked."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._names: dict[Hashable, str] = {}

    @property
    def taken(self) -> frozenset[str]:
        return frozenset(self._taken)

    def take(self, names: Iterable[str]) -> None:
        """Keeps names from being given to anything from now on."""
        self._taken.update(names)

    def name(self, thing: Hashable, wish: str, fallback: str = "x") -> str:
        """The thing's name: at first asking one after `wish` that nothing else in the scope has."""
        if thing not in self._names:
            self._names[thing] = self.fresh(wish, fallback)
        return self._names[thing]

    def fresh(self, wish: str, fallback: str = "x") -> str:
        """A name that belongs to nothing."""
        stem = identifier(wish, fallback)
        name, number = stem, 1
        while name in self._taken:
            number += 1
            name = f"{stem}{'' if stem.endswith('_') else '_'}{number}"
        self._taken.add(name)
        return name


def harmless(text: str) -> str:
    """Text for the inside of a C comment: printable ASCII without comment marks or trigraphs.

    Control characters, backslashes and what is not ASCII become their code points: `<U+20AC>`.
    """
    text = "".join(c if c.isascii() and c.isprintable() and c != "\\" else _escape(c) for c in text)
    text = re.sub(r"\?(?=\?)", "? ", text)
    return re.sub(r"/(?=\*)", "/ ", re.sub(r"\*(?=/)", "* ", text))


def comment(text: str, width: int = 96) -> list[str]:
    """Lines of a C comment; each line of the text is wrapped by itself."""
    lines: list[str] = []
    for line in text.splitlines() or [""]:
        lines += textwrap.wrap(harmless(line), width - 6, break_on_hyphens=False) or [""]
    lines[1:] = [f"   {line}".rstrip() for line in lines[1:]]
    lines[0] = f"/* {lines[0]}"
    lines[-1] += " */"
    return lines


def _escape(character: str) -> str:
    return f"<U+{ord(character):04X}>"
