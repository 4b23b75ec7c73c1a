"""A C preprocessor for our own headers: what they use of the language, and no more.

Includes in quotes are read, includes in angle brackets and pragmas are dropped. Macros with and
without parameters, `##`, and conditions over `defined`, `!`, `&&`, `||` and comparisons work as in
C, save that a macro's expansion never takes its arguments from the text behind it.
"""

from __future__ import annotations

import re
from pathlib import Path

from ccodegen.support.immutable import frozen
from ccodegen.support.pattern import pattern

_TOKEN = pattern(r"[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.])*|##|\"(?:\\.|[^\"\\])*\"|\s+|.", re.S)
_COMMENT = pattern(r"/\*.*?\*/|//[^\n]*", re.S)
_DEFINED = pattern(r"defined\s*(?:\(\s*(\w+)\s*\)|(\w+))")
_DEFINE = pattern(r"(\w+)(?:\(([^)]*)\))?\s*(.*)", re.S)


@frozen
class Macro:
    """`parameters` is None for a macro without a list of them."""

    parameters: tuple[str, ...] | None
    body: tuple[str, ...]


def preprocess(text: str, folder: Path) -> str:
    """The text with all directives done. `folder` is where includes are looked for."""
    state = _Preprocessor(folder)
    state.run(text)
    state.flush()
    return "".join(state.output)


class _Preprocessor:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.macros: dict[str, Macro] = {}
        self.output: list[str] = []
        self.pending: list[str] = []
        # Per open #if: is this branch read, and was any of its branches read (or is none to be)?
        self.branches: list[tuple[bool, bool]] = []

    def run(self, text: str) -> None:
        text = _COMMENT.sub(" ", text.replace("\\\n", " "))
        for line in text.splitlines(keepends=True):
            if line.lstrip().startswith("#"):
                name, _, rest = line.strip().lstrip("# ").partition(" ")
                self.directive(name, rest.strip())
            elif self.reading():
                self.pending.append(line)

    def reading(self) -> bool:
        return all(read for read, _ in self.branches)

    def flush(self) -> None:
        """Expands the text read so far: before a directive changes the macros."""
        self.output += self.expand(_TOKEN.findall("".join(self.pending)), frozenset())
        self.pending.clear()

    def directive(self, name: str, rest: str) -> None:
        if name in ("if", "ifdef", "ifndef", "elif", "else", "endif"):
            self.conditional(name, rest)
        elif self.reading() and name in ("define", "undef", "include"):
            self.flush()
            getattr(self, name)(rest)

    def conditional(self, name: str, rest: str) -> None:
        if name == "endif":
            self.branches.pop()
        elif name in ("elif", "else"):
            _, done = self.branches.pop()
            wanted = not done and (name == "else" or self.holds(rest))
            self.branches.append((wanted, done or wanted))
        else:
            condition = {"ifdef": f"defined({rest})", "ifndef": f"!defined({rest})"}.get(name, rest)
            wanted = self.reading() and self.holds(condition)
            self.branches.append((wanted, wanted or not self.reading()))

    def holds(self, condition: str) -> bool:
        def is_defined(match: re.Match[str]) -> str:
            return str(int((match[1] or match[2]) in self.macros))

        tokens = _TOKEN.findall(_DEFINED.sub(is_defined, condition))
        expanded = "".join(self.expand(tokens, frozenset()))
        python = re.sub(r"!(?!=)", " not ", expanded.replace("&&", " and ").replace("||", " or "))
        names = set(re.findall(r"[A-Za-z_]\w*", python)) - {"and", "or", "not"}
        return bool(eval(python, {"__builtins__": {}}, dict.fromkeys(names, 0)))

    def define(self, rest: str) -> None:
        match = _DEFINE.fullmatch(rest)
        assert match, rest
        parameters = None if match[2] is None else tuple(p.strip() for p in match[2].split(","))
        self.macros[match[1]] = Macro(parameters, tuple(_TOKEN.findall(match[3])))

    def undef(self, rest: str) -> None:
        self.macros.pop(rest, None)

    def include(self, rest: str) -> None:
        if rest.startswith('"'):
            self.run((self.folder / rest.strip('"')).read_text(encoding="utf-8"))

    def expand(self, tokens: list[str], active: frozenset[str]) -> list[str]:
        output: list[str] = []
        at = 0
        while at < len(tokens):
            token = tokens[at]
            at += 1
            macro = None if token in active else self.macros.get(token)
            if macro is None:
                output.append(token)
            elif macro.parameters is None:
                output += self.expand(list(macro.body), active | {token})
            elif tokens[at : at + 1] == ["("]:
                arguments, at = _arguments(tokens, at + 1)
                body = self.substitute(macro, arguments, active)
                output += self.expand(body, active | {token})
            else:
                output.append(token)
        return output

    def substitute(
        self, macro: Macro, arguments: list[list[str]], active: frozenset[str]
    ) -> list[str]:
        """The body with arguments in place: expanded, save beside a `##`."""
        assert macro.parameters is not None
        values = dict(zip(macro.parameters, arguments, strict=True))
        body = [t for t in re.split(r"\s*(##)\s*", "".join(macro.body)) if t]
        output: list[str] = []
        for position, part in enumerate(body):
            if part == "##":
                continue
            tokens = _TOKEN.findall(part)
            raw = {0} if position > 0 else set()
            raw |= {len(tokens) - 1} if position < len(body) - 1 else set()
            for index, token in enumerate(tokens):
                value = values.get(token, [token])
                output += value if index in raw else self.expand(value, active)
            if position < len(body) - 1:
                output.append("##")
        return _TOKEN.findall("".join(output).replace("##", ""))


def _arguments(tokens: list[str], at: int) -> tuple[list[list[str]], int]:
    """The arguments from behind the parenthesis, and the position behind the closing one."""
    arguments: list[list[str]] = [[]]
    depth = 0
    while tokens[at] != ")" or depth:
        token = tokens[at]
        depth += (token == "(") - (token == ")")
        if token == "," and depth == 0:
            arguments.append([])
        else:
            arguments[-1].append(token)
        at += 1
    return [_stripped(a) for a in arguments], at + 1


def _stripped(tokens: list[str]) -> list[str]:
    return _TOKEN.findall("".join(tokens).strip())
