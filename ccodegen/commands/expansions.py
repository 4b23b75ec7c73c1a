"""How exact the functions are that JAX and jaxlib write out as other ops, in f32: what
tests/jax_functions/sweep.py printed last."""

from __future__ import annotations

from ccodegen.support.immutable import frozen


@frozen
class Measured:
    """The largest errors in ulp of every `step`-th argument, in default mode. `at`: the argument of
    `ulp`; `above_4`: the percentage of arguments with larger errors than 4 ulp. Arguments and true
    results that are denormal, which XLA takes for zero, count in `denormal_ulp` alone."""

    function: str
    ulp: float
    at: float
    above_4: float
    denormal_ulp: float
    xla_ulp: float
    step: int


EXPANSIONS = (
    Measured("jax.lax.erfc", 5.35, 7.87518358, 0.00011, 2.21, 63.8, 41),
    Measured("jax.lax.erf_inv", 64.8, 0.999827445, 0.0018, 1.38, 8.39e+06, 1),
    Measured("jax.lax.lgamma", 1.21e+08, 2.00000024, 1.3, 6.05e+03, 1.21e+08, 41),
    Measured("jax.lax.digamma", 1.02e+07, 1.46163309, 0.63, 1.72, 1.02e+07, 41),
    Measured("jax.lax.bessel_i0e", 6.47, 0.0115765324, 0.088, 1, 6.47, 41),
    Measured("jax.lax.bessel_i1e", 10.4, 7.76349258, 0.13, 0.501, 10.4, 41),
    Measured("jax.lax.exp2", 67.3, -123.005409, 0.87, 32.9, 67.3, 41),
    Measured("jax.numpy.log2", 1.6, 1.39399874, 0, 1.27, 2.28, 41),
    Measured("jax.numpy.log10", 2.09, 0.339871138, 0, 1.17, 2.65, 41),
    Measured("jax.scipy.special.i0", 2.58e+08, 88.7228851, 0.02, 1, 2.58e+08, 41),
    Measured("jax.scipy.special.i1", 2.58e+08, 88.7228851, 0.21, 0.501, 2.58e+08, 41),
    Measured("jax.scipy.special.ndtr", 195, -12.8966398, 0.32, 96.3, 242, 41),
    Measured("jax.scipy.special.ndtri", 4.2, 0.158850655, 3.8e-06, 1.73, 4.28, 41),
    Measured("jax.scipy.special.log_ndtr", 8.39e+06, -1.84468144e+19, 0.61, 92.2, 8.39e+06, 41),
    Measured("jax.scipy.special.logit", 6.56e+04, 0.499998063, 0.029, 0.503, 6.56e+04, 41),
    Measured("jax.scipy.special.entr", 1.62, 1.74975598, 0, 1.21, 2.23, 41),
    Measured("jax.scipy.special.gamma", 347, -33.2714424, 39, 146, 8.39e+06, 41),
    Measured("jax.scipy.special.spence", 14, 0.499301583, 0.12, 0.5, float("inf"), 41),
    Measured("jax.nn.softplus", 3.04, -1.26198542, 0, 1.27, 2.92, 41),
)

_CHEBYSHEV = "a sum of Chebyshev polynomials"
_OVERFLOW = "exp overflows from 88.7 on, the result from 91.9 on"
# By function, what in the formula makes errors of more than 4 ulp.
WHY = {
    "jax.lax.erfc": "the roundings of exp, of two polynomials and of their quotient",
    "jax.lax.erf_inv": "log1p(-x²) of a square that is rounded, near ±1",
    "jax.lax.lgamma": "its terms cancel near the zeros: at 1, at 2 and between negative integers",
    "jax.lax.digamma": "its terms cancel near the zeros: at 1.46 and between negative integers",
    "jax.lax.bessel_i0e": _CHEBYSHEV,
    "jax.lax.bessel_i1e": _CHEBYSHEV,
    "jax.lax.exp2": "exp(x·ln 2) of a product that is rounded",
    "jax.scipy.special.i0": _OVERFLOW,
    "jax.scipy.special.i1": f"{_CHEBYSHEV}; {_OVERFLOW}",
    "jax.scipy.special.ndtr": "½·erfc(-x·√½) of a product that is rounded",
    "jax.scipy.special.ndtri": "a quotient of polynomials",
    "jax.scipy.special.log_ndtr": "the log of an ndtr near 1; from 5 on -½·erfc(x/√2); "
    "and x² overflows before ½·x² does",
    "jax.scipy.special.logit": "log(x/(1 - x)) of a quotient that is rounded, near ½",
    "jax.scipy.special.gamma": "exp of lgamma, which is large",
    "jax.scipy.special.spence": "its terms cancel near ½",
}
