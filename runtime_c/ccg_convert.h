/* Float to integer and to pred, and reduce-precision, as HLO defines them.

   ccg_<integer type>_from_f32 and _from_f64 truncate toward zero and saturate; NaN gives 0. The
   other conversions between integers and floats are C's. */
#ifndef CCG_CONVERT_H
#define CCG_CONVERT_H

#include "ccg_base.h"
#include "ccg_float.h"

/* As an integer between two, which are V's. What is out of range is replaced before the cast,
   because casting it is undefined; what is near zero because gcc 12 with -fno-trapping-math makes a
   truncation of (float)(int)x, and so -0 of -0.5. */
#define CCG_SATURATE(function, V, from, F) \
    CCG_INLINE V function(F x, F least, F largest) \
    { \
        F inside = x < least ? least : x; \
        inside = inside > largest ? largest : inside; \
        inside = ccg_abs_##from(inside) >= 1 ? inside : 0; \
        return (V)inside; \
    }
CCG_SATURATE(ccg_saturate_f32, int32_t, f32, float)
CCG_SATURATE(ccg_saturate_f64, int32_t, f64, double)
CCG_SATURATE(ccg_saturate_unsigned_f64, uint32_t, f64, double)

/* T: the type that holds the integer. */
#define CCG_TO_INTEGER(to, T, from, F, least, largest) \
    CCG_INLINE T ccg_##to##_from_##from(F x) \
    { \
        return (T)ccg_saturate_##from(x, least, largest); \
    }
/* Where the largest value is none of F's; the limit is one more. It is added, not chosen: gcc would
   move what is done with the result before the choice, and compares of it do not become vectors
   there. */
#define CCG_TO_WIDE_INTEGER(to, T, largest, from, F, least_value, limit_value) \
    CCG_INLINE T ccg_##to##_from_##from(F x) \
    { \
        const F least = least_value, limit = limit_value; \
        F inside = x < least ? least : x; \
        inside = inside < limit ? inside : 0; \
        inside = ccg_abs_##from(inside) < 1 ? 0 : inside; \
        return (T)inside + (x >= limit ? largest : 0); \
    }
#define CCG_TO_INTEGERS(from, F) \
    CCG_TO_INTEGER(s1, int8_t, from, F, -1, 0) \
    CCG_TO_INTEGER(s2, int8_t, from, F, -2, 1) \
    CCG_TO_INTEGER(s4, int8_t, from, F, -8, 7) \
    CCG_TO_INTEGER(s8, int8_t, from, F, -128, 127) \
    CCG_TO_INTEGER(s16, int16_t, from, F, -32768, 32767) \
    CCG_TO_INTEGER(u1, uint8_t, from, F, 0, 1) \
    CCG_TO_INTEGER(u2, uint8_t, from, F, 0, 3) \
    CCG_TO_INTEGER(u4, uint8_t, from, F, 0, 15) \
    CCG_TO_INTEGER(u8, uint8_t, from, F, 0, 255) \
    CCG_TO_INTEGER(u16, uint16_t, from, F, 0, 65535) \
    CCG_TO_WIDE_INTEGER(s64, int64_t, INT64_MAX, from, F, (F)-0x1p63, (F)0x1p63) \
    CCG_TO_WIDE_INTEGER(u64, uint64_t, UINT64_MAX, from, F, 0, (F)0x1p64)

CCG_TO_INTEGERS(f32, float)
CCG_TO_INTEGERS(f64, double)
CCG_TO_WIDE_INTEGER(s32, int32_t, INT32_MAX, f32, float, -0x1p31f, 0x1p31f)
CCG_TO_WIDE_INTEGER(u32, uint32_t, UINT32_MAX, f32, float, 0, 0x1p32f)
CCG_TO_INTEGER(s32, int32_t, f64, double, -0x1p31, INT32_MAX)
CCG_INLINE uint32_t ccg_u32_from_f64(double x)
{
    return ccg_saturate_unsigned_f64(x, 0, UINT32_MAX);
}

#undef CCG_SATURATE
#undef CCG_TO_INTEGER
#undef CCG_TO_WIDE_INTEGER
#undef CCG_TO_INTEGERS

/* NaN is true. */
CCG_INLINE uint8_t ccg_pred_from_f32(float x)
{
    return (uint8_t)(x != 0);
}

CCG_INLINE uint8_t ccg_pred_from_f64(double x)
{
    return (uint8_t)(x != 0);
}

/* Rounds to a float with so many bits of exponent (1 to 8) and mantissa (0 to 23): to nearest even;
   what is too large gives infinity, what is below the least normal number a zero. Without mantissa
   bits any NaN becomes +infinity, as its sign is of no account. */
CCG_INLINE float ccg_reduce_precision_f32(float x, uint32_t exponent_bits, uint32_t mantissa_bits)
{
    uint32_t drop = mantissa_bits < 23u ? 23u - mantissa_bits : 0u;
    uint32_t last = (uint32_t)1 << drop, reach = ((uint32_t)1 << (exponent_bits - 1u)) - 1u;
    uint32_t bits = ccg_bits_f32(x), magnitude = bits & 0x7fffffffu, sign = bits - magnitude;
    uint32_t half = (last >> 1) - (drop != 0 ? 1u : 0u);
    uint32_t odd = drop != 0 ? (magnitude >> drop) & 1u : 0u;
    uint32_t rounded = (magnitude + half + odd) & ~(last - 1u);
    uint32_t exponent = rounded >> 23;
    rounded = exponent > 127u + reach ? 0x7f800000u : rounded;
    rounded = exponent_bits < 8u && exponent <= 127u - reach ? 0u : rounded;
    uint32_t nan = mantissa_bits != 0 ? bits : 0x7f800000u;
    return ccg_f32_bits(magnitude > 0x7f800000u ? nan : sign | rounded);
}

/* The same for 1 to 11 bits of exponent and 0 to 52 of mantissa. */
CCG_INLINE double ccg_reduce_precision_f64(double x, uint32_t exponent_bits, uint32_t mantissa_bits)
{
    const uint64_t infinity = (uint64_t)0x7ff << 52;
    uint64_t drop = mantissa_bits < 52u ? 52u - mantissa_bits : 0u;
    uint64_t last = (uint64_t)1 << drop, reach = ((uint64_t)1 << (exponent_bits - 1u)) - 1u;
    uint64_t bits = ccg_bits_f64(x), magnitude = bits << 1 >> 1, sign = bits - magnitude;
    uint64_t half = (last >> 1) - (drop != 0 ? 1u : 0u);
    uint64_t odd = drop != 0 ? (magnitude >> drop) & 1u : 0u;
    uint64_t rounded = (magnitude + half + odd) & ~(last - 1u);
    uint64_t exponent = rounded >> 52;
    rounded = exponent > 1023u + reach ? infinity : rounded;
    rounded = exponent_bits < 11u && exponent <= 1023u - reach ? 0u : rounded;
    uint64_t nan = mantissa_bits != 0 ? bits : infinity;
    return ccg_f64_bits(magnitude > infinity ? nan : sign | rounded);
}

#endif
