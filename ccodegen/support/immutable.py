"""Objects that never change: data classes whose functions are compiled when they are first called.

A class of the standard library's takes a quarter of a millisecond to make, and of the hundreds that
are imported to compile a program few are ever compared or hashed, and many not even made.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import Field, FrozenInstanceError, dataclass, field, fields
from reprlib import recursive_repr
from typing import Any, TypeVar, dataclass_transform

_T = TypeVar("_T")
_HASHED = {"init": False, "repr": False, "unsafe_hash": True}  # and compared
_OPTIONS: dict[str, dict[str, bool]] = {  # of `dataclass`, for a function
    "__init__": {"repr": False, "eq": False},
    "__eq__": _HASHED,
    "__hash__": _HASHED,
}


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[_T]) -> type[_T]:
    """As `dataclass(frozen=True)`."""
    return _refusing(_data_class(cls, _OPTIONS, is_frozen=True))


@dataclass_transform(eq_default=False, frozen_default=True, field_specifiers=(field,))
def frozen_object(cls: type[_T]) -> type[_T]:
    """As `dataclass(frozen=True, eq=False)`: compared by identity."""
    return _refusing(_data_class(cls, {"__init__"}, is_frozen=True))


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def immutable(cls: type[_T]) -> type[_T]:
    """As `frozen` for who checks types, who then says what assigns to it. Nothing does at run time,
    where a frozen object takes three times as long to make: for what passes make very many of. HLO,
    and what users hold, is frozen in earnest."""
    return _data_class(cls, _OPTIONS, is_frozen=False)


def _data_class(cls: type[_T], functions: Collection[str], is_frozen: bool) -> type[_T]:
    own = {name for name, value in cls.__dict__.items() if value is not None}
    cls.__doc__ = cls.__doc__ or cls.__name__  # else a signature is made to stand there
    made = dataclass(init=False, repr=False, eq=False)(cls)
    for name in functions:
        if name not in own:
            setattr(made, name, _compiled_later(made, name, is_frozen))
    if "__repr__" not in own:
        made.__repr__ = _text  # type: ignore[method-assign]
    return made


def _refusing(cls: type[_T]) -> type[_T]:
    cls.__setattr__ = cls.__delattr__ = _refuse  # type: ignore[method-assign]
    return cls


def _compiled_later(cls: type, name: str, is_frozen: bool) -> Any:
    def first(self: Any, *arguments: Any, **named: Any) -> Any:
        setattr(cls, name, _compiled(cls, name, is_frozen))
        return getattr(cls, name)(self, *arguments, **named)

    return first


def _compiled(cls: type, name: str, is_frozen: bool) -> Any:
    """A function as `dataclass` makes it for a class of these fields."""
    known: tuple[Field[Any], ...] = fields(cls)
    content = {"__annotations__": {f.name: f.type for f in known}, **{f.name: f for f in known}}
    if hasattr(cls, "__post_init__"):
        content["__post_init__"] = cls.__post_init__
    like = type(cls.__name__, (), {**content, "__module__": cls.__module__, "__doc__": cls.__doc__})
    return dataclass(frozen=is_frozen, **_OPTIONS[name])(like).__dict__[name]


def _refuse(self: Any, name: str, value: object = None) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


@recursive_repr()
def _text(self: Any) -> str:
    shown = (f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"
