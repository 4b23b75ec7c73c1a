/* Trigonometry of f32: sin, cos, tan and the inverse functions. See ccg_math_f32.h for the rules
   and for the meaning of the bounds. */
#ifndef CCG_TRIG_F32_H
#define CCG_TRIG_F32_H

#include "ccg_base.h"
#include "ccg_float.h"

#define CCG_PI_HIGH_F32 0x1.921fb6p+1f
#define CCG_PI_LOW_F32 -0x1.777a5cp-24f
#define CCG_HALF_PI_HIGH_F32 0x1.921fb6p+0f
#define CCG_HALF_PI_LOW_F32 -0x1.777a5cp-25f

#define CCG_NEAR_ANGLE_F32 0x1p+17f

/* |x| = quadrant·π/2 + angle, |angle| <= π/4; of the quadrant the low two bits count. */
typedef struct {
    float angle;
    uint32_t quadrant;
} ccg_reduced_f32;

CCG_INLINE uint32_t ccg_product_high32(uint32_t a, uint32_t b)
{
    return (uint32_t)(((uint64_t)a * b) >> 32);
}

/* Bits n to n + 31 of high·2^32 + low, counted from the top, 0 <= n <= 31. */
CCG_INLINE uint32_t ccg_window32(uint32_t high, uint32_t low, uint32_t n)
{
    return (high << n) | (low >> 1 >> (31u - n));
}

/* For any a, by an exact product of integers (Payne and Hanek): the mantissa times those 96 bits of
   2/π which the exponent leaves between the quadrant and the last bit that matters.
   The bits are chosen by the binary digits of their offset, from 32 zeros and 7 words of 2/π. */
CCG_INLINE ccg_reduced_f32 ccg_reduce_far_f32(float a)
{
    float head, turn;
    uint32_t bits = ccg_bits_f32(a), mantissa = (bits & 0x007fffffu) | 0x00800000u;
    uint32_t offset = bits >= 120u << 23 ? (bits >> 23) - 120u : 0u, n = offset & 31u;
    uint32_t by_4 = offset & 128u, by_2 = offset & 64u, by_1 = offset & 32u;
    uint32_t a0 = by_4 != 0 ? 0xf534ddc0u : 0u, a1 = by_4 != 0 ? 0xdb629599u : 0xa2f9836eu;
    uint32_t a2 = by_4 != 0 ? 0x3c439041u : 0x4e441529u, a3 = by_4 != 0 ? 0xfe5163abu : 0xfc2757d1u;
    uint32_t a4 = 0xf534ddc0u, a5 = 0xdb629599u, a6 = 0x3c439041u;
    uint32_t b0 = by_2 != 0 ? a2 : a0, b1 = by_2 != 0 ? a3 : a1, b2 = by_2 != 0 ? a4 : a2;
    uint32_t b3 = by_2 != 0 ? a5 : a3, b4 = by_2 != 0 ? a6 : a4;
    uint32_t c0 = by_1 != 0 ? b1 : b0, c1 = by_1 != 0 ? b2 : b1, c2 = by_1 != 0 ? b3 : b2;
    uint32_t c3 = by_1 != 0 ? b4 : b3;
    uint32_t w0 = ccg_window32(c0, c1, n), w1 = ccg_window32(c1, c2, n);
    uint32_t w2 = ccg_window32(c2, c3, n);
    uint32_t middle = mantissa * w1, low = middle + ccg_product_high32(mantissa, w2);
    uint32_t high = mantissa * w0 + ccg_product_high32(mantissa, w1) + (low < middle ? 1u : 0u);
    int32_t rest_high = (int32_t)((high << 2) | (low >> 30)) >> 1;
    int32_t rest_low = (int32_t)(low & 0x7fffffffu), tail = ((rest_high & 0xff) ^ 0x80) - 0x80;
    ccg_reduced_f32 reduced;
    head = (float)(rest_high - tail) * 0x1p-31f;
    turn = ccg_fma_f32((float)rest_low, 0x1p-62f, (float)tail * 0x1p-31f);
    turn = ccg_fma_f32(head, CCG_HALF_PI_LOW_F32, turn * CCG_HALF_PI_HIGH_F32);
    turn = ccg_fma_f32(head, CCG_HALF_PI_HIGH_F32, turn);
    reduced.angle = a < 0x1.921fb4p-1f ? a : turn;
    reduced.quadrant = a < 0x1.921fb4p-1f ? 0u : (high + 0x20000000u) >> 30;
    return reduced;
}

/* For a below CCG_NEAR_ANGLE_F32: π/2 in three parts (Cody and Waite). What the first one leaves is
   exact, as are all products, which takes FMA. */
CCG_INLINE ccg_reduced_f32 ccg_reduce_near_f32(float a)
{
#if defined(CCG_HAS_FMA_F32)
    float sum = ccg_fma_f32(a, 0x1.45f306p-1f, 0x1.8p+23f), n = sum - 0x1.8p+23f;
    float rest = ccg_fma_f32(-n, CCG_HALF_PI_HIGH_F32, a);
    ccg_reduced_f32 reduced;
    rest = ccg_fma_f32(-n, CCG_HALF_PI_LOW_F32, rest);
    reduced.angle = ccg_fma_f32(-n, -0x1.ee59dap-50f, rest);
    reduced.quadrant = ccg_bits_f32(sum);
    return reduced;
#else
    ccg_reduced_f32 reduced = ccg_reduce_far_f32(a);
    reduced.angle = a == a ? reduced.angle : a;
    return reduced;
#endif
}

CCG_INLINE ccg_reduced_f32 ccg_reduce_angle_f32(float a)
{
#if defined(CCG_HAS_FMA_F32)
    if (a < CCG_NEAR_ANGLE_F32) {
        return ccg_reduce_near_f32(a);
    }
#endif
    return ccg_reduce_far_f32(a);
}

/* sin and cos for |r| <= π/4. */
CCG_INLINE float ccg_sin_small_f32(float r)
{
    float z = r * r, p = 0x1.6cd83ap-19f;
    p = ccg_fma_f32(p, z, -0x1.a00f9ep-13f);
    p = ccg_fma_f32(p, z, 0x1.111108p-7f);
    p = ccg_fma_f32(p, z, -0x1.555556p-3f);
    return ccg_fma_f32(r * z, p, r);
}

CCG_INLINE float ccg_cos_small_f32(float r)
{
    float z = r * r, p = 0x1.9a020ap-16f;
    p = ccg_fma_f32(p, z, -0x1.6c0c8ap-10f);
    p = ccg_fma_f32(p, z, 0x1.55554ap-5f);
    return ccg_fma_f32(z * z, p, ccg_fma_f32(z, -0.5f, 1.0f));
}

/* sin and cos of x, of whose absolute value `reduced` is made. */
CCG_INLINE float ccg_sin_of_f32(float x, ccg_reduced_f32 reduced)
{
    float sine = ccg_sin_small_f32(reduced.angle), cosine = ccg_cos_small_f32(reduced.angle);
    float magnitude = (reduced.quadrant & 1u) != 0 ? cosine : sine;
    uint32_t sign = (ccg_bits_f32(x) & 0x80000000u) ^ ((reduced.quadrant & 2u) << 30);
    return ccg_f32_bits(ccg_bits_f32(magnitude) ^ sign);
}

CCG_INLINE float ccg_cos_of_f32(ccg_reduced_f32 reduced)
{
    float sine = ccg_sin_small_f32(reduced.angle), cosine = ccg_cos_small_f32(reduced.angle);
    float magnitude = (reduced.quadrant & 1u) != 0 ? sine : cosine;
    uint32_t sign = ((reduced.quadrant + 1u) & 2u) << 30;
    return ccg_f32_bits(ccg_bits_f32(magnitude) ^ sign);
}

CCG_INLINE float ccg_tan_of_f32(float x, ccg_reduced_f32 reduced)
{
    float r = reduced.angle, z = r * r, tangent, p = 0x1.363cbcp-7f;
    p = ccg_fma_f32(p, z, 0x1.8567e4p-9f);
    p = ccg_fma_f32(p, z, 0x1.91e822p-6f);
    p = ccg_fma_f32(p, z, 0x1.b54b54p-5f);
    p = ccg_fma_f32(p, z, 0x1.112fdep-3f);
    p = ccg_fma_f32(p, z, 0x1.5554d4p-2f);
    tangent = ccg_fma_f32(r * z, p, r);
    tangent = (reduced.quadrant & 1u) != 0 ? -1.0f / tangent : tangent;
    return ccg_f32_bits(ccg_bits_f32(tangent) ^ (ccg_bits_f32(x) & 0x80000000u));
}

/* At most 1.6 (strict 2.45) ulp. */
CCG_INLINE float ccg_sin_f32(float x)
{
    float a = ccg_abs_f32(x), result = ccg_sin_of_f32(x, ccg_reduce_angle_f32(a));
    return a <= 0x1.fffffep+127f ? result : x - x;
}

/* At most 1.6 (strict 2.5) ulp. */
CCG_INLINE float ccg_cos_f32(float x)
{
    float a = ccg_abs_f32(x), result = ccg_cos_of_f32(ccg_reduce_angle_f32(a));
    return a <= 0x1.fffffep+127f ? result : x - x;
}

/* At most 3.05 (strict 3.8) ulp. */
CCG_INLINE float ccg_tan_f32(float x)
{
    float a = ccg_abs_f32(x), result = ccg_tan_of_f32(x, ccg_reduce_angle_f32(a));
    return a <= 0x1.fffffep+127f ? result : x - x;
}

/* The same for |x| below CCG_NEAR_ANGLE_F32, in a sixth of the time where there is FMA. Of NaN it
   is NaN, of other x any float. */
CCG_INLINE float ccg_near_sin_f32(float x)
{
    return ccg_sin_of_f32(x, ccg_reduce_near_f32(ccg_abs_f32(x)));
}

CCG_INLINE float ccg_near_cos_f32(float x)
{
    return ccg_cos_of_f32(ccg_reduce_near_f32(ccg_abs_f32(x)));
}

CCG_INLINE float ccg_near_tan_f32(float x)
{
    return ccg_tan_of_f32(x, ccg_reduce_near_f32(ccg_abs_f32(x)));
}

/* (asin(s) - s)/s for z = s² <= 1/4. */
CCG_INLINE float ccg_asin_tail_f32(float z)
{
    float p = 0x1.59f418p-5f;
    p = ccg_fma_f32(p, z, 0x1.8b8664p-6f);
    p = ccg_fma_f32(p, z, 0x1.748f06p-5f);
    p = ccg_fma_f32(p, z, 0x1.330136p-4f);
    p = ccg_fma_f32(p, z, 0x1.5555cap-3f);
    return p * z;
}

/* Above 1/2 by asin(x) = π/2 - 2·asin(√((1 - x)/2)), and so for acos. At most 2.05 ulp. */
CCG_INLINE float ccg_asin_f32(float x)
{
    float a = ccg_abs_f32(x), square = x * x, half = 0.5f - 0.5f * a;
    float z = a > 0.5f ? half : square, root = CCG_MATH(sqrtf)(half);
    float s = a > 0.5f ? root : a;
    float rest = s * ccg_asin_tail_f32(z);
    float large = CCG_HALF_PI_HIGH_F32 - 2.0f * s - (2.0f * rest - CCG_HALF_PI_LOW_F32);
    return ccg_copysign_f32(a > 0.5f ? large : s + rest, x);
}

/* At most 1.16 ulp. */
CCG_INLINE float ccg_acos_f32(float x)
{
    float a = ccg_abs_f32(x), square = x * x, half = 0.5f - 0.5f * a;
    float z = a > 0.5f ? half : square, root = CCG_MATH(sqrtf)(half);
    float s = a > 0.5f ? root : x;
    float rest = s * ccg_asin_tail_f32(z);
    float small = CCG_HALF_PI_HIGH_F32 - (s + (rest - CCG_HALF_PI_LOW_F32));
    float below = CCG_PI_HIGH_F32 - 2.0f * (s + (rest - CCG_HALF_PI_LOW_F32));
    float large = x < 0.0f ? below : 2.0f * (s + rest);
    return a > 0.5f ? large : small;
}

/* The angle of the point (x, y), in (-π, π]; of C99's special values, none is an error.
   At most 1.65 ulp. */
CCG_INLINE float ccg_atan2_f32(float y, float x)
{
    float a = ccg_abs_f32(x), b = ccg_abs_f32(y);
    float small = b > a ? a : b, large = b > a ? b : a, t, z, result;
    float p = 0x1.85e2fp-9f;
    t = small / large;
    t = small == large ? 1.0f : t;
    t = large == 0.0f ? 0.0f : t;
    z = t * t;
    p = ccg_fma_f32(p, z, -0x1.0faaaap-6f);
    p = ccg_fma_f32(p, z, 0x1.64ca84p-5f);
    p = ccg_fma_f32(p, z, -0x1.36802ep-4f);
    p = ccg_fma_f32(p, z, 0x1.b568d6p-4f);
    p = ccg_fma_f32(p, z, -0x1.231b66p-3f);
    p = ccg_fma_f32(p, z, 0x1.997adcp-3f);
    p = ccg_fma_f32(p, z, -0x1.5554e6p-2f);
    result = ccg_fma_f32(t * z, p, t);
    t = CCG_HALF_PI_HIGH_F32 - (result - CCG_HALF_PI_LOW_F32);
    result = b > a ? t : result;
    t = CCG_PI_HIGH_F32 - (result - CCG_PI_LOW_F32);
    result = ccg_bits_f32(x) >= 0x80000000u ? t : result;
    result = ccg_copysign_f32(result, y);
    result = y == y ? result : y;
    return x == x ? result : x;
}

/* At most 1.43 (strict 1.53) ulp. */
CCG_INLINE float ccg_atan_f32(float x)
{
    return ccg_atan2_f32(x, 1.0f);
}

#endif
