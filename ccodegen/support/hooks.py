"""What a program may ask of its caller while it runs, and Python functions that answer.

In C the same five hooks are the members of `ccg_io` (runtime_c/ccg_io.h).
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, TypeAlias

import numpy as np

from ccodegen.support.errors import InputError
from ccodegen.support.immutable import frozen
from ccodegen.support.location import Location

Array: TypeAlias = np.ndarray[Any, Any]


class Hook(enum.Enum):
    """The member of `ccg_io` and of `IO` that answers."""

    INFEED = "infeed"
    OUTFEED = "outfeed"
    SEND = "send"
    RECV = "recv"
    CALL = "call"


@frozen
class Request:
    """`text`: infeed_config, outfeed_config, or the target of a custom call. `config`: a custom
    call's backend_config. `channel`: of send and recv, 0 where none is given."""

    hook: Hook
    text: str = ""
    config: str = ""
    channel: int = 0

    def __str__(self) -> str:
        if self.hook is Hook.CALL:
            return f"custom-call to '{self.text}'"
        if self.hook in (Hook.SEND, Hook.RECV):
            return f"{self.hook.value} on channel {self.channel}"
        return f"{self.hook.value} {self.text!r}" if self.text else self.hook.value


@frozen
class ArraySpec:
    """An array that a program takes, or that a hook has to give: its dimensions and NumPy type."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"


Function: TypeAlias = Callable[..., Any]


@frozen
class IO:
    """Python functions for the hooks of a program.

    infeed(config, specs)               gives arrays; `config` is the infeed_config
    outfeed(config, *arrays)            takes arrays; `config` is the outfeed_config
    send(channel, *arrays)              takes arrays; `channel` is the channel_id
    recv(channel, specs)                gives arrays
    calls[target](config, specs, *arrays)   takes operands, gives results of a custom call

    Tuples come and go as their leaves, left to right. What gives arrays gives one for each
    ArraySpec in `specs`, of its shape and type: a sequence, or the array itself where there is one.
    Arrays that are taken are copies. An exception ends the run and reaches its caller.
    """

    infeed: Function | None = None
    outfeed: Function | None = None
    send: Function | None = None
    recv: Function | None = None
    calls: Mapping[str, Function] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises InputError for what cannot be called."""
        own = {h.value: getattr(self, h.value) for h in Hook if h is not Hook.CALL}
        for name, function in {**own, **self.calls}.items():
            if function is not None and not callable(function):
                kind = type(function).__name__
                raise InputError(f"IO: {name} must be a function, not a {kind}")

    def function(self, request: Request) -> Function | None:
        """What answers a request; None where nothing does."""
        if request.hook is Hook.CALL:
            return self.calls.get(request.text)
        found: Function | None = getattr(self, request.hook.value)
        return found

    def serve(
        self, request: Request, arrays: Sequence[Array], specs: Sequence[ArraySpec]
    ) -> list[Array]:
        """What the function gives for the specs. Raises InputError where that does not fit, and
        whatever the function raises."""
        function = self.function(request)
        if function is None:
            raise missing(request)
        match request.hook:
            case Hook.INFEED:
                given = function(request.text, specs)
            case Hook.OUTFEED:
                given = function(request.text, *arrays)
            case Hook.SEND:
                given = function(request.channel, *arrays)
            case Hook.RECV:
                given = function(request.channel, specs)
            case Hook.CALL:
                given = function(request.config, specs, *arrays)
        return _fitting(request, given, specs)


NO_IO = IO()


def missing(request: Request, where: str = "", location: Location | None = None) -> InputError:
    """The error that nothing answers a request; `where`: the instruction's name."""
    name = request.hook.value
    example = f"calls={{{request.text!r}: f}}" if request.hook is Hook.CALL else f"{name}=f"
    return InputError(
        f"{request}{f' ({where})' if where else ''} asks the caller, who has no function for it",
        location,
        hint=f"in Python, pass io=ccodegen.IO({example}); ccodegen.IO says what f takes and gives",
    )


def _fitting(request: Request, given: Any, specs: Sequence[ArraySpec]) -> list[Array]:
    if not specs:
        return []
    values = [given] if len(specs) == 1 and not isinstance(given, tuple | list) else given
    if not isinstance(values, tuple | list) or len(values) != len(specs):
        count = len(values) if isinstance(values, tuple | list) else type(given).__name__
        raise InputError(f"{request}: the function gave {count} arrays, expected {len(specs)}")
    pairs = zip(values, specs, strict=True)
    return [_fitted(request, value, spec) for value, spec in pairs]


def _fitted(request: Request, value: Any, spec: ArraySpec) -> Array:
    is_number = isinstance(value, bool | int | float | complex)
    array = np.asarray(value, spec.dtype if is_number else None)
    if array.shape != spec.shape or array.dtype != spec.dtype:
        found = ArraySpec(array.shape, array.dtype)
        raise InputError(f"{request}: the function gave {found}, expected {spec}")
    return array
