"""Prints expressions of the loop IR as C: few parentheses, exact constants, flat row-major indices.

add(load x[i, j], 1.5)  →  x[i * 12 + j] + 1.5f
"""

from __future__ import annotations

from collections.abc import Callable

from ccodegen.emit.literal import literal
from ccodegen.emit.spelling import POSTFIX, PRIMARY, UNARY, is_call, spell
from ccodegen.emit.types import memory_type
from ccodegen.loop.affine import Affine, affine
from ccodegen.loop.ir import INDEX, Apply, Buffer, Const, Expr, Index, Load, Space, Var
from ccodegen.loop.operators import computes_in_halves
from ccodegen.loop.spelling import HALVES, narrowing
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable
from ccodegen.support.pattern import pattern

_ELEMENT = pattern(r"\w+(?:\[[^][()]*\])?")


@immutable
class ExpressionPrinter:
    """`name`: gives the C name of a variable or buffer. `headers`: collects what the text needs.
    `guarded`: arrays are read where the text says so, and at no other time."""

    name: Callable[[Var | Buffer], str]
    headers: set[str]
    guarded: bool = False

    def text(self, expr: Expr, binds: int = 0) -> str:
        """The expression, in parentheses if its operator binds less tightly than `binds`."""
        if isinstance(expr, Apply) and expr.type is INDEX:
            expr = affine(expr).expr
        text, strength = self._text(expr)
        return f"({text})" if strength < binds else text

    def element(self, buffer: Buffer, indices: Index) -> str:
        """An element of a buffer of anything but complex numbers, as an lvalue."""
        if buffer.space is Space.LOCAL and not buffer.dimensions:
            return self.name(buffer)
        return f"{self.name(buffer)}[{self._sum(flat_index(buffer, indices))}]"

    def pair(self, buffer: Buffer, indices: Index) -> str:
        """A pointer to the real part of a complex element."""
        offset = flat_index(buffer, indices).scaled(2)
        if not offset.terms and not offset.constant:
            return self.name(buffer)
        return f"{self.name(buffer)} + {self._sum(offset)}"

    def _sum(self, total: Affine) -> str:
        """As `text` of its expression, which need not be made for multiples of variables."""
        texts = []
        for part, coefficient in total.ordered:
            if type(part) is not Var or coefficient < 0 or total.constant < 0:
                return self.text(total.expr)
            texts.append(self.name(part) + (f" * {coefficient}" if coefficient > 1 else ""))
        if total.constant or not texts:
            texts.append(literal(INDEX, total.constant))
        return " + ".join(texts)

    def _text(self, expr: Expr) -> tuple[str, int]:
        match expr:
            case Const(element, value):
                if element.is_complex:
                    self.headers.add("ccg_complex.h")
                text = literal(element, value)
                return text, UNARY if text.startswith(("-", "(")) else PRIMARY
            case Var():
                return self.name(expr), PRIMARY
            case Load(buffer, indices):
                return self._load(buffer, indices)
            case Apply("unrounded", (half,)) if unrounded := _unrounded(half, self.text(half)):
                return _unwrapped(unrounded, PRIMARY)
        spelling = spell(expr)
        self.headers.update(spelling.headers)
        arguments = zip(expr.arguments, spelling.binds, strict=True)
        template, texts = spelling.template, [self.text(a, b) for a, b in arguments]
        for place, argument in enumerate(expr.arguments):
            widening = f"ccg_f32_from_{argument.type.text}({{{place}}})"
            shorter = _as_f32(argument, texts[place]) if widening in template else ""
            if shorter:
                template, texts[place] = template.replace(widening, f"{{{place}}}"), shorter
            elif isinstance(argument, Const) and computes_in_halves(expr.operator):
                number = literal(ElementType.F32, float(argument.value))
                texts[place] = f"{narrowing(argument.type)}({number})"
        return _unwrapped(template.format(*texts), spelling.strength)

    def _load(self, buffer: Buffer, indices: Index) -> tuple[str, int]:
        if not is_pair(buffer):
            text = self.element(buffer, indices)
            if self.guarded and buffer.dimensions:
                return f"CCG_GUARDED({memory_type(buffer.type)}, {text})", POSTFIX
            return text, POSTFIX
        self.headers.add("ccg_complex_array.h")
        return f"ccg_load_{buffer.type.text}({self.pair(buffer, indices)})", POSTFIX


def _unwrapped(text: str, strength: int) -> tuple[str, int]:
    """Without parentheses around the whole, which only what is outside of it may need."""
    if text.startswith("(") and text.endswith(")") and is_call(text, ""):
        return text[1:-1], 0
    return text, strength


def _as_f32(expr: Expr, text: str) -> str:
    """A float that C lacks in f32, where that is not the call that makes one of its bits: a number,
    or an f32 that is rounded, if it need be. Else nothing."""
    if isinstance(expr, Const):
        number = literal(ElementType.F32, float(expr.value))
        return f"({number})" if number.startswith("-") else number
    if expr.type in HALVES and is_call(text, rounding := narrowing(expr.type)):
        return f"ccg_nearest_{expr.type.text}" + text.removeprefix(rounding)
    if expr.type in HALVES and is_call(text, same := narrowing(expr.type, exact=True)):
        return _argument(text, same)
    return ""


def _unrounded(half: Expr, text: str) -> str:
    """The f32 that a half is made of by rounding; nothing where it is not."""
    rounding = narrowing(half.type)
    return _argument(text, rounding) if is_call(text, rounding) else ""


def _argument(call: str, function: str) -> str:
    """What a function is called for, in parentheses if need be."""
    argument = call.removeprefix(function)
    inner = argument[1:-1]
    name, _, _ = inner.partition("(")
    is_alone = _ELEMENT.fullmatch(inner) or (name.isidentifier() and is_call(inner, name))
    return inner if is_alone else argument


def is_pair(buffer: Buffer) -> bool:
    """Whether its elements are two floats each; a complex scalar variable is a struct instead."""
    return buffer.type.is_complex and not (buffer.space is Space.LOCAL and not buffer.dimensions)


def flat_index(buffer: Buffer, indices: Index) -> Affine:
    """The row-major index of an element, folded: [i, j + 1] of [4, 12] → i * 12 + j + 1."""
    total, stride = Affine(), 1
    for index, extent in zip(reversed(indices), reversed(buffer.dimensions), strict=True):
        total += affine(index).scaled(stride)
        stride *= extent
    return total
