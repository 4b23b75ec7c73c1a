"""Custom calls that are built in: top k, LAPACK's factorisations and their like."""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.shape import ArrayShape, Shape, TupleShape
from ccodegen.support.element_type import HLO_TYPES
from tests.random_modules.body import S32, Body

_TYPES = {"s": "f32", "d": "f64", "c": "c64", "z": "c128"}
_SIZES = (0, 1, 2, 3, 3, 4, 5)
_ELEMENTWISE = ("acos", "acosh", "asin", "asinh", "atanh", "cosh", "erf", "sinh", "tan")


def _called(
    body: Body, target: str, config: str, operands: list[Instruction], *results: Shape
) -> Instruction:
    """The call, with one result or a tuple of them."""
    shape = results[0] if len(results) == 1 else TupleShape(results)
    return body.op(
        "custom-call",
        *operands,
        shape=shape,
        annotations=(("backend_config", config),) if config else (),
        custom_call_target=target,
    )


def top_k(body: Body) -> Instruction:
    value = body.without_nan(body.any(1, lambda t: not t.is_complex))
    shape = value.array_shape
    k = body.random.randint(0, shape.dimensions[-1])
    sizes = (*shape.dimensions[:-1], k)
    results = (shape.with_dimensions(sizes), ArrayShape(S32, sizes))
    if body.chance(0.5):
        return body.one_of(_called(body, "TopK", "", [value], *results))
    largest = str(body.chance(0.5)).lower()
    config = f"{{k = {k} : i64, largest = {largest}}}"
    return body.one_of(_called(body, "mhlo.topk", config, [value], *results))


def mathematics(body: Body) -> Instruction:
    """An elementwise op under a dialect's name."""
    value = body.any(fits=lambda t: t.text in ("f32", "f64", "f16", "bf16"))
    dialect = body.random.choice(("mhlo", "chlo"))
    target = f"{dialect}.{body.random.choice(_ELEMENTWISE)}"
    return _called(body, target, "", [value], value.shape)


class _Matrices:
    """A batch of random sizes, and shapes of matrices of it, of LAPACK's type `letter`."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self.letter = body.random.choice("sdcz")
        self.type = HLO_TYPES[_TYPES[self.letter]]
        self.is_complex = self.type.is_complex
        self.batch = body.random.choice(((), (), (1,), (2,), (0,), (2, 2)))

    def __call__(self, *sizes: int) -> ArrayShape:
        return ArrayShape(self.type, (*self.batch, *sizes))

    def integers(self, *sizes: int) -> ArrayShape:
        return ArrayShape(S32, (*self.batch, *sizes))

    def real(self, *sizes: int) -> ArrayShape:
        return ArrayShape(self.type.component, (*self.batch, *sizes))

    def like(self, *sizes: int) -> Instruction:
        return self.body.like(self(*sizes))

    def call(
        self, name: str, config: str, operands: list[Instruction], *results: Shape
    ) -> Instruction:
        target = f"lapack_{self.letter}{name}_ffi"
        return self.body.one_of(_called(self.body, target, config, operands, *results))


def factorisation(body: Body) -> Instruction:
    return body.random.choice(_FACTORISATIONS)(body, _Matrices(body))


def _letter(body: Body, letters: str) -> str:
    return f"{ord(body.random.choice(letters))} : ui8"


def _size(body: Body) -> int:
    return body.random.choice(_SIZES)


def _potrf(body: Body, a: _Matrices) -> Instruction:
    n = _size(body)
    config = f"{{uplo = {_letter(body, 'LU')}}}"
    return a.call("potrf", config, [a.like(n, n)], a(n, n), a.integers())


def _getrf(body: Body, a: _Matrices) -> Instruction:
    m, n = _size(body), _size(body)
    pivots = a.integers(min(m, n))
    if body.chance(0.3):
        results = (a(m, n), pivots, a.integers(m))
        return body.one_of(_called(body, "LuDecomposition", "", [a.like(m, n)], *results))
    return a.call("getrf", "", [a.like(m, n)], a(m, n), pivots, a.integers())


def _geqrf(body: Body, a: _Matrices) -> Instruction:
    m, n = _size(body), _size(body)
    results = (a(m, n), a(min(m, n)))
    if body.chance(0.3):
        return body.one_of(_called(body, "Qr", "", [a.like(m, n)], *results))
    return a.call("geqrf", "", [a.like(m, n)], *results)


def _geqp3(body: Body, a: _Matrices) -> Instruction:
    m, n = _size(body), _size(body)
    numbers = a.integers(n)
    operands = [a.like(m, n), body.like(numbers)]
    return a.call("geqp3", "", operands, a(m, n), numbers, a(min(m, n)))


def _orgqr(body: Body, a: _Matrices) -> Instruction:
    k, n, m = sorted(_size(body) for _ in range(3))
    operands = [a.like(m, n), a.like(k)]
    if body.chance(0.3):
        target = "ProductOfElementaryHouseholderReflectors"
        return _called(body, target, "", operands, a(m, n))
    return a.call("ungqr" if a.is_complex else "orgqr", "", operands, a(m, n))


def _ormqr(body: Body, a: _Matrices) -> Instruction:
    rows, columns, reflected = (_size(body) for _ in range(3))
    left, adjoint = body.chance(0.5), body.chance(0.5)
    order = rows if left else columns
    k = body.random.randint(0, min(order, reflected))
    operands = [a.like(order, reflected), a.like(k), a.like(rows, columns)]
    config = f"{{left = {str(left).lower()}, transpose = {str(adjoint).lower()}}}"
    name = "unmqr" if a.is_complex else "ormqr"
    return a.call(name, config, operands, a(rows, columns))


def _trsm(body: Body, a: _Matrices) -> Instruction:
    m, n = _size(body), _size(body)
    left = body.chance(0.5)
    order = m if left else n
    config = (
        f"{{side = {ord('L' if left else 'R')} : ui8, uplo = {_letter(body, 'LU')},"
        f" diag = {_letter(body, 'NU')}, trans_x = {_letter(body, 'NTC')}}}"
    )
    return a.call("trsm", config, [a.like(order, order), a.like(m, n)], a(m, n))


def _heevd(body: Body, a: _Matrices) -> Instruction:
    n = _size(body)
    config = f"{{mode = {_letter(body, 'VN')}, uplo = {_letter(body, 'LU')}}}"
    name = "heevd" if a.is_complex else "syevd"
    if body.chance(0.3):
        config = f'"{body.random.choice("01")},1,15,1e-6"'
        shapes = (a(n, n), a.real(n))
        return body.one_of(_called(body, "Eigh", config, [a.like(n, n)], *shapes))
    return a.call(name, config, [a.like(n, n)], a(n, n), a.real(n), a.integers())


def _gesdd(body: Body, a: _Matrices) -> Instruction:
    m, n = _size(body), _size(body)
    mode = body.random.choice("ASN")
    least = min(m, n)
    columns, rows = (m, n) if mode == "A" else (least, least)
    results = (a(m, n), a.real(least), a(m, columns), a(rows, n), a.integers())
    config = f"{{mode = {ord(mode)} : ui8}}"
    name = body.random.choice(("gesdd", "gesvd"))
    return a.call(name, config, [a.like(m, n)], *results)


_FACTORISATIONS = (
    _potrf, _getrf, _geqrf, _geqp3, _orgqr, _ormqr, _trsm, _heevd, _gesdd,
)  # fmt: skip
