"""Objects that never change: data classes that become such when they are first used.

A class of the standard library's takes a quarter of a millisecond to make, and of the hundreds that
are imported to compile a program few are ever compared or hashed, and most are made once or twice.
So their fields are looked at when somebody asks for them, each function is compiled when it is
called, and one that makes objects when it has made a few.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from functools import cache
from reprlib import recursive_repr
from threading import RLock
from typing import Any, TypeVar, dataclass_transform

_T = TypeVar("_T")
_SELDOM = 8  # objects: to make them in a loop over fields takes no longer than to compile
_ASKED_FOR = ("__dataclass_fields__", "__dataclass_params__", "__match_args__")
_LOCK = RLock()  # a class becomes one once, its bases before it


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[_T]) -> type[_T]:
    """As `dataclass(frozen=True)`."""
    return _refusing(_data_class(cls, _SOURCES, is_frozen=True))


@dataclass_transform(eq_default=False, frozen_default=True, field_specifiers=(field,))
def frozen_object(cls: type[_T]) -> type[_T]:
    """As `dataclass(frozen=True, eq=False)`: compared by identity."""
    return _refusing(_data_class(cls, ("__init__",), is_frozen=True))


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def immutable(cls: type[_T]) -> type[_T]:
    """As `frozen` for who checks types, who then says what assigns to it. Nothing does at run time,
    where a frozen object takes three times as long to make: for what passes make very many of. HLO,
    and what users hold, is frozen in earnest."""
    return _data_class(cls, _SOURCES, is_frozen=False)


def _data_class(cls: type[_T], functions: Collection[str], is_frozen: bool) -> type[_T]:
    own = {name for name, value in cls.__dict__.items() if value is not None}
    cls.__doc__ = cls.__doc__ or cls.__name__  # else a signature is made to stand there
    for name in functions:
        if name not in own:
            setattr(cls, name, _compiled_later(cls, name, is_frozen))
    if "__repr__" not in own:
        cls.__repr__ = _text  # type: ignore[method-assign]
    for name in _ASKED_FOR:
        setattr(cls, name, _Later(cls, name))
    return cls


class _Later:
    """What a data class has, of a class that has not become one."""

    def __init__(self, cls: Any, name: str) -> None:
        self._cls, self._name = cls, name

    def __get__(self, instance: object, owner: type) -> Any:
        with _LOCK:
            if isinstance(vars(self._cls)["__match_args__"], _Later):
                _declared(self._cls)  # while they do
                dataclass(init=False, repr=False, eq=False)(self._cls)
                names = tuple(f.name for f in fields(self._cls))
                self._cls.__match_args__ = names  # type: ignore[misc]
        return getattr(owner, self._name)


def _refusing(cls: type[_T]) -> type[_T]:
    cls.__setattr__ = cls.__delattr__ = _refuse  # type: ignore[method-assign]
    return cls


def _compiled_later(cls: type, name: str, is_frozen: bool) -> Any:
    def first(self: Any, *arguments: Any, **named: Any) -> Any:
        setattr(cls, name, _compiled(cls, name, is_frozen))
        return getattr(cls, name)(self, *arguments, **named)

    return first if name != "__init__" else _seldom(cls, first)


def _seldom(cls: type, otherwise: Callable[..., None]) -> Callable[..., None]:
    """An `__init__` for the first objects. `otherwise`: for all more, and where arguments do not
    fit, or a default has to be made."""
    made = 0

    def init(self: Any, *arguments: Any, **named: Any) -> None:
        nonlocal made
        made += 1
        values = _values(_declared(cls), arguments, named) if made <= _SELDOM else None
        if values is None:
            otherwise(self, *arguments, **named)
            return
        for name, value in values.items():
            object.__setattr__(self, name, value)
        if hasattr(cls, "__post_init__"):
            self.__post_init__()

    return init


def _values(
    declared: Mapping[str, Field[Any]], arguments: Collection[Any], named: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Of the fields by name; None where that takes more than to look."""
    given = dict(zip(declared, arguments, strict=False))
    if len(arguments) > len(given) or not named.keys() <= declared.keys() - given.keys():
        return None
    given |= named
    rest = {name: f.default for name, f in declared.items() if name not in given}
    return None if MISSING in rest.values() else given | rest


@cache
def _declared(cls: type) -> dict[str, Field[Any]]:
    """The fields, in order, as they stand before the standard library looks at them."""
    found: dict[str, Field[Any]] = {}
    with _LOCK:
        for base in reversed(cls.__mro__[1:]):
            if "__match_args__" in vars(base):
                found |= _declared(base)
        for name, annotation in vars(cls).get("__annotations__", {}).items():
            value = getattr(cls, name, MISSING)
            if "ClassVar" not in str(annotation):
                plain: Any = field(default=value)
                found[name] = value if isinstance(value, Field) else plain
    return found


def _compiled(cls: type, name: str, is_frozen: bool) -> Any:
    """A function of a class, as `dataclass` makes it, in a third of the time."""
    content: dict[str, Any] = {"_given": object(), "_assign": object.__setattr__}
    for field_name, f in _declared(cls).items():
        content |= {f"_default_{field_name}": f.default, f"_new_{field_name}": f.default_factory}
    exec(_SOURCES[name](cls, is_frozen), content)
    content[name].__qualname__ = f"{cls.__qualname__}.{name}"
    return content[name]


def _init_source(cls: type, is_frozen: bool) -> str:
    parameters, lines = ["self"], []
    for name, f in _declared(cls).items():
        value = name
        if f.default is not MISSING:
            parameters.append(f"{name}=_default_{name}")
        elif f.default_factory is not MISSING:
            parameters.append(f"{name}=_given")
            value = f"_new_{name}() if {name} is _given else {name}"
        else:
            parameters.append(name)
        is_set = f"_assign(self, {name!r}, {value})" if is_frozen else f"self.{name} = {value}"
        lines.append(is_set)
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    return _function(f"__init__({', '.join(parameters)})", *lines)


def _eq_source(cls: type, is_frozen: bool) -> str:
    same = f"{_compared(cls, 'self')} == {_compared(cls, 'other')}"
    return _function(
        "__eq__(self, other)",
        f"return {same} if other.__class__ is self.__class__ else NotImplemented",
    )


def _hash_source(cls: type, is_frozen: bool) -> str:
    return _function("__hash__(self)", f"return hash({_compared(cls, 'self')})")


def _compared(cls: type, owner: str) -> str:
    """The values that count, as a tuple."""
    return f"({''.join(f'{owner}.{name},' for name, f in _declared(cls).items() if f.compare)})"


def _function(head: str, *body: str) -> str:
    return "\n    ".join([f"def {head}:", *body, "pass"])


_SOURCES: dict[str, Callable[[type, bool], str]] = {
    "__init__": _init_source,
    "__eq__": _eq_source,
    "__hash__": _hash_source,
}


def _refuse(self: Any, name: str, value: object = None) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


@recursive_repr()
def _text(self: Any) -> str:
    shown = (f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"
