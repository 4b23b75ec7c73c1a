"""Ops that are algorithms over lines or matrices: sort, topk, fft, cholesky and their like."""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.shape import ArrayShape, TupleShape
from ccodegen.support.element_type import HLO_TYPES, ElementType
from tests.random_modules.body import Body
from tests.random_modules.functions import comparator
from tests.random_modules.values import SMALL_SIZES

_F32, _F64, _U64 = (HLO_TYPES[name] for name in ("f32", "f64", "u64"))


def _real(element_type: ElementType) -> bool:
    return not element_type.is_complex


def _inexact(element_type: ElementType) -> bool:
    return element_type.is_float or element_type.is_complex


def sort(body: Body) -> Instruction:
    """Of one to three operands; the first one is no complex number, so that one can be the key."""
    first = body.any(1, _real)
    shape = first.array_shape
    more = [shape.with_type(body.type()) for _ in range(body.random.choice((0, 0, 1, 2)))]
    operands = [body.without_nan(v) for v in (first, *map(body.like, more))]
    types = [o.array_shape.element_type for o in operands]
    axis = body.random.randrange(shape.rank)
    made = body.op(
        "sort",
        *operands,
        dimensions=(axis,),
        to_apply=comparator(body, types),
        is_stable=True,
    )
    return body.one_of(made)


def topk(body: Body) -> Instruction:
    value = body.without_nan(body.any(1, _real))
    k = body.random.randint(0, value.array_shape.dimensions[-1])
    return body.one_of(body.op("topk", value, k=k, largest=body.chance(0.7)))


def _batch(body: Body) -> tuple[int, ...]:
    return tuple(body.random.choice(SMALL_SIZES) for _ in range(body.random.choice((0, 0, 1, 2))))


def cholesky(body: Body) -> Instruction:
    """Of a matrix as it comes, or of one that is positive definite."""
    kind = body.type_where(_inexact)
    n = body.random.choice((0, 1, 2, 3, 5, 8))
    a = body.like(ArrayShape(kind, (*_batch(body), n, n)))
    return body.op("cholesky", a, lower=body.chance(0.5))


def triangular_solve(body: Body) -> Instruction:
    kind = body.type_where(_inexact)
    n, m = (body.random.choice((0, 1, 2, 3, 5, 8)) for _ in range(2))
    batch, left = _batch(body), body.chance(0.5)
    a = body.like(ArrayShape(kind, (*batch, n, n)))
    b = body.like(ArrayShape(kind, (*batch, n, m) if left else (*batch, m, n)))
    return body.op(
        "triangular-solve",
        a,
        b,
        left_side=left,
        lower=body.chance(0.5),
        unit_diagonal=body.chance(0.3),
        transpose_a=body.random.choice(("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")),
    )


def fft(body: Body) -> Instruction:
    kind = body.random.choice(("FFT", "IFFT", "RFFT", "IRFFT"))
    count = body.random.choice((1, 1, 2, 3))
    length = [body.random.choice((1, 2, 3, 4, 5, 7, 8, 12, 16, 17)) for _ in range(count)]
    if count > 1:
        length = [min(n, 8) for n in length]
    sizes = [*length]
    if kind == "IRFFT":
        sizes[-1] = length[-1] // 2 + 1
    element = body.random.choice((_F32, _F64))
    if kind != "RFFT":
        element = HLO_TYPES["c64" if element is _F32 else "c128"]
    value = body.like(ArrayShape(element, (*_batch(body), *sizes)))
    return body.op("fft", value, fft_type=kind, fft_length=tuple(length))


def batch_norm(body: Body) -> Instruction:
    op = body.random.choice(("batch-norm-training", "batch-norm-inference", "batch-norm-grad"))
    value = body.any(1, lambda t: t.is_float and t.text != "f8e8m0fnu")  # which has no zero
    shape = value.array_shape
    feature = body.random.randrange(shape.rank)
    vector = shape.with_dimensions((shape.dimensions[feature],))
    count = {"batch-norm-training": 2, "batch-norm-inference": 4, "batch-norm-grad": 3}[op]
    operands = [value, *(body.like(vector) for _ in range(count))]
    if op == "batch-norm-grad":
        operands.append(body.like(shape))
    epsilon = body.random.choice((0.001, 0.0, 1.0))
    return body.one_of(body.op(op, *operands, epsilon=epsilon, feature_index=feature))


def rng_bit_generator(body: Body) -> Instruction:
    algorithm = body.random.choice(("rng_default", "rng_three_fry", "rng_philox"))
    words = 2 if algorithm == "rng_three_fry" else body.random.choice((2, 3))
    state = ArrayShape(_U64, (words,))
    kinds = [HLO_TYPES[f"{sign}{bits}"] for sign in "us" for bits in (8, 16, 32, 32, 64)]
    result = TupleShape((state, body.shape(body.random.choice(kinds))))
    made = body.op("rng-bit-generator", body.like(state), shape=result, algorithm=algorithm)
    return body.one_of(made)
