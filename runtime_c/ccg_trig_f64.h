/* Trigonometry of f64: sin, cos, tan and the inverse functions. See ccg_math_f32.h for the rules;
   the bounds are over samples. */
#ifndef CCG_TRIG_F64_H
#define CCG_TRIG_F64_H

#include "ccg_base.h"
#include "ccg_float.h"
#include "ccg_integer.h"
#include "ccg_pow_f64.h"

#define CCG_PI_HIGH_F64 0x1.921fb54442d18p+1
#define CCG_PI_LOW_F64 0x1.1a62633145c07p-53
#define CCG_HALF_PI_HIGH_F64 0x1.921fb54442d18p+0
#define CCG_HALF_PI_LOW_F64 0x1.1a62633145c07p-54

#define CCG_NEAR_ANGLE_F64 0x1p+20

/* |x| = quadrant·π/2 + angle + tail, |angle| <= π/4; of the quadrant the low two bits count. */
typedef struct {
    double angle;
    double tail;
    uint32_t quadrant;
} ccg_reduced_f64;

/* 64 zeros, then the bits of 2/π after the point. */
CCG_UNUSED static const uint64_t ccg_two_over_pi[20] = {
    0x0000000000000000u, 0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u, 0xdb6295993c439041u,
    0xfe5163abdebbc561u, 0xb7246e3a424dd2e0u, 0x06492eea09d1921cu, 0xfe1deb1cb129a73eu,
    0xe88235f52ebb4484u, 0xe99c7026b45f7e41u, 0x3991d639835339f4u, 0x9c845f8bbdf9283bu,
    0x1ff897ffde05980fu, 0xef2f118b5a0a6d1fu, 0x6d367ecf27cb09b7u, 0x4f463f669e5fea2du,
    0x7527bac7ebe5f17bu, 0x3d0739f78a5292eau, 0x6bfb5fb11f8d5d08u, 0x56033046fc7b6babu,
};

/* For a below CCG_NEAR_ANGLE_F64: π/2 in three parts, the products with the first two of which are
   exact. */
CCG_INLINE ccg_reduced_f64 ccg_reduce_near_f64(double a)
{
    double rounded = a * 0x1.45f306dc9c883p-1 + 0x1.8p+52, n = rounded - 0x1.8p+52;
    double first = a - n * 0x1.921fb544p+0, part = n * 0x1.0b4611a6p-34;
    double second = first - part, back = second - first;
    double error = (first - (second - back)) - (part + back);
    double third = error - n * 0x1.3198a2e037073p-69;
    ccg_reduced_f64 reduced;
    reduced.angle = second + third;
    reduced.tail = (second - reduced.angle) + third;
    reduced.quadrant = (uint32_t)ccg_bits_f64(rounded);
    return reduced;
}

/* Bits n to n + 63 of high·2^64 + low, counted from the top, 0 <= n <= 63. */
CCG_INLINE uint64_t ccg_window64(uint64_t high, uint64_t low, uint32_t n)
{
    return (high << n) | (low >> 1 >> (63u - n));
}

/* For a above 1: the mantissa times those 192 bits of 2/π which the exponent leaves between the
   quadrant and the last bit that matters (Payne, Hanek). */
CCG_INLINE ccg_reduced_f64 ccg_reduce_far_f64(double a)
{
    uint64_t bits = ccg_bits_f64(a);
    uint64_t mantissa = (bits & (((uint64_t)1 << 52) - 1u)) | (uint64_t)1 << 52;
    uint32_t exponent = (uint32_t)(bits >> 52), finite = exponent < 2047u ? exponent : 2046u;
    uint32_t offset = finite > 1013u ? finite - 1013u : 0u, word = offset >> 6, n = offset & 63u;
    uint64_t w0 = ccg_window64(ccg_two_over_pi[word], ccg_two_over_pi[word + 1u], n);
    uint64_t w1 = ccg_window64(ccg_two_over_pi[word + 1u], ccg_two_over_pi[word + 2u], n);
    uint64_t w2 = ccg_window64(ccg_two_over_pi[word + 2u], ccg_two_over_pi[word + 3u], n);
    uint64_t middle = mantissa * w1, low = middle + ccg_high_product64(mantissa, w2);
    uint64_t high = mantissa * w0 + ccg_high_product64(mantissa, w1) + (low < middle ? 1u : 0u);
    int64_t rest = (int64_t)((high << 2) | (low >> 62)) >> 1;
    int64_t rest_tail = ((rest & 0x7ff) ^ 0x400) - 0x400;
    double head = (double)(rest - rest_tail) * 0x1p-63;
    double tail = (double)(int64_t)(low << 1 >> 1) * 0x1p-126 + (double)rest_tail * 0x1p-63;
    double product = head * CCG_HALF_PI_HIGH_F64;
    double error = ccg_product_error_f64(head, CCG_HALF_PI_HIGH_F64, product);
    ccg_reduced_f64 reduced;
    error = error + (head * CCG_HALF_PI_LOW_F64 + tail * CCG_HALF_PI_HIGH_F64);
    reduced.angle = product + error;
    reduced.tail = (product - reduced.angle) + error;
    reduced.quadrant = (uint32_t)((high + ((uint64_t)1 << 61)) >> 62);
    return reduced;
}

CCG_INLINE ccg_reduced_f64 ccg_reduce_angle_f64(double a)
{
    return a < CCG_NEAR_ANGLE_F64 ? ccg_reduce_near_f64(a) : ccg_reduce_far_f64(a);
}

/* sin and cos of angle + tail. */
CCG_INLINE double ccg_sin_small_f64(double angle, double tail)
{
    double z = angle * angle;
    double p = 0x1.5d9300942d361p-33;
    p = ccg_fma_f64(p, z, -0x1.ae5e6638f721p-26);
    p = ccg_fma_f64(p, z, 0x1.71de3577b43e4p-19);
    p = ccg_fma_f64(p, z, -0x1.a01a019c11962p-13);
    p = ccg_fma_f64(p, z, 0x1.111111110f87ap-7);
    p = ccg_fma_f64(p, z, -0x1.5555555555549p-3);
    p = ccg_fma_f64(angle * z, p, ccg_fma_f64(-0.5 * z, tail, tail));
    return angle + p;
}

CCG_INLINE double ccg_cos_small_f64(double angle, double tail)
{
    double z = angle * angle, half = 0.5 * z, near = 1.0 - half, lost = (1.0 - near) - half;
    double p = -0x1.8fae9ca531697p-37;
    p = ccg_fma_f64(p, z, 0x1.1ee9ebe999382p-29);
    p = ccg_fma_f64(p, z, -0x1.27e4f809f15dap-22);
    p = ccg_fma_f64(p, z, 0x1.a01a019cb1beep-16);
    p = ccg_fma_f64(p, z, -0x1.6c16c16c1517ep-10);
    p = ccg_fma_f64(p, z, 0x1.555555555554cp-5);
    return near + ccg_fma_f64(z * z, p, lost - angle * tail);
}

/* sin and cos of x, of whose absolute value `reduced` is made. */
CCG_INLINE double ccg_sin_of_f64(double x, ccg_reduced_f64 reduced)
{
    double sine = ccg_sin_small_f64(reduced.angle, reduced.tail);
    double cosine = ccg_cos_small_f64(reduced.angle, reduced.tail);
    double magnitude = (reduced.quadrant & 1u) != 0 ? cosine : sine;
    uint64_t sign = (uint64_t)(reduced.quadrant & 2u) << 62;
    double result = ccg_f64_bits(ccg_bits_f64(magnitude) ^ sign);
    return ccg_f64_bits(ccg_bits_f64(result) ^ (ccg_bits_f64(x) & (uint64_t)1 << 63));
}

CCG_INLINE double ccg_cos_of_f64(ccg_reduced_f64 reduced)
{
    double sine = ccg_sin_small_f64(reduced.angle, reduced.tail);
    double cosine = ccg_cos_small_f64(reduced.angle, reduced.tail);
    double magnitude = (reduced.quadrant & 1u) != 0 ? sine : cosine;
    uint64_t sign = (uint64_t)((reduced.quadrant + 1u) & 2u) << 62;
    return ccg_f64_bits(ccg_bits_f64(magnitude) ^ sign);
}

CCG_INLINE double ccg_tan_of_f64(double x, ccg_reduced_f64 reduced)
{
    double sine = ccg_sin_small_f64(reduced.angle, reduced.tail);
    double cosine = ccg_cos_small_f64(reduced.angle, reduced.tail);
    double numerator = (reduced.quadrant & 1u) != 0 ? -cosine : sine;
    double denominator = (reduced.quadrant & 1u) != 0 ? sine : cosine;
    uint64_t sign = ccg_bits_f64(x) & (uint64_t)1 << 63;
    return ccg_f64_bits(ccg_bits_f64(numerator / denominator) ^ sign);
}

/* At most 0.85 ulp. */
CCG_INLINE double ccg_sin_f64(double x)
{
    double a = ccg_abs_f64(x), result = ccg_sin_of_f64(x, ccg_reduce_angle_f64(a));
    return a <= 0x1.fffffffffffffp+1023 ? result : x - x;
}

/* At most 0.85 ulp. */
CCG_INLINE double ccg_cos_f64(double x)
{
    double a = ccg_abs_f64(x), result = ccg_cos_of_f64(ccg_reduce_angle_f64(a));
    return a <= 0x1.fffffffffffffp+1023 ? result : x - x;
}

/* At most 2.3 ulp. */
CCG_INLINE double ccg_tan_f64(double x)
{
    double a = ccg_abs_f64(x), result = ccg_tan_of_f64(x, ccg_reduce_angle_f64(a));
    return a <= 0x1.fffffffffffffp+1023 ? result : x - x;
}

/* The same for |x| below CCG_NEAR_ANGLE_F64, in less time. Of NaN it is NaN, of other x any double. */
CCG_INLINE double ccg_near_sin_f64(double x)
{
    return ccg_sin_of_f64(x, ccg_reduce_near_f64(ccg_abs_f64(x)));
}

CCG_INLINE double ccg_near_cos_f64(double x)
{
    return ccg_cos_of_f64(ccg_reduce_near_f64(ccg_abs_f64(x)));
}

CCG_INLINE double ccg_near_tan_f64(double x)
{
    return ccg_tan_of_f64(x, ccg_reduce_near_f64(ccg_abs_f64(x)));
}

/* (asin(s) - s)/s for z = s² <= 1/4. */
CCG_INLINE double ccg_asin_tail_f64(double z)
{
    double p = 0x1.05fe33db65e75p-5;
    p = ccg_fma_f64(p, z, -0x1.0b7e5a14eb436p-6);
    p = ccg_fma_f64(p, z, 0x1.4108256b877a6p-6);
    p = ccg_fma_f64(p, z, 0x1.aa37a3193459dp-8);
    p = ccg_fma_f64(p, z, 0x1.8ef2bf0beca66p-7);
    p = ccg_fma_f64(p, z, 0x1.c6f661f519965p-7);
    p = ccg_fma_f64(p, z, 0x1.1c6c428d8295ap-6);
    p = ccg_fma_f64(p, z, 0x1.6e89edbbd767ap-6);
    p = ccg_fma_f64(p, z, 0x1.f1c72c7f838c5p-6);
    p = ccg_fma_f64(p, z, 0x1.6db6db419c9a9p-5);
    p = ccg_fma_f64(p, z, 0x1.333333336fdc5p-4);
    p = ccg_fma_f64(p, z, 0x1.5555555555384p-3);
    return p * z;
}

/* Above 1/2 by asin(x) = π/2 - 2·asin(√((1 - x)/2)), and so for acos. At most 2.2 ulp. */
CCG_INLINE double ccg_asin_f64(double x)
{
    double a = ccg_abs_f64(x), square = x * x, half = 0.5 - 0.5 * a;
    double z = a > 0.5 ? half : square, root = CCG_MATH(sqrt)(half);
    double s = a > 0.5 ? root : a;
    double rest = s * ccg_asin_tail_f64(z);
    double large = CCG_HALF_PI_HIGH_F64 - 2.0 * s - (2.0 * rest - CCG_HALF_PI_LOW_F64);
    return ccg_copysign_f64(a > 0.5 ? large : s + rest, x);
}

/* At most 1.2 ulp. */
CCG_INLINE double ccg_acos_f64(double x)
{
    double a = ccg_abs_f64(x), square = x * x, half = 0.5 - 0.5 * a;
    double z = a > 0.5 ? half : square, root = CCG_MATH(sqrt)(half);
    double s = a > 0.5 ? root : x;
    double rest = s * ccg_asin_tail_f64(z);
    double small = CCG_HALF_PI_HIGH_F64 - (s + (rest - CCG_HALF_PI_LOW_F64));
    double below = CCG_PI_HIGH_F64 - 2.0 * (s + (rest - CCG_HALF_PI_LOW_F64));
    double large = x < 0.0 ? below : 2.0 * (s + rest);
    return a > 0.5 ? large : small;
}

/* The angle of the point (x, y), in (-π, π]; of C99's special values, none is an error. Above
   tan(π/8), atan(s/l) = π/4 + atan((s - l)/(s + l)). At most 1.9 ulp. */
CCG_INLINE double ccg_atan2_f64(double y, double x)
{
    double a = ccg_abs_f64(x), b = ccg_abs_f64(y);
    double size = b > a ? b : a, small = b > a ? a : b, large, upper, lower, t, z, result, base;
    double scale = size < 0x1p-900 ? 0x1p+100 : 1.0;
    scale = size > 0x1p+1000 ? 0x1p-4 : scale;
    small = small * scale;
    large = size * scale;
    upper = small >= 0.4142135623730951 * large ? small - large : small;
    upper = small == large ? 0.0 : upper;
    lower = small >= 0.4142135623730951 * large ? small + large : large;
    lower = large == 0.0 ? 1.0 : lower;
    base = small >= 0.4142135623730951 * large ? 1.0 : 0.0;
    base = large == 0.0 ? 0.0 : base;
    t = upper / lower;
    z = t * t;
    result = -0x1.2564f8b11b9bap-6;
    result = ccg_fma_f64(result, z, 0x1.37d40d2002a22p-5);
    result = ccg_fma_f64(result, z, -0x1.9cd272889e18ep-5);
    result = ccg_fma_f64(result, z, 0x1.df0f4d1d9e828p-5);
    result = ccg_fma_f64(result, z, -0x1.10ebb9947ba9p-4);
    result = ccg_fma_f64(result, z, 0x1.3b111950376a3p-4);
    result = ccg_fma_f64(result, z, -0x1.745cf8e0375bap-4);
    result = ccg_fma_f64(result, z, 0x1.c71c70e63284cp-4);
    result = ccg_fma_f64(result, z, -0x1.24924922ad9b5p-3);
    result = ccg_fma_f64(result, z, 0x1.9999999995863p-3);
    result = ccg_fma_f64(result, z, -0x1.555555555553dp-2);
    result = ccg_fma_f64(t * z, result, base * 0x1.1a62633145c07p-55);
    result = base * 0x1.921fb54442d18p-1 + (t + result);
    t = CCG_HALF_PI_HIGH_F64 - (result - CCG_HALF_PI_LOW_F64);
    result = b > a ? t : result;
    t = CCG_PI_HIGH_F64 - (result - CCG_PI_LOW_F64);
    result = ccg_bits_f64(x) >= (uint64_t)1 << 63 ? t : result;
    result = ccg_copysign_f64(result, y);
    result = y == y ? result : y;
    return x == x ? result : x;
}

/* At most 1.9 ulp. */
CCG_INLINE double ccg_atan_f64(double x)
{
    return ccg_atan2_f64(x, 1.0);
}

#endif
