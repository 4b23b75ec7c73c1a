/* Math functions of f32: exp, log and what is made of them, erf, pow, roots. Trigonometry is in
   ccg_trig_f32.h, which this file includes.

   Straight-line code without branches, so that loops over them vectorise under gcc and clang with
   -fno-math-errno -fno-trapping-math. Special values are those of C99; denormals are kept. In front
   of each function stands its bound with FMA and, where it differs, without: strict mode has none.
   It is the largest error found, rounded up: over all 2^32 arguments, of functions of two over 10^7
   pairs (tests/runtime_c/sweep.py). */
#ifndef CCG_MATH_F32_H
#define CCG_MATH_F32_H

#include "ccg_base.h"
#include "ccg_float.h"
#include "ccg_trig_f32.h"

#define CCG_LOG2_E_F32 0x1.715476p+0f
/* ln 2 in two parts: the first has few enough bits for an exact product with an exponent. */
#define CCG_LN2_HIGH_F32 0x1.62e4p-1f
#define CCG_LN2_LOW_F32 0x1.7f7d1cp-20f

/* 2^n for -126 <= n <= 127. */
CCG_INLINE float ccg_power_of_two_f32(int32_t n)
{
    return ccg_f32_bits((uint32_t)(n + 127) << 23);
}

/* Adding it leaves the nearest integer, and `bias` more, in the low bits of the sum. */
CCG_INLINE float ccg_rounder_f32(int32_t bias)
{
    return 0x1.8p+23f + (float)bias;
}

/* x - n·ln 2 for an integer n. */
CCG_INLINE float ccg_exp_rest_f32(float x, float n)
{
    return ccg_fma_f32(-n, CCG_LN2_LOW_F32, ccg_fma_f32(-n, CCG_LN2_HIGH_F32, x));
}

/* exp(r) for |r| <= ln 2 / 2. */
CCG_INLINE float ccg_exp_small_f32(float r)
{
    float p = 0x1.6a2156p-10f;
    p = ccg_fma_f32(p, r, 0x1.123b9cp-7f);
    p = ccg_fma_f32(p, r, 0x1.5558fcp-5f);
    p = ccg_fma_f32(p, r, 0x1.55549p-3f);
    p = ccg_fma_f32(p, r, 0x1.fffffcp-2f);
    p = ccg_fma_f32(p, r, 1.0f);
    return ccg_fma_f32(p, r, 1.0f);
}

/* exp(x)·2^shift for -105 <= x <= 90 and |shift| <= 1, without overflow on the way: the low bits
   of `sum` have the exponent with its bias twice, and each half of it is a factor's exponent.
   Where the result is `none`, so is a factor: products that underflow may take 150 cycles. */
CCG_INLINE float ccg_exp_limited_f32(float x, int32_t shift, int none)
{
    const float rounder = ccg_rounder_f32(254 + shift);
    float sum = ccg_fma_f32(x, CCG_LOG2_E_F32, rounder);
    float p = ccg_exp_small_f32(ccg_exp_rest_f32(x, sum - rounder));
    uint32_t bits = ccg_bits_f32(sum), half = bits >> 1, rest = (bits - half) << 23;
    return p * ccg_f32_bits(half << 23) * ccg_f32_bits(none ? 0u : rest);
}

/* exp(x)·2^shift for any x, for |shift| <= 1. */
CCG_INLINE float ccg_exp_shifted_f32(float x, int32_t shift)
{
    CCG_LIMIT(float, low, -105.0f);
    CCG_LIMIT(float, high, 90.0f);
    float limited = x > high ? high : x;
    return ccg_exp_limited_f32(limited < low ? low : limited, shift, x < low);
}

/* At most 0.9 (strict 1.17) ulp. */
CCG_INLINE float ccg_exp_f32(float x)
{
    return ccg_exp_shifted_f32(x, 0);
}

/* exp(r)·2^-24 likewise, in a term less than ccg_exp_small_f32: within 1.1 ulp before it is
   rounded. */
CCG_INLINE float ccg_exp_short_f32(float r)
{
    float p = 0x1.0ebc68p-31f;
    p = ccg_fma_f32(p, r, 0x1.573b7cp-29f);
    p = ccg_fma_f32(p, r, 0x1.555d42p-27f);
    p = ccg_fma_f32(p, r, 0x1.fffdc2p-26f);
    p = ccg_fma_f32(p, r, 0x1.ffffeep-25f);
    return ccg_fma_f32(p, r, 0x1p-24f);
}

/* exp(x) for x <= 40, such as weights of a softmax, in fewer steps than ccg_exp_f32 and, with FMA,
   a term less, so that bits differ. A power of two so much larger than the result's is always
   normal, and the least one zero: no condition is asked, and of zero no product underflows, see
   ccg_exp_limited_f32. At most 1.9 (strict 1.17) ulp. */
CCG_INLINE float ccg_decay_f32(float x)
{
    CCG_LIMIT(float, low, -104.5f);
    const float rounder = ccg_rounder_f32(127 + 24);
    float limited = x < low ? low : x;
    float sum = ccg_fma_f32(limited, CCG_LOG2_E_F32, rounder);
    float rest = ccg_exp_rest_f32(limited, sum - rounder);
#if defined(CCG_HAS_FMA_F32)
    float p = ccg_exp_short_f32(rest);
#else
    float p = ccg_exp_small_f32(rest) * 0x1p-24f;
#endif
    return p * ccg_f32_bits(ccg_bits_f32(sum) << 23);
}

/* exp(r) - 1 for |r| <= ln 2 / 2. */
CCG_INLINE float ccg_expm1_small_f32(float r)
{
    float p = 0x1.6b97b2p-10f;
    p = ccg_fma_f32(p, r, 0x1.122534p-7f);
    p = ccg_fma_f32(p, r, 0x1.5556f6p-5f);
    p = ccg_fma_f32(p, r, 0x1.5554b4p-3f);
    p = ccg_fma_f32(p, r, 0x1.fffffep-2f);
    return ccg_fma_f32(r * r, p, r);
}

/* (exp(x) - 1)·2^shift for -18 <= x <= 89, where exp(x)·2^shift is below 2^128. */
CCG_INLINE float ccg_expm1_limited_f32(float x, int32_t shift)
{
    const float rounder = ccg_rounder_f32(127 + shift);
    float sum = ccg_fma_f32(x, CCG_LOG2_E_F32, rounder);
    float p = ccg_expm1_small_f32(ccg_exp_rest_f32(x, sum - rounder));
    float power = ccg_f32_bits(ccg_bits_f32(sum) << 23);
    return ccg_fma_f32(power, p, power - ccg_power_of_two_f32(shift));
}

/* At most 1.53 (strict 1.66) ulp. */
CCG_INLINE float ccg_expm1_f32(float x)
{
    CCG_LIMIT(float, low, -18.0f);
    CCG_LIMIT(float, high, 89.0f);
    float limited = x < low ? low : x;
    float p = 2.0f * ccg_expm1_limited_f32(x > high ? high : limited, -1);
    return ccg_abs_f32(x) < 0x1p-24f ? x : p;
}

/* A normal number: x, or x·2^23 for a denormal x. */
CCG_INLINE float ccg_normal_f32(float x)
{
    float scaled = x * 0x1p+23f;
    return ccg_bits_f32(x) < 0x00800000u ? scaled : x;
}

/* The n for which x = m·2^n with m in [2/3, 4/3), for a positive normal x. */
CCG_INLINE int32_t ccg_exponent_f32(float x)
{
    return (int32_t)(ccg_bits_f32(x) - 0x3f2aaaabu) >> 23;
}

/* x·2^-n. */
CCG_INLINE float ccg_mantissa_f32(float x, int32_t n)
{
    return ccg_f32_bits(ccg_bits_f32(x) - ((uint32_t)n << 23));
}

/* log(1 + f) + n·ln 2 for f in [-1/3, 1/3]. */
CCG_INLINE float ccg_log_sum_f32(float f, float n)
{
    float p = -0x1.0e2ad4p-3f;
    p = ccg_fma_f32(p, f, 0x1.1df342p-3f);
    p = ccg_fma_f32(p, f, -0x1.f03c1p-4f);
    p = ccg_fma_f32(p, f, 0x1.1ef19cp-3f);
    p = ccg_fma_f32(p, f, -0x1.55b7e8p-3f);
    p = ccg_fma_f32(p, f, 0x1.99ce42p-3f);
    p = ccg_fma_f32(p, f, -0x1.fffe5ep-3f);
    p = ccg_fma_f32(p, f, 0x1.55550cp-2f);
    p = ccg_fma_f32(p, f, -0.5f);
    p = ccg_fma_f32(n, CCG_LN2_LOW_F32, f * f * p);
    return ccg_fma_f32(n, CCG_LN2_HIGH_F32, f + p);
}

/* At most 0.93 (strict 0.96) ulp. */
CCG_INLINE float ccg_log_f32(float x)
{
    float normal = ccg_normal_f32(x);
    int32_t n = ccg_exponent_f32(normal);
    float f = ccg_mantissa_f32(normal, n) - 1.0f;
    float shift = ccg_bits_f32(x) < 0x00800000u ? 23.0f : 0.0f;
    float result = ccg_log_sum_f32(f, (float)n - shift);
    result = x < CCG_INF_F32 ? result : x;
    result = x < 0.0f ? CCG_NAN_F32 : result;
    return x == 0.0f ? -CCG_INF_F32 : result;
}

/* At most 1.71 ulp. */
CCG_INLINE float ccg_log1p_f32(float x)
{
    float u = 1.0f + x;
    float lost_of_x = x - (u - 1.0f), lost_of_one = 1.0f - (u - x);
    float lost = x < 1.0f ? lost_of_x : lost_of_one;
    int is_tiny = ccg_abs_f32(x) < 0x1p-24f;
    int32_t n = ccg_exponent_f32(u);
    int32_t limited = n < 126 ? n : 126;
    float f = ccg_mantissa_f32(u, n) - 1.0f;
    float result;
    lost = is_tiny ? 0.0f : lost; /* no square underflows, see ccg_exp_limited_f32 */
    result = ccg_log_sum_f32(f + lost * ccg_power_of_two_f32(-limited), (float)n);
    result = x < CCG_INF_F32 ? result : x;
    result = x < -1.0f ? CCG_NAN_F32 : result;
    result = x == -1.0f ? -CCG_INF_F32 : result;
    return is_tiny ? x : result;
}

/* 1/(1 + exp(-x)), numerator and denominator times 2^-64, as exp(-x) may be above 2^128.
   At most 2.49 ulp. */
CCG_INLINE float ccg_logistic_f32(float x)
{
    CCG_LIMIT(float, low, -105.0f);
    CCG_LIMIT(float, high, 40.0f);
    const float rounder = ccg_rounder_f32(127 - 64);
    float limited = x > high ? high : x, sum, p;
    limited = limited < low ? low : limited;
    sum = ccg_fma_f32(-limited, CCG_LOG2_E_F32, rounder);
    p = ccg_exp_small_f32(ccg_exp_rest_f32(-limited, sum - rounder));
    return 0x1p-64f / ccg_fma_f32(p, ccg_f32_bits(ccg_bits_f32(sum) << 23), 0x1p-64f);
}

/* At most 2.5 ulp. */
CCG_INLINE float ccg_tanh_f32(float x)
{
    CCG_LIMIT(float, low, -18.0f);
    float minus = ccg_f32_bits(ccg_bits_f32(x) | 0x80000000u), twice = minus + minus;
    float e = ccg_expm1_limited_f32(twice < low ? low : twice, 0);
    return ccg_copysign_f32(e / (e + 2.0f), x);
}

/* At most 1.62 (strict 1.67) ulp. */
CCG_INLINE float ccg_sinh_f32(float x)
{
    float a = ccg_abs_f32(x), z = x * x;
    float half_exp = ccg_exp_shifted_f32(a, -1);
    float large = half_exp - 0.25f / half_exp, small;
    float p = 0x1.7a3beap-19f;
    p = ccg_fma_f32(p, z, 0x1.9ffd82p-13f);
    p = ccg_fma_f32(p, z, 0x1.111138p-7f);
    p = ccg_fma_f32(p, z, 0x1.555556p-3f);
    small = ccg_fma_f32(a * z, p, a);
    return ccg_copysign_f32(a < 1.0f ? small : large, x);
}

/* At most 1.35 (strict 1.64) ulp. */
CCG_INLINE float ccg_cosh_f32(float x)
{
    float half_exp = ccg_exp_shifted_f32(ccg_abs_f32(x), -1);
    return half_exp + 0.25f / half_exp;
}

/* a/b for 2^-64 <= b <= 2^64 and r = 1/b. Rounded once, as a division is (Brisebarre, Muller and
   Raina, "Accelerating correctly rounded floating-point division when the divisor is known in
   advance"), but for |a| < 2^-100 and denormal quotients: there at most 1.5 ulp; and infinite from
   an ulp below overflow on. The limits keep an infinite quotient, whose rest is infinite or NaN. */
CCG_INLINE float ccg_quotient_f32(float a, float b, float r)
{
#if defined(CCG_HAS_FMA_F32)
    CCG_LIMIT(float, least, -0x1p+127f);
    CCG_LIMIT(float, most, 0x1p+127f);
    float q = a * r, rest = ccg_fma_f32(q, b, -a);
    rest = rest < most ? rest : most;
    rest = rest > least ? rest : least;
    return ccg_fma_f32(-rest, r, q);
#else
    (void)r;
    return a / b;
#endif
}

/* At most 1.5 ulp. */
CCG_INLINE float ccg_rsqrt_f32(float x)
{
    return 1.0f / CCG_MATH(sqrtf)(x);
}

/* At most 2.04 ulp. */
CCG_INLINE float ccg_asinh_f32(float x)
{
    float a = ccg_abs_f32(x), square = a * a;
    float near = a + square / (1.0f + CCG_MATH(sqrtf)(square + 1.0f));
    float far = a > 0x1p+30f ? 0x1.62e43p-1f : 0.0f;
    float result = ccg_log1p_f32(a > 0x1p+30f ? a : near) + far;
    return ccg_copysign_f32(result, x);
}

/* At most 2.15 ulp. */
CCG_INLINE float ccg_acosh_f32(float x)
{
    float t = x - 1.0f, near = t + CCG_MATH(sqrtf)(ccg_fma_f32(t, t, 2.0f * t));
    float far = x > 0x1p+30f ? 0x1.62e43p-1f : 0.0f;
    float result = ccg_log1p_f32(x > 0x1p+30f ? x : near) + far;
    return x < 1.0f ? CCG_NAN_F32 : result;
}

/* At most 2.22 (strict 2.33) ulp. */
CCG_INLINE float ccg_atanh_f32(float x)
{
    float a = ccg_abs_f32(x);
    float result = 0.5f * ccg_log1p_f32(2.0f * a / (1.0f - a));
    result = a < 0x1p-13f ? a : result;
    return ccg_copysign_f32(a > 1.0f ? CCG_NAN_F32 : result, x);
}

/* A polynomial in x² below 1.125. Above it 1 - erfc, whose fourth root is close to a polynomial and
   is raised without harm: what that loses weighs as little in the difference as erfc does.
   At most 1.3 (strict 1.58) ulp. */
CCG_INLINE float ccg_erf_f32(float x)
{
    CCG_LIMIT(float, end, 3.95f);
    float a = ccg_abs_f32(x), z = x * x, limited = a > end ? end : a, large;
    float p = 0x1.267ec2p-14f, root = -0x1.773056p-13f;
    p = ccg_fma_f32(p, z, -0x1.963da2p-11f);
    p = ccg_fma_f32(p, z, 0x1.52007cp-8f);
    p = ccg_fma_f32(p, z, -0x1.b7b2fcp-6f);
    p = ccg_fma_f32(p, z, 0x1.ce28acp-4f);
    p = ccg_fma_f32(p, z, -0x1.812724p-2f);
    p = ccg_fma_f32(p, z, 0x1.06eba6p-3f);
    root = ccg_fma_f32(root, limited, 0x1.a6dbe2p-9f);
    root = ccg_fma_f32(root, limited, -0x1.6b3042p-6f);
    root = ccg_fma_f32(root, limited, 0x1.0e3e86p-4f);
    root = ccg_fma_f32(root, limited, -0x1.9b5b44p-5f);
    root = ccg_fma_f32(root, limited, -0x1.04f68ep-4f);
    root = ccg_fma_f32(root, limited, -0x1.3c066p-2f);
    root = ccg_fma_f32(root, limited, 0x1.0165a4p+0f);
    root = root * root;
    large = ccg_fma_f32(-root, root, 1.0f);
    return ccg_copysign_f32(a < 1.125f ? ccg_fma_f32(a, p, a) : large, x);
}

/* Halley's iteration from a guess that divides the exponent by three: once in f32, once in f64.
   At most 0.51 ulp. */
CCG_INLINE float ccg_cbrt_f32(float x)
{
    float a = ccg_abs_f32(x), scaled = a * 0x1p+24f;
    float normal = a < 0x1p-100f ? scaled : a, cube, guess;
    double target = (double)normal, root, root_cube;
    guess = ccg_f32_bits(ccg_bits_f32(normal) / 3u + 0x2a5119f2u);
    cube = guess * guess * (guess * 0x1p-3f);
    normal = normal * 0x1p-3f;
    guess = guess * ((normal + normal + cube) / (normal + cube + cube));
    root = (double)guess;
    root_cube = root * root * root;
    root = root * ((target + target + root_cube) / (target + root_cube + root_cube));
    guess = (float)(a < 0x1p-100f ? root * 0x1p-8 : root);
    guess = ccg_copysign_f32(guess, x);
    return x == 0.0f || a >= CCG_INF_F32 || x != x ? x + x : guess;
}

/* log2 of a positive normal number, with an error below 2^-42 of its larger part. */
CCG_INLINE double ccg_log2_precise_f32(float x)
{
    int32_t n = (int32_t)(ccg_bits_f32(x) - 0x3f3504f3u) >> 23;
    double m = (double)ccg_mantissa_f32(x, n);
    double s = (m - 1.0) / (m + 1.0), z = s * s;
    double p = 0x1.21b8591319d74p-2;
    p = ccg_fma_f64(p, z, 0x1.4794d3b17d057p-2);
    p = ccg_fma_f64(p, z, 0x1.a61a31e7afe8ap-2);
    p = ccg_fma_f64(p, z, 0x1.2776c28f61338p-1);
    p = ccg_fma_f64(p, z, 0x1.ec709dc53fbb8p-1);
    p = ccg_fma_f64(p, z, 0x1.71547652b824fp+1);
    return ccg_fma_f64(s, p, (double)n);
}

/* 2^x, rounded once from an error below 2^-34. */
CCG_INLINE float ccg_exp2_precise_f32(double x)
{
    CCG_LIMIT(double, low, -160.0);
    CCG_LIMIT(double, high, 130.0);
    const double round = 0x1.8p+52;
    double limited = x < low ? low : x, rounded, f, scale;
    double p = 0x1.00f8d17e76472p-16;
    limited = limited > high ? high : limited;
    rounded = limited + round;
    f = limited - (rounded - round);
    p = ccg_fma_f64(p, f, 0x1.446dea8257b91p-13);
    p = ccg_fma_f64(p, f, 0x1.5d8713c829317p-10);
    p = ccg_fma_f64(p, f, 0x1.3b29d6ec9cffbp-7);
    p = ccg_fma_f64(p, f, 0x1.c6b08e08cc984p-5);
    p = ccg_fma_f64(p, f, 0x1.ebfbe0ac3133ap-3);
    p = ccg_fma_f64(p, f, 0x1.62e42fef6bf3dp-1);
    p = ccg_fma_f64(p, f, 0x1.ffffffffa59e2p-1);
    scale = ccg_f64_bits((ccg_bits_f64(rounded) + 1023u) << 52);
    return (float)(p * scale);
}

/* pow(x, ±0) = pow(1, y) = 1, also for NaN; a finite x below zero needs an integer y, else the
   result is NaN. At most 0.51 ulp. */
CCG_INLINE float ccg_pow_f32(float x, float y)
{
    float a = ccg_abs_f32(x), half = y * 0.5f, result, real;
    float odd = CCG_MATH(floorf)(half) != half ? y : 0.0f;
    double shift = a < 0x1p-126f ? 23.0 : 0.0;
    double exponent = ccg_log2_precise_f32(ccg_normal_f32(a)) - shift;
    uint32_t negative;
    odd = CCG_MATH(floorf)(y) == y ? odd : 0.0f;
    exponent = a == 0.0f ? (double)-CCG_INF_F32 : exponent;
    exponent = a < CCG_INF_F32 ? exponent : (double)a;
    result = ccg_exp2_precise_f32(exponent * (double)y);
    result = a == 1.0f && ccg_abs_f32(y) == CCG_INF_F32 ? 1.0f : result;
    negative = odd != 0.0f ? ccg_bits_f32(x) & 0x80000000u : 0u;
    result = ccg_f32_bits(ccg_bits_f32(result) | negative);
    real = CCG_MATH(floorf)(y) == y ? result : CCG_NAN_F32;
    real = x < 0.0f ? real : result;
    result = a < CCG_INF_F32 ? real : result;
    result = x == 1.0f ? 1.0f : result;
    return y == 0.0f ? 1.0f : result;
}

#endif
