"""`register_custom_call`: what a custom call means, from Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ccodegen.hlo.builder import Builder
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.shape import ArrayShape, Shape
from ccodegen.hlo.text.shapes import shape_from_text
from ccodegen.loop import library
from ccodegen.ops import custom_call
from ccodegen.ops.backend_config import Config, backend_config_of, backend_config_text, parse_config
from ccodegen.ops.build import derived, reducer
from ccodegen.ops.c_call import CFunction, Scalars, evaluation
from ccodegen.ops.custom_call import CustomCallDef
from ccodegen.ops.lowering import NestScope
from ccodegen.support.element_type import ElementType
from ccodegen.support.errors import CcodegenError, InputError
from ccodegen.support.hooks import ArraySpec
from ccodegen.support.runtime_c import add_header

Lower = Callable[..., "Instruction | Sequence[Instruction]"]


def register_custom_call(
    target: str,
    *,
    lower: Lower | None = None,
    nest: Callable[[NestScope, Instruction], None] | None = None,
    c_function: str = "",
    c_header: str | Path = "",
    c_scalars: Scalars = (),
    host: Callable[..., Any] | bool = False,
    evaluate: Callable[..., Any] | None = None,
) -> None:
    """Tells what custom calls to `target` mean, in one of four ways. A later call replaces it.

    `lower(b, *operands, **config)` makes it of HLO's own ops and returns an instruction, or several
    for a tuple. `b` is a `CallBuilder`: `b.multiply(x, b.full(2.0, x.shape))`. Nothing else is
    needed: it fuses, and runs everywhere.

    `nest(scope, instruction)` writes a loop nest from `scope.operands` to `scope.results` through
    `scope.builder` (ccodegen/ops/lowering.py, ccodegen/loop/builder.py); `evaluate(*operands,
    **config)` is the same with NumPy.

    `c_function` names a C function, and `c_header` the file that defines it (`static inline`), or
    its text. It becomes a part of packages and of compiled programs. See `CFunction` for how it is
    called; `c_scalars` are keys of the backend_config, or a function from the instruction to
    numbers. `evaluate(*operands, *scalars)` is the same with NumPy over arrays as C gets them.

    `host(*operands, **config)` is a Python function that programs in this process call; in a
    package the caller supplies it as `ccg_io.call` (then `host=True` is enough).

    `config` is the backend_config as `backend_config_of` reads it; a text that is no dictionary
    comes as `opaque=text`. Without `evaluate`, `ccodegen.evaluate` refuses what is not lowered and
    not on the host. Results are one array, or a tuple of arrays for a tuple.
    """
    _check_functions(lower=lower, nest=nest, evaluate=evaluate)
    ways = [bool(way) for way in (lower, nest, c_function, host)]
    if sum(ways) != 1:
        raise InputError(
            f"register_custom_call({target!r}) needs one way to compute it",
            hint="pass one of lower, nest, c_function, host",
        )
    if lower is not None:
        definition = CustomCallDef(target, expand=_expansion(lower))
    elif nest is not None:
        definition = CustomCallDef(target, nest=_nest(nest), evaluate=_reference(evaluate))
    elif c_function:
        definition = _c_definition(target, c_function, c_header, c_scalars, evaluate)
    else:
        function = _host_function(host) if callable(host) else None
        definition = CustomCallDef(target, asks_host=True, host=function)
    custom_call.register_by_user(definition)


def _check_functions(**arguments: object) -> None:
    for name, value in arguments.items():
        if value is not None and not callable(value):
            kind = type(value).__name__
            raise InputError(f"register_custom_call: {name} must be a function, not a {kind}")


class CallBuilder(Builder):
    """Makes instructions in the place of a custom call, `b.origin`.

    Every op of HLO is a method, dashes as underscores: `b.add(x, y)`,
    `b.reduce(x, zero, dimensions=(0,), to_apply=b.reducer("add", x.shape))`. Attributes go by name,
    shapes are inferred where `shape=` is left out.
    """

    def __init__(self, origin: Instruction) -> None:
        super().__init__(origin.name)
        self.origin = origin

    def op(
        self,
        opcode: str,
        *operands: Instruction,
        shape: Shape | str | None = None,
        name: str = "",
        **attributes: Any,
    ) -> Instruction:
        made = super().op(opcode, *operands, shape=shape, name=name, **attributes)
        return derived(self.origin, made.op, made.shape, made.operands, made.attributes)

    def full(self, value: Any, shape: Shape | str) -> Instruction:
        """An array of one value: `b.full(0.5, x.shape)`."""
        wanted = shape_from_text(shape) if isinstance(shape, str) else shape
        if not isinstance(wanted, ArrayShape):
            raise InputError(f"full makes arrays, not {wanted}")
        scalar = self.constant(value, wanted.with_dimensions(()))
        return scalar if not wanted.rank else self.op("broadcast", scalar, shape=wanted)

    def reducer(self, opcode: str, shape: Shape) -> Computation:
        """The computation of two scalars for `to_apply`, of the shape's element type."""
        if not isinstance(shape, ArrayShape):
            raise InputError(f"a reducer is of an array's elements, not of {shape}")
        element: ElementType = shape.element_type
        return reducer(opcode, element)

    def __getattr__(self, name: str) -> Callable[..., Instruction]:
        if name.startswith("_"):
            raise AttributeError(name)
        opcode = name.rstrip("_").replace("_", "-")
        return lambda *operands, **attributes: self.op(opcode, *operands, **attributes)


def _expansion(lower: Lower) -> custom_call.Expand:
    def expand(instruction: Instruction) -> Instruction:
        builder = CallBuilder(instruction)
        with _errors_of_user(instruction):
            made = lower(builder, *instruction.operands, **_config(instruction))
            root = made if isinstance(made, Instruction) else _tuple_of(builder, made)
        if root.shape != instruction.shape:
            message = f"the lowering of custom-call '{instruction.name}' gives {root.shape}"
            raise InputError(f"{message}, expected {instruction.shape}", instruction.location)
        return root

    return expand


def _tuple_of(builder: Builder, made: Any) -> Instruction:
    if isinstance(made, Sequence) and all(isinstance(m, Instruction) for m in made):
        return builder.op("tuple", *made)
    raise InputError(f"it gives a {type(made).__name__}, expected an instruction, or several")


def _nest(nest: custom_call.Nest) -> custom_call.Nest:
    def emit(scope: NestScope, instruction: Instruction) -> None:
        with _errors_of_user(instruction):
            nest(scope, instruction)

    return emit


@contextmanager
def _errors_of_user(instruction: Instruction) -> Iterator[None]:
    """What the user's function raises says where, and is no bug of ours."""
    try:
        yield
    except CcodegenError as error:
        message = f"lowering custom-call '{instruction.name}': {error.message}"
        raise InputError(message, error.location or instruction.location, error.hint) from error
    except Exception as error:
        message = f"lowering custom-call '{instruction.name}': {type(error).__name__}: {error}"
        raise InputError(message, instruction.location) from error


def _config(instruction: Instruction) -> Config:
    """The backend_config for the user's function."""
    text = backend_config_text(instruction)
    return _opaque(text) or backend_config_of(instruction)


def _opaque(text: str) -> Config:
    """Of a text that is no dictionary."""
    return {"opaque": text} if text and not text.lstrip().startswith("{") else {}


def _reference(evaluate: Callable[..., Any] | None) -> custom_call.Evaluate | None:
    if evaluate is None:
        return None

    def reference(evaluator: Any, instruction: Instruction, *operands: Any) -> Any:
        return evaluate(*operands, **_config(instruction))

    return reference


def _c_definition(
    target: str,
    name: str,
    header: str | Path,
    scalars: Scalars,
    evaluate: Callable[..., Any] | None,
) -> CustomCallDef:
    function = CFunction(name, add_header(header, name), scalars)
    if evaluate is not None:
        library.add_function(name, evaluate)
    reference = evaluation(function, evaluate) if evaluate is not None else None
    return CustomCallDef(target, nest=function.nest, evaluate=reference, honours_layouts=True)


def _host_function(host: Callable[..., Any]) -> Callable[..., Any]:
    def function(config: str, specs: Sequence[ArraySpec], *operands: Any) -> Any:
        own = _opaque(config) or (parse_config(config) if config else {})
        return host(*operands, **own)

    return function
