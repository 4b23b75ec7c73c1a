/* pow of f64: the logarithm as a sum of two doubles, with about 63 bits. See ccg_math_f32.h for the
   rules; the bound is over samples. */
#ifndef CCG_POW_F64_H
#define CCG_POW_F64_H

#include "ccg_base.h"
#include "ccg_float.h"

/* 2^n for -1022 <= n <= 1023. */
CCG_INLINE double ccg_power_of_two_f64(int32_t n)
{
    return ccg_f64_bits((uint64_t)(uint32_t)(n + 1023) << 52);
}

/* A normal number: x, or x·2^54 for a denormal x. */
CCG_INLINE double ccg_normal_f64(double x)
{
    double scaled = x * 0x1p+54;
    return x < 0x1p-1022 ? scaled : x;
}

/* The n for which x = m·2^n with m between √½ and √2, for a positive normal x. */
CCG_INLINE int32_t ccg_exponent_f64(double x)
{
    return (int32_t)((uint32_t)(ccg_bits_f64(x) >> 32) - 0x3fe6a09eu) >> 20;
}

/* x·2^-n. */
CCG_INLINE double ccg_mantissa_f64(double x, int32_t n)
{
    return ccg_f64_bits(ccg_bits_f64(x) - ((uint64_t)(uint32_t)n << 52));
}

/* a·b - product, exact, for product = a·b rounded. */
CCG_INLINE double ccg_product_error_f64(double a, double b, double product)
{
#ifdef CCG_HAS_FMA_F64
    return ccg_fma_f64(a, b, -product);
#else
    /* Dekker and Veltkamp: each factor split into two halves of 26 bits. */
    double a_scaled = a * 0x1.0000002p+27, b_scaled = b * 0x1.0000002p+27;
    double a_high = a_scaled - (a_scaled - a), b_high = b_scaled - (b_scaled - b);
    double a_low = a - a_high, b_low = b - b_high;
    double rest = a_high * b_high - product;
    rest = rest + a_high * b_low;
    rest = rest + a_low * b_high;
    return rest + a_low * b_low;
#endif
}

/* high + low, where |low| is at most half an ulp of high. */
typedef struct {
    double high;
    double low;
} ccg_double_f64;

/* Requires |high| >= |low|, or high = 0. */
CCG_INLINE ccg_double_f64 ccg_double_sum_f64(double high, double low)
{
    ccg_double_f64 sum;
    sum.high = high + low;
    sum.low = low - (sum.high - high);
    return sum;
}

CCG_INLINE ccg_double_f64 ccg_double_product_f64(ccg_double_f64 a, ccg_double_f64 b)
{
    double product = a.high * b.high;
    double error = ccg_product_error_f64(a.high, b.high, product);
    error = error + (a.high * b.low + a.low * b.high);
    return ccg_double_sum_f64(product, error);
}

/* log2(x) - shift of a positive normal x, for an integer shift. */
CCG_INLINE ccg_double_f64 ccg_log2_double_f64(double x, double shift)
{
    int32_t n = ccg_exponent_f64(x);
    double m = ccg_mantissa_f64(x, n), f = m - 1.0, sum = m + 1.0, lost = m - (sum - 1.0);
    double quotient = f / sum, product = quotient * sum, z, rest;
    double error = (f - product) - ccg_product_error_f64(quotient, sum, product);
    ccg_double_f64 s, square, c, log2;
    s = ccg_double_sum_f64(quotient, (error - quotient * lost) / sum);
    square = ccg_double_product_f64(s, s);
    z = square.high;
    rest = 0x1.0e464e8e0ce83p-4;
    rest = ccg_fma_f64(rest, z, 0x1.0f7f94c9cca9dp-4);
    rest = ccg_fma_f64(rest, z, 0x1.3b1eeeeb04de6p-4);
    rest = ccg_fma_f64(rest, z, 0x1.745ce9d870029p-4);
    rest = ccg_fma_f64(rest, z, 0x1.c71c722d74389p-4);
    rest = ccg_fma_f64(rest, z, 0x1.2492492457dc7p-3);
    rest = ccg_fma_f64(rest, z, 0x1.9999999999b2fp-3);
    /* atanh(s) = s·(1 + s²·(1/3 + s²·rest)) */
    c = ccg_double_sum_f64(0x1.5555555555555p-2, z * rest + 0x1.5555555555555p-56);
    c = ccg_double_product_f64(square, c);
    c = ccg_double_product_f64(s, c);
    s.low = s.low + c.low;
    log2 = ccg_double_sum_f64(s.high, c.high);
    log2 = ccg_double_sum_f64(log2.high, log2.low + s.low);
    c.high = 0x1.71547652b82fep+1;
    c.low = 0x1.777d0ffda0d24p-55;
    log2 = ccg_double_product_f64(log2, c);
    s = ccg_double_sum_f64((double)n - shift, log2.high);
    return ccg_double_sum_f64(s.high, s.low + log2.low);
}

/* 2^(high + low) for |low| far below 1; infinity and zero from |high| = 1100 on. */
CCG_INLINE double ccg_exp2_double_f64(double high, double low)
{
    CCG_LIMIT(double, least, -1100.0);
    CCG_LIMIT(double, most, 1100.0);
    const double round = 0x1.8p+52;
    double limited = high < least ? least : high, rounded, f, p;
    int32_t n, half;
    limited = limited > most ? most : limited;
    rounded = limited + round;
    f = limited - (rounded - round);
    n = (int32_t)(uint32_t)ccg_bits_f64(rounded);
    half = n >> 1;
    p = 0x1.c4dbee88a46b6p-36;
    p = ccg_fma_f64(p, f, 0x1.ea05615dba52dp-32);
    p = ccg_fma_f64(p, f, 0x1.e4cee743c3bedp-28);
    p = ccg_fma_f64(p, f, 0x1.b524da8a0fcc3p-24);
    p = ccg_fma_f64(p, f, 0x1.62c0224dea92p-20);
    p = ccg_fma_f64(p, f, 0x1.ffcbfc763f061p-17);
    p = ccg_fma_f64(p, f, 0x1.430912f868c3bp-13);
    p = ccg_fma_f64(p, f, 0x1.5d87fe78a21b3p-10);
    p = ccg_fma_f64(p, f, 0x1.3b2ab6fba4e82p-7);
    p = ccg_fma_f64(p, f, 0x1.c6b08d704a0d1p-5);
    p = ccg_fma_f64(p, f, 0x1.ebfbdff82c58fp-3);
    p = ccg_fma_f64(p, f, 0x1.62e42fefa39efp-1);
    p = p * f;
    p = 1.0 + ccg_fma_f64(low * 0x1.62e42fefa39efp-1, 1.0 + p, p);
    return p * ccg_power_of_two_f64(half) * ccg_power_of_two_f64(n - half);
}

/* pow(x, ±0) = pow(1, y) = 1, also for NaN; a negative x needs an integer y. At most 1.5 ulp. */
CCG_INLINE double ccg_pow_f64(double x, double y)
{
    const double infinity = ccg_f64_bits((uint64_t)0x7ff << 52), far = 0x1p+80;
    double a = ccg_abs_f64(x), half = y * 0.5, odd = CCG_MATH(floor)(half) != half ? y : 0.0;
    double shift = a < 0x1p-1022 ? 54.0 : 0.0, limited = y > far ? far : y;
    double exponent, low, result, real;
    ccg_double_f64 log2 = ccg_log2_double_f64(ccg_normal_f64(a), shift);
    uint64_t negative;
    limited = limited < -far ? -far : limited;
    odd = CCG_MATH(floor)(y) == y ? odd : 0.0;
    exponent = log2.high * limited;
    low = ccg_product_error_f64(log2.high, limited, exponent) + log2.low * limited;
    low = ccg_abs_f64(exponent) < 1100.0 ? low : 0.0;
    exponent = a == 0.0 ? -limited * infinity : exponent;
    exponent = a < infinity ? exponent : a * limited;
    result = ccg_exp2_double_f64(exponent, low);
    negative = odd != 0.0 ? ccg_bits_f64(x) & (uint64_t)1 << 63 : 0u;
    result = ccg_f64_bits(ccg_bits_f64(result) | negative);
    real = CCG_MATH(floor)(y) == y ? result : ccg_f64_bits((uint64_t)0xfff << 51);
    real = x < 0.0 ? real : result;
    result = a < infinity ? real : result;
    result = x == 1.0 ? 1.0 : result;
    return y == 0.0 ? 1.0 : result;
}

#endif
