"""Tunes a target to a program: measures in which register tiles its contractions are fastest.

A tile changes no bit of a result, so that a tuned program is as right as any other.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from ccodegen.backend.build import bind
from ccodegen.backend.compilers import find_compiler, machine
from ccodegen.backend.direct import direct
from ccodegen.backend.host import Loader
from ccodegen.backend.interfaces import Options
from ccodegen.backend.options import BuildOptions
from ccodegen.compiling import compiled
from ccodegen.frontends.read import read
from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.lower.contract_plan import HEROES
from ccodegen.ops.creation import Constant, Parameter
from ccodegen.ops.register_tile import RegisterTile, contraction_key, register_tile
from ccodegen.passes.context import PassContext
from ccodegen.passes.lay_out_weights import lay_out_weights
from ccodegen.passes.pipelines import COMPILATION, run
from ccodegen.random_inputs import random_inputs
from ccodegen.support.cache import Cache, default_directory, digest, package_stamp
from ccodegen.support.collection import no_collection
from ccodegen.support.errors import InputError
from ccodegen.support.immutable import frozen
from ccodegen.target import Target, Tile

_MOST_VECTORS = 4
_ROUNDS = 7
_SLICE = 2e-3  # seconds of calls in a row
_LEAST_GAIN = 1.03  # less is noise


@frozen
class Tuned:
    """One contraction: the tile it is fastest in, the time of a call in seconds, and the one in the
    tile that it has by default."""

    contraction: str
    tile: Tile
    seconds: float
    default_seconds: float


def tune(source: Any, options: BuildOptions) -> list[Tuned]:
    """The contractions of a program that are faster in another tile than their default one. What
    was measured once on this machine, for a target and a shape, is remembered.

    Raises InputError for a target that does not run in this process, and as `compile` does.
    """
    target = options.target
    if not target.runner.in_process:
        raise InputError(f"target {target.name} does not run in this process: nothing to measure")
    found = {contraction_key(hero): hero for hero in _contractions(source, options)}
    tuned = [_remembered(hero, options) for _, hero in sorted(found.items())]
    return [t for t in tuned if t.default_seconds >= _LEAST_GAIN * t.seconds]


def with_tiles(target: Target, tuned: Sequence[Tuned]) -> Target:
    return replace(target, tiles=tuple((t.contraction, t.tile) for t in tuned))


def _contractions(source: Any, options: BuildOptions) -> Iterator[Instruction]:
    """Those that would be computed in register tiles, before their weights are laid out."""
    passes = COMPILATION[: COMPILATION.index(lay_out_weights)]
    context = PassContext(target=options.target, strict=options.strict)
    module = run(bind(read(source), options).module, passes, context)
    for computation in module.computations:
        for instruction in computation.instructions:
            if instruction.op not in HEROES:
                continue
            if register_tile(instruction, options.target, options.strict):
                yield instruction


def _remembered(hero: Instruction, options: BuildOptions) -> Tuned:
    target = options.target
    made_by = (package_stamp(), machine(target), find_compiler(target).stamp, repr(target))
    weights = [str(isinstance(o.attributes, Constant)) for o in hero.operands]
    key = digest("tile", *made_by, str(options.strict), contraction_key(hero), *weights)
    store = Cache(default_directory())
    data = store.read(key)
    if data is None:
        text = json.dumps(asdict(_measured(hero, options)))
        store.write(key, text.encode())
        data = memoryview(text.encode())
    fields = json.loads(bytes(data))
    return Tuned(**{**fields, "tile": Tile(**fields["tile"])})


def _measured(hero: Instruction, options: BuildOptions) -> Tuned:
    """The contraction by itself, in each tile in turn."""
    module, contraction = _alone(hero), contraction_key(hero)
    tiles = list(_tiles(hero, options).values())
    arrays = random_inputs(module)
    calls = []
    for tile in tiles:
        target = replace(options.target, tiles=((contraction, tile),))
        alone = BuildOptions(target, strict=options.strict)
        with no_collection():
            settings = Options(options.strict)
            with Loader(alone.target, settings) as loader:
                made, _ = compiled(module, alone, settings, loader)
        calls.append(direct(made))
    # What others do on this machine counts less in the processor's time.
    clock = time.process_time if options.target.machine.threads == 1 else time.perf_counter
    seconds = _seconds([partial(_time, clock, call, arrays) for call in calls])
    best = min(range(len(tiles)), key=seconds.__getitem__)
    return Tuned(contraction, tiles[best], seconds[best], seconds[0])


def _alone(hero: Instruction) -> Module:
    operands: list[Instruction] = []
    parameters: list[Instruction] = []
    for operand in hero.operands:
        if not isinstance(operand.attributes, Constant):
            number = len(parameters)
            operand = Instruction("parameter", operand.shape, (), Parameter(number), f"x{number}")
            parameters.append(operand)
        operands.append(operand)
    root = replace(hero, operands=tuple(operands), control_predecessors=())
    return Module("contraction", Computation("entry", tuple(parameters), root))


def _tiles(hero: Instruction, options: BuildOptions) -> dict[RegisterTile, Tile]:
    """The default one, and a few that fit the registers: as high as can be, or a power of two."""
    contraction, target = contraction_key(hero), options.target
    registers = target.machine.vector_registers
    heights = {v: (registers - 1) // v - 1 for v in range(1, _MOST_VECTORS + 1)}
    choices = [target.tile]
    for vectors, most in heights.items():
        if most >= 1:
            choices += [Tile(most, vectors), Tile(1 << (most.bit_length() - 1), vectors)]
    found: dict[RegisterTile, Tile] = {}
    for tile in choices:
        made = register_tile(hero, replace(target, tiles=((contraction, tile),)), options.strict)
        if made is not None:
            found.setdefault(made, tile)
    return found


def _seconds(times: Sequence[Callable[[int], float]]) -> list[float]:
    """The least of each time, taken one after the other in several rounds."""
    best = [time_of(1) for time_of in times]
    turns = max(1, int(_SLICE / max(min(best), 1e-9)))
    for _ in range(_ROUNDS):
        best = [min(b, time_of(turns)) for b, time_of in zip(best, times, strict=True)]
    return best


def _time(
    clock: Callable[[], float], call: Callable[..., Any], arrays: Sequence[Any], turns: int
) -> float:
    start = clock()
    for _ in range(turns):
        call(*arrays)
    return (clock() - start) / turns
