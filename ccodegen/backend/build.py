"""From a module to a loop program: what every backend and front door begins with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ccodegen.backend.options import BuildOptions, Parameter
from ccodegen.hlo.dynamic import dynamic_dimensions, static
from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.layout import same_memory
from ccodegen.hlo.shape import ArrayShape, Shape, TokenShape, TupleShape, leaves
from ccodegen.loop.ir import Argument, Kernel, Program
from ccodegen.lower.program import LowerOptions, lower
from ccodegen.passes.bind_constants import Bound, bind_constants
from ccodegen.passes.context import PassContext
from ccodegen.passes.expose_layouts import expose_layouts, interface
from ccodegen.passes.expose_sizes import expose_sizes
from ccodegen.passes.flatten_entry import flatten_entry
from ccodegen.passes.pipelines import COMPILATION, run
from ccodegen.passes.settle_entry_layout import settle_entry_layout
from ccodegen.passes.thread_random_state import initial_state, with_random_state
from ccodegen.support.decisions import debug_level
from ccodegen.support.errors import InputError, UnsupportedError, unexpected_are_bugs
from ccodegen.support.immutable import frozen
from ccodegen.target import Target


@frozen
class Build:
    """A program at its stages. `module` has the constants bound; `parameters[n]` is the flat
    number, before binding, of what is argument n now; `lower_bound` is the least arena, in bytes,
    that any assignment of this schedule needs. `optimized` and `program` take and give arrays as
    they lie in memory, `module` logical ones.
    """

    module: Module
    parameters: tuple[int, ...]
    optimized: Module
    program: Program
    lower_bound: int


@unexpected_are_bugs()
def build(
    module: Module, options: BuildOptions, made: Callable[[Kernel], None] = lambda _: None
) -> Build:
    """`made` is told of each kernel of the program as soon as there is one.

    Raises InputError for options that do not fit, UnsupportedError for what we cannot lower.
    """
    target = options.target
    if options.strict and not target.machine.strict:
        raise InputError(f"target {target.name} has no strict mode: its arithmetic is not IEEE's")
    bound = bind(module, options)
    context = PassContext(target=target, strict=options.strict, dump_dir=options.dump_dir)
    whole = with_random_state(expose_sizes(bound.module))
    optimized = run(expose_layouts(whole), COMPILATION, context)
    donated = [parameter_number(flatten_entry(module), key) for key in options.donate]
    kept = [_kept(bound.parameters, n) for n in donated]
    return _lowered(bound, whole, optimized, kept, options, made)


def bind(module: Module, options: BuildOptions) -> Bound:
    """The module with arrays as parameters, less those that constants are bound to."""
    flat = flatten_entry(module)
    return bind_constants(
        flat,
        {parameter_number(flat, key): np.asarray(v) for key, v in options.constants.items()},
    )


@unexpected_are_bugs()
def build_optimized(module: Module, options: BuildOptions) -> Build:
    """The same from a module that the passes have been over: `Build.optimized` read back."""
    if options.constants:
        raise InputError("constants cannot be bound after the passes")
    bound = bind(module, options)
    donated = [parameter_number(module, key) for key in options.donate]
    return _lowered(bound, module, module, donated, options)


def _lowered(
    bound: Bound,
    whole: Module,
    optimized: Module,
    donated: Sequence[int],
    options: BuildOptions,
    made: Callable[[Kernel], None] = lambda _: None,
) -> Build:
    """`whole` has the interface of the program, sizes and the random state included."""
    aliases = output_aliases(settle_entry_layout(whole), donated)
    names = tuple(argument_name(p) for p in whole.entry.parameters)
    caller = interface(whole)
    settings = LowerOptions(options.target, options.strict, aliases, names, caller)
    lowered = lower(optimized, settings, made)
    _check_addresses(lowered.program, options.target)
    program = with_sizes(with_initial_state(lowered.program, whole), bound.module)
    if debug_level() > 0:
        from ccodegen.loop.verify import verify

        verify(program)
    if options.dump_dir is not None:
        from ccodegen.loop import text as loop_text

        text = loop_text.to_text(program)
        (options.dump_dir / "loop.txt").write_text(text, encoding="utf-8")
    return Build(bound.module, bound.parameters, optimized, program, lowered.lower_bound)


def _check_addresses(program: Program, target: Target) -> None:
    """Raises UnsupportedError where the target's pointers cannot reach all of the program's memory,
    or its ptrdiff_t not all of an array's bytes."""
    bits = target.abi.pointer_bits
    buffers = [a.buffer for a in program.arguments] + [c.buffer for c in program.constants]
    sizes = {b.name: b.bytes for b in buffers} | {"the arena": program.arena_size}
    largest = max(sizes, key=sizes.__getitem__)
    addresses = f"target {target.name} has addresses of {bits} bits"
    if sizes[largest] >= 2 ** (bits - 1):
        raise UnsupportedError(f"{largest} of {sizes[largest]} bytes: {addresses}")
    if sum(sizes.values()) >= 2**bits:
        raise UnsupportedError(f"arrays of {sum(sizes.values())} bytes in all: {addresses}")


def with_initial_state(program: Program, module: Module) -> Program:
    """The program whose argument that is the random state says what it begins with."""
    parameters = module.entry.parameters
    arguments = tuple(
        a if a.parameter is None else replace(a, initial=initial_state(parameters[a.parameter]))
        for a in program.arguments
    )
    return replace(program, arguments=arguments)


def with_sizes(program: Program, module: Module) -> Program:
    """The program whose arguments that are sizes (see `expose_sizes`) say of what."""
    entry = settle_entry_layout(module).entry
    taken, first = dynamic_dimensions(p.shape for p in entry.parameters), len(entry.parameters)
    given = dynamic_dimensions([entry.root.shape])
    last = sum(isinstance(leaf, ArrayShape) for leaf in leaves(entry.root.shape))
    names = {a.output: a.name for a in program.arguments}

    def named(argument: Argument) -> Argument:
        parameter, output = argument.parameter, argument.output
        if parameter is not None and first <= parameter < first + len(taken):
            return replace(argument, size_of=taken[parameter - first])
        if output is not None and last <= output < last + len(given):
            number, dimension = given[output - last]
            name = f"{names[number]}_size{dimension}"
            return replace(argument, name=name, size_of=(number, dimension))
        return argument

    return replace(program, arguments=tuple(map(named, program.arguments)))


def parameter_number(module: Module, key: Parameter) -> int:
    """The number of a parameter of a module whose parameters are arrays."""
    parameters = module.entry.parameters
    if isinstance(key, int):
        if 0 <= key < len(parameters):
            return key
        raise InputError(f"there is no parameter {key}: the program has {len(parameters)}")
    found = [n for n, p in enumerate(parameters) if key in (p.name, argument_name(p))]
    if found:
        return found[0]
    known = ", ".join(argument_name(p) for p in parameters[:20])
    raise InputError(f"there is no parameter '{key}'", hint=f"the parameters are: {known}")


def argument_name(parameter: Instruction) -> str:
    """What a user calls a parameter: its JAX argument path, else its HLO name."""
    return parameter.metadata.op_name or parameter.name


def output_aliases(module: Module, donated: Sequence[int]) -> dict[int, int]:
    """Output leaf by parameter leaf: what the module's own aliases say, then the first free
    output of equal shape and type for each donated parameter."""
    outputs = _arrays(module.entry.root.shape)
    taken: dict[int, int] = {}
    for alias in module.aliases:
        number = _output_number(module, alias.output_index)
        _check_alias(module.entry.parameters[alias.parameter], outputs[number])
        taken[alias.parameter] = number
    for number in donated:
        if number in taken:
            continue
        parameter = module.entry.parameters[number]
        taken[number] = _free_output(parameter, outputs, set(taken.values()))
    return taken


def _check_alias(parameter: Instruction, output: Shape) -> None:
    if not same_memory(parameter.shape, output):
        message = f"parameter '{parameter.name}' ({parameter.shape}) and the result {output} cannot"
        raise InputError(f"{message} share memory: their layouts differ", parameter.location)


def _arrays(shape: Shape) -> tuple[Shape, ...]:
    """The leaves that have memory: no tokens."""
    return tuple(leaf for leaf in leaves(shape) if not isinstance(leaf, TokenShape))


def _free_output(parameter: Instruction, outputs: Sequence[Shape], taken: set[int]) -> int:
    for number, shape in enumerate(outputs):
        same_shape = static(shape) == static(parameter.shape)
        if number not in taken and same_shape and same_memory(shape, parameter.shape):
            return number
    message = f"parameter '{parameter.name}' ({parameter.shape}) cannot be donated"
    hint = "a donated parameter needs an output of the same shape and type that no other one takes"
    raise InputError(message, parameter.location, hint)


def _output_number(module: Module, path: Sequence[int]) -> int:
    """The flat number of the output leaf at a path into the root's tuple."""
    shape = module.entry.root.shape
    number = 0
    for step in path:
        assert isinstance(shape, TupleShape)
        number += sum(len(_arrays(e)) for e in shape.elements[:step])
        shape = shape.elements[step]
    return number


def _kept(parameters: Sequence[int], number: int) -> int:
    if number not in parameters:
        raise InputError(f"parameter {number} is bound to a constant and cannot be donated")
    return list(parameters).index(number)
