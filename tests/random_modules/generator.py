"""Which kinds of instructions there are, how often each is taken, and the entry around them."""

from __future__ import annotations

import random

from ccodegen.hlo.builder import module
from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.support.errors import InputError
from tests.random_modules import (
    algorithms,
    collectives,
    contractions,
    control,
    custom_calls,
    dynamic,
    elementwise,
    folds,
    indexing,
    interface,
    movement,
    ragged,
    randomness,
    scans,
    tiled,
)
from tests.random_modules.body import Body, Kind, Maker


def _rarely(kind: Kind, probability: float) -> Kind:
    """The kind where it is not refused by chance: of what takes long to try."""

    def chosen(body: Body) -> Instruction:
        if not body.chance(probability):
            raise InputError("not this time")
        return kind(body)

    return chosen


_COMMON: list[Kind] = [
    elementwise.unary, elementwise.binary, elementwise.binary, elementwise.compare,
    elementwise.select, elementwise.convert, movement.broadcast, movement.reshape,
    movement.transpose, folds.reduce,
]  # fmt: skip
_EXACT: list[Kind] = [
    *_COMMON, *_COMMON, elementwise.clamp, movement.reverse, movement.slice_, movement.pad,
    movement.concatenate, movement.iota, movement.constant, movement.laid_out,
    indexing.dynamic_slice, indexing.dynamic_update_slice, indexing.gather, indexing.scatter,
    folds.arg_maximum, folds.normalise, folds.normalise, folds.reduce_window,
    folds.select_and_scatter, contractions.dot, contractions.dot, contractions.convolution,
    algorithms.sort, algorithms.topk, control.loop, control.conditional, control.call,
    control.asynchronous, control.marker, elementwise.map_, elementwise.stochastic_convert,
    scans.scan, scans.map_of_anything, ragged.ragged_dot, ragged.scaled_dot,
    collectives.collective, custom_calls.top_k, dynamic.bounded,
    _rarely(tiled.dot, 0.5), _rarely(tiled.convolution, 0.5),
]  # fmt: skip
# XLA knows layouts of its own only, few of the markers, not all ops, and "TopK" of f32 alone.
_NOT_FOR_XLA = (
    movement.laid_out, control.marker, control.asynchronous, elementwise.stochastic_convert,
    scans.scan, ragged.ragged_dot, ragged.scaled_dot, collectives.collective, custom_calls.top_k,
    dynamic.bounded,
)  # fmt: skip
_FOR_XLA = [kind for kind in _EXACT if kind not in _NOT_FOR_XLA]
_INEXACT: list[Kind] = [
    *_EXACT, *_COMMON, elementwise.bitcast_convert, elementwise.reduce_precision,
    algorithms.cholesky, algorithms.triangular_solve, algorithms.fft, algorithms.batch_norm,
    algorithms.rng_bit_generator, randomness.rng, randomness.state, custom_calls.mathematics,
    custom_calls.factorisation, custom_calls.factorisation,
]  # fmt: skip
_SCALARS: list[Kind] = [
    elementwise.unary, elementwise.binary, elementwise.binary, elementwise.compare,
    elementwise.select, elementwise.clamp, elementwise.convert,
]  # fmt: skip


def random_module(
    seed: int, exact: bool = False, steps: int = 12, for_xla: bool = False
) -> Module:
    """The module of this seed, of about so many instructions at most.

    An exact one computes with small integers in whatever type, so that no order of operations
    changes a result (`values.small_integers` are arguments for it). `for_xla`: an exact one of what
    XLA:CPU takes; folds begin with values that change nothing, as it believes of all.
    """
    source = random.Random(seed)
    kinds = _FOR_XLA if for_xla else _EXACT if exact else _INEXACT
    maker = Maker(source, exact or for_xla, kinds, _SCALARS, for_xla)
    return module(_entry(Body(maker, "entry"), steps), f"random_{seed}")


def _entry(body: Body, steps: int) -> Computation:
    for _ in range(body.random.randint(1, 3)):
        shape = body.shape()
        is_laid_out = body.chance(0.1) and not body.maker.neutral
        body.parameter(interface.laid_out(body, shape) if is_laid_out else shape)
    body.grow(body.random.randint(2, steps))
    results = body.random.sample(body.values, min(len(body.values), body.random.randint(1, 4)))
    results.append(body.values[-1])
    if body.chance(0.1) and not body.maker.neutral:
        results[-1] = interface.relaid(body, results[-1])
    if body.chance(0.5) and not body.dynamic_results:
        return body.build(results[-1])
    if body.chance(0.2):
        results[0] = body.tuple(results[:2])
    return body.build(body.tuple([*results, *body.dynamic_results]))
