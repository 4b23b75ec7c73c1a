/* Math functions of f64: exp, log and what is made of them, erf, roots. This file includes pow
   (ccg_pow_f64.h) and trigonometry (ccg_trig_f64.h).

   Written and bounded as those of f32, see ccg_math_f32.h; the bounds are over samples. */
#ifndef CCG_MATH_F64_H
#define CCG_MATH_F64_H

#include "ccg_base.h"
#include "ccg_float.h"
#include "ccg_pow_f64.h"
#include "ccg_trig_f64.h"

#define CCG_LOG2_E_F64 0x1.71547652b82fep+0
/* ln 2 in two parts: the first has few enough bits for an exact product with an exponent. */
#define CCG_LN2_HIGH_F64 0x1.62e42feep-1
#define CCG_LN2_LOW_F64 0x1.a39ef35793c76p-33
#define CCG_LN2_F64 0x1.62e42fefa39efp-1
/* Adding it leaves the nearest integer in the low bits of the sum. */
#define CCG_ROUND_F64 0x1.8p+52

/* x - n·ln 2, where n is the integer in the low bits of `rounded`. */
CCG_INLINE double ccg_exp_rest_f64(double x, double rounded)
{
    double n = rounded - CCG_ROUND_F64;
    return ccg_fma_f64(-n, CCG_LN2_LOW_F64, ccg_fma_f64(-n, CCG_LN2_HIGH_F64, x));
}

/* exp(r) - 1 for |r| <= ln 2 / 2. */
CCG_INLINE double ccg_expm1_small_f64(double r)
{
    double p = 0x1.1f963ce012cf4p-29;
    p = ccg_fma_f64(p, r, 0x1.af6034479dae4p-26);
    p = ccg_fma_f64(p, r, 0x1.27e4c515e9db9p-22);
    p = ccg_fma_f64(p, r, 0x1.71ddf78e4e2c3p-19);
    p = ccg_fma_f64(p, r, 0x1.a01a01b0f6ddap-16);
    p = ccg_fma_f64(p, r, 0x1.a01a01b02c2d2p-13);
    p = ccg_fma_f64(p, r, 0x1.6c16c16c14388p-10);
    p = ccg_fma_f64(p, r, 0x1.111111110f61p-7);
    p = ccg_fma_f64(p, r, 0x1.555555555555ap-5);
    p = ccg_fma_f64(p, r, 0x1.5555555555559p-3);
    p = ccg_fma_f64(p, r, 0x1p-1);
    return ccg_fma_f64(r * r, p, r);
}

/* exp(x)·2^shift without overflow on the way, for |shift| <= 1: n has the bias of an exponent twice,
   and each half of it is the exponent of a factor. */
CCG_INLINE double ccg_exp_shifted_f64(double x, int32_t shift)
{
    CCG_LIMIT(double, low, -747.0);
    CCG_LIMIT(double, high, 711.0);
    double limited = x > high ? high : x, rounded, p;
    int32_t n, half;
    uint64_t rest;
    limited = limited < low ? low : limited;
    rounded = ccg_fma_f64(limited, CCG_LOG2_E_F64, CCG_ROUND_F64);
    n = (int32_t)((uint32_t)ccg_bits_f64(rounded) + (uint32_t)(2046 + shift));
    half = n >> 1;
    p = 1.0 + ccg_expm1_small_f64(ccg_exp_rest_f64(limited, rounded));
    rest = x < low ? 0u : (uint64_t)(n - half) << 52; /* see ccg_exp_limited_f32 */
    return p * ccg_f64_bits((uint64_t)half << 52) * ccg_f64_bits(rest);
}

/* At most 1.0 ulp. */
CCG_INLINE double ccg_exp_f64(double x)
{
    return ccg_exp_shifted_f64(x, 0);
}

/* exp(x) for x <= 300, the same bits as ccg_exp_f64; else see ccg_decay_f32. At most 1.0 ulp. */
CCG_INLINE double ccg_decay_f64(double x)
{
    CCG_LIMIT(double, low, -746.0);
    double limited = x < low ? low : x;
    double rounded = ccg_fma_f64(limited, CCG_LOG2_E_F64, CCG_ROUND_F64);
    double p = ccg_expm1_small_f64(ccg_exp_rest_f64(limited, rounded));
    uint64_t power = (ccg_bits_f64(rounded) + (1023u + 53u)) << 52;
    return ccg_fma_f64(p, 0x1p-53, 0x1p-53) * ccg_f64_bits(power);
}

/* At most 2.0 ulp. */
CCG_INLINE double ccg_expm1_f64(double x)
{
    CCG_LIMIT(double, low, -40.0);
    CCG_LIMIT(double, high, 711.0);
    double limited = x < low ? low : x, rounded, half_power, p;
    int32_t n;
    limited = limited > high ? high : limited;
    rounded = ccg_fma_f64(limited, CCG_LOG2_E_F64, CCG_ROUND_F64);
    n = (int32_t)(uint32_t)ccg_bits_f64(rounded);
    n = n > 1024 ? 1024 : n;
    p = ccg_expm1_small_f64(ccg_exp_rest_f64(limited, rounded));
    half_power = ccg_power_of_two_f64(n - 1);
    p = 2.0 * ccg_fma_f64(half_power, p, half_power - 0.5);
    p = x > 710.0 ? CCG_INF_F64 : p;
    return ccg_abs_f64(x) < 0x1p-53 ? x : p;
}

/* log(1 + f) + n·ln 2 for 1 + f in [√½, √2]. */
CCG_INLINE double ccg_log_sum_f64(double f, double n)
{
    double s = f / (2.0 + f), z = s * s, half_square = 0.5 * f * f;
    double p = 0x1.2f0d8935a7d6fp-3;
    p = ccg_fma_f64(p, z, 0x1.39a0f592b18e1p-3);
    p = ccg_fma_f64(p, z, 0x1.74664626926c6p-3);
    p = ccg_fma_f64(p, z, 0x1.c71c51e81719cp-3);
    p = ccg_fma_f64(p, z, 0x1.249249421775ap-2);
    p = ccg_fma_f64(p, z, 0x1.999999997fb35p-2);
    p = ccg_fma_f64(p, z, 0x1.5555555555593p-1);
    p = ccg_fma_f64(s, half_square + z * p, n * CCG_LN2_LOW_F64);
    return ccg_fma_f64(n, CCG_LN2_HIGH_F64, f - (half_square - p));
}

/* At most 0.9 ulp. */
CCG_INLINE double ccg_log_f64(double x)
{
    double normal = ccg_normal_f64(x);
    int32_t n = ccg_exponent_f64(normal);
    double f = ccg_mantissa_f64(normal, n) - 1.0;
    double shift = x < 0x1p-1022 ? 54.0 : 0.0;
    double result = ccg_log_sum_f64(f, (double)n - shift);
    result = x < CCG_INF_F64 ? result : x;
    result = x < 0.0 ? CCG_NAN_F64 : result;
    return x == 0.0 ? -CCG_INF_F64 : result;
}

/* At most 1.4 ulp. */
CCG_INLINE double ccg_log1p_f64(double x)
{
    double u = 1.0 + x;
    double lost_of_x = x - (u - 1.0), lost_of_one = 1.0 - (u - x);
    double lost = x < 1.0 ? lost_of_x : lost_of_one;
    int is_tiny = ccg_abs_f64(x) < 0x1p-53;
    int32_t n = ccg_exponent_f64(u);
    int32_t limited = n < 1022 ? n : 1022;
    double f = ccg_mantissa_f64(u, n) - 1.0;
    double result;
    lost = is_tiny ? 0.0 : lost; /* no square underflows, see ccg_exp_limited_f32 */
    result = ccg_log_sum_f64(f + lost * ccg_power_of_two_f64(-limited), (double)n);
    result = x < CCG_INF_F64 ? result : x;
    result = x < -1.0 ? CCG_NAN_F64 : result;
    result = x == -1.0 ? -CCG_INF_F64 : result;
    return is_tiny ? x : result;
}

/* 1/(1 + exp(-x)), numerator and denominator times 2^-512, as exp(-x) may be above 2^1024.
   At most 2.4 ulp. */
CCG_INLINE double ccg_logistic_f64(double x)
{
    CCG_LIMIT(double, low, -747.0);
    CCG_LIMIT(double, high, 40.0);
    double limited = x > high ? high : x, rounded, p, power;
    limited = limited < low ? low : limited;
    rounded = ccg_fma_f64(-limited, CCG_LOG2_E_F64, CCG_ROUND_F64);
    p = 1.0 + ccg_expm1_small_f64(ccg_exp_rest_f64(-limited, rounded));
    power = ccg_f64_bits((ccg_bits_f64(rounded) + (1023u - 512u)) << 52);
    return 0x1p-512 / ccg_fma_f64(p, power, 0x1p-512);
}

/* At most 2.6 ulp. */
CCG_INLINE double ccg_tanh_f64(double x)
{
    double e = ccg_expm1_f64(-2.0 * ccg_abs_f64(x));
    return ccg_copysign_f64(-e / (e + 2.0), x);
}

/* At most 1.7 ulp. */
CCG_INLINE double ccg_sinh_f64(double x)
{
    double a = ccg_abs_f64(x), z = x * x;
    double half_exp = ccg_exp_shifted_f64(a, -1);
    double large = half_exp - 0.25 / half_exp, small;
    double p = 0x1.b4dfc00a42968p-41;
    p = ccg_fma_f64(p, z, 0x1.611a05a0b61abp-33);
    p = ccg_fma_f64(p, z, 0x1.ae6467ea2782p-26);
    p = ccg_fma_f64(p, z, 0x1.71de3a4555f48p-19);
    p = ccg_fma_f64(p, z, 0x1.a01a01a029e5ap-13);
    p = ccg_fma_f64(p, z, 0x1.111111111109ap-7);
    p = ccg_fma_f64(p, z, 0x1.5555555555556p-3);
    small = ccg_fma_f64(a * z, p, a);
    return ccg_copysign_f64(a < 1.0 ? small : large, x);
}

/* At most 1.5 ulp. */
CCG_INLINE double ccg_cosh_f64(double x)
{
    double half_exp = ccg_exp_shifted_f64(ccg_abs_f64(x), -1);
    return half_exp + 0.25 / half_exp;
}

/* a/b for 2^-512 <= b <= 2^512 and r = 1/b: as ccg_quotient_f32, with 2^-900 for 2^-100. */
CCG_INLINE double ccg_quotient_f64(double a, double b, double r)
{
#if defined(CCG_HAS_FMA_F64)
    CCG_LIMIT(double, least, -0x1p+1023);
    CCG_LIMIT(double, most, 0x1p+1023);
    double q = a * r, rest = ccg_fma_f64(q, b, -a);
    rest = rest < most ? rest : most;
    rest = rest > least ? rest : least;
    return ccg_fma_f64(-rest, r, q);
#else
    (void)r;
    return a / b;
#endif
}

/* At most 1.5 ulp. */
CCG_INLINE double ccg_rsqrt_f64(double x)
{
    return 1.0 / CCG_MATH(sqrt)(x);
}

/* At most 1.9 ulp. */
CCG_INLINE double ccg_asinh_f64(double x)
{
    double a = ccg_abs_f64(x), square = a * a;
    double near = a + square / (1.0 + CCG_MATH(sqrt)(square + 1.0));
    double far = a > 0x1p+60 ? CCG_LN2_F64 : 0.0;
    double result = ccg_log1p_f64(a > 0x1p+60 ? a : near) + far;
    return ccg_copysign_f64(result, x);
}

/* At most 2.3 ulp. */
CCG_INLINE double ccg_acosh_f64(double x)
{
    double t = x - 1.0, near = t + CCG_MATH(sqrt)(ccg_fma_f64(t, t, 2.0 * t));
    double far = x > 0x1p+60 ? CCG_LN2_F64 : 0.0;
    double result = ccg_log1p_f64(x > 0x1p+60 ? x : near) + far;
    return x < 1.0 ? CCG_NAN_F64 : result;
}

/* At most 2.0 ulp. */
CCG_INLINE double ccg_atanh_f64(double x)
{
    double a = ccg_abs_f64(x);
    double result = 0.5 * ccg_log1p_f64(2.0 * a / (1.0 - a));
    result = a < 0x1p-28 ? a : result;
    return ccg_copysign_f64(a > 1.0 ? CCG_NAN_F64 : result, x);
}

/* erf(a) for 0 <= a <= 1. */
CCG_INLINE double ccg_erf_small_f64(double a)
{
    double z = a * a;
    double p = -0x1.abae5ad4abfd8p-31;
    p = ccg_fma_f64(p, z, 0x1.d71b15fbd1bd4p-27);
    p = ccg_fma_f64(p, z, -0x1.5c0728172c868p-23);
    p = ccg_fma_f64(p, z, 0x1.b97fd411722ddp-20);
    p = ccg_fma_f64(p, z, -0x1.f4ca4d75d6703p-17);
    p = ccg_fma_f64(p, z, 0x1.f9a2baa97f897p-14);
    p = ccg_fma_f64(p, z, -0x1.c02db03ddd74dp-11);
    p = ccg_fma_f64(p, z, 0x1.565bccf92b61dp-8);
    p = ccg_fma_f64(p, z, -0x1.b82ce311fa95bp-6);
    p = ccg_fma_f64(p, z, 0x1.ce2f21a040d16p-4);
    p = ccg_fma_f64(p, z, -0x1.812746b0379bdp-2);
    p = ccg_fma_f64(p, z, 0x1.06eba8214db68p-3);
    return ccg_fma_f64(a, p, a);
}

/* erf(a) for a >= 1: 1 - erfc(a), whose logarithm is close to a polynomial. */
CCG_INLINE double ccg_erf_large_f64(double a)
{
    CCG_LIMIT(double, end, 5.95);
    double t = (a > end ? end : a) - 1.0;
    double p = -0x1.0d66393a5731ep-45;
    p = ccg_fma_f64(p, t, 0x1.5b424b5479d55p-40);
    p = ccg_fma_f64(p, t, -0x1.995bc5a348de7p-36);
    p = ccg_fma_f64(p, t, 0x1.239c7c92fdffap-32);
    p = ccg_fma_f64(p, t, -0x1.16460d5392533p-29);
    p = ccg_fma_f64(p, t, 0x1.700c2ba8d18d7p-27);
    p = ccg_fma_f64(p, t, -0x1.4404bff869886p-25);
    p = ccg_fma_f64(p, t, 0x1.0d46e91d0a3f7p-24);
    p = ccg_fma_f64(p, t, 0x1.b7f8250075536p-23);
    p = ccg_fma_f64(p, t, -0x1.1f625366e8c34p-19);
    p = ccg_fma_f64(p, t, 0x1.4511c3b97b4dep-17);
    p = ccg_fma_f64(p, t, -0x1.c8985dddf04c6p-16);
    p = ccg_fma_f64(p, t, 0x1.b95a288ef359ap-16);
    p = ccg_fma_f64(p, t, 0x1.f1adf558aabc3p-13);
    p = ccg_fma_f64(p, t, -0x1.033f4fccecebep-9);
    p = ccg_fma_f64(p, t, 0x1.48c9d30e7879p-7);
    p = ccg_fma_f64(p, t, -0x1.5477f096e3d8cp-5);
    p = ccg_fma_f64(p, t, -0x1.afabc11a2d41dp-1);
    p = ccg_fma_f64(p, t, -0x1.51c9b0006c1eep+1);
    p = ccg_fma_f64(p, t, -0x1.d97fbf27aa2a2p+0);
    return 1.0 - ccg_exp_f64(p);
}

/* At most 1.5 (strict 1.6) ulp. */
CCG_INLINE double ccg_erf_f64(double x)
{
    double a = ccg_abs_f64(x), small = ccg_erf_small_f64(a), large = ccg_erf_large_f64(a);
    return ccg_copysign_f64(a < 1.0 ? small : large, x);
}

/* x, or x times 2^-6 or 2^54, so that neither cubes overflow nor digits of a denormal are lost. */
CCG_INLINE double ccg_cube_scale_f64(double a)
{
    double scale = a < 0x1p-1000 ? 0x1p+54 : 1.0;
    return a > 0x1p+1000 ? 0x1p-6 : scale;
}

/* Halley's iteration twice from a guess that divides the exponent by three; then once more from
   the upper half of the digits, whose square is exact. At most 0.95 ulp. */
CCG_INLINE double ccg_cbrt_f64(double x)
{
    double a = ccg_abs_f64(x), scale = ccg_cube_scale_f64(a), t = a * scale, root, cube;
    double back = a < 0x1p-1000 ? 0x1p-18 : 1.0;
    uint32_t guess = (uint32_t)(ccg_bits_f64(t) >> 32) / 3u + 0x2a9f7893u;
    root = ccg_f64_bits((uint64_t)guess << 32);
    cube = root * root * root;
    root = root * ((t + t + cube) / (t + cube + cube));
    cube = root * root * root;
    root = root * ((t + t + cube) / (t + cube + cube));
    root = ccg_f64_bits(ccg_bits_f64(root) & ~(uint64_t)0x3ffffff);
    cube = t / (root * root);
    root = root + root * ((cube - root) / (root + root + cube));
    back = a > 0x1p+1000 ? 4.0 : back;
    root = ccg_copysign_f64(root * back, x);
    root = a < CCG_INF_F64 ? root : x + x;
    return x == 0.0 ? x : root;
}

#endif
