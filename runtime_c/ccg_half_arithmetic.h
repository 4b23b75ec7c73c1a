/* Arithmetic of f16, held as its bits in a uint16_t: a result is rounded once, to nearest even.

   By the processor's own instructions where it has them for vectors (AVX512-FP16, FP16 of Arm), in
   f32 elsewhere: an f32 has enough digits for the second rounding to change nothing. Branch-free:
   loops over these functions vectorise. */
#ifndef CCG_HALF_ARITHMETIC_H
#define CCG_HALF_ARITHMETIC_H

#include "ccg_float.h"
#include "ccg_half.h"

#if (defined(__AVX512FP16__) || defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC)) \
    && defined(__GNUC__) && !defined(CCG_PLAIN)
__extension__ typedef _Float16 ccg_number_f16;
CCG_INLINE ccg_number_f16 ccg_number_of_f16(uint16_t half)
{
    ccg_number_f16 number;
    memcpy(&number, &half, sizeof number);
    return number;
}

CCG_INLINE uint16_t ccg_rounded_to_f16(ccg_number_f16 number)
{
    uint16_t half;
    memcpy(&half, &number, sizeof half);
    return half;
}

#if defined(__OPTIMIZE__) && !defined(__clang__)
#define CCG_SQRT_F16 __builtin_sqrtf16 /* else a function of no library */
#endif
#else
typedef float ccg_number_f16;
#define ccg_number_of_f16 ccg_f32_from_f16
#define ccg_rounded_to_f16 ccg_f16_from_f32
#endif

#define CCG_OF_TWO_F16(name, operator) \
    CCG_INLINE uint16_t ccg_##name##_f16(uint16_t a, uint16_t b) \
    { \
        return ccg_rounded_to_f16(ccg_number_of_f16(a) operator ccg_number_of_f16(b)); \
    }
CCG_OF_TWO_F16(add, +)
CCG_OF_TWO_F16(subtract, -)
CCG_OF_TWO_F16(multiply, *)
CCG_OF_TWO_F16(divide, /)
#undef CCG_OF_TWO_F16

#define CCG_COMPARISON_F16(name, operator) \
    CCG_INLINE uint8_t ccg_compare_##name##_f16(uint16_t a, uint16_t b) \
    { \
        return ccg_number_of_f16(a) operator ccg_number_of_f16(b); \
    }
CCG_COMPARISON_F16(eq, ==)
CCG_COMPARISON_F16(ne, !=)
CCG_COMPARISON_F16(lt, <)
CCG_COMPARISON_F16(le, <=)
CCG_COMPARISON_F16(gt, >)
CCG_COMPARISON_F16(ge, >=)
#undef CCG_COMPARISON_F16

CCG_INLINE uint16_t ccg_sqrt_f16(uint16_t a)
{
#ifdef CCG_SQRT_F16
    return ccg_rounded_to_f16(CCG_SQRT_F16(ccg_number_of_f16(a)));
#else
    return ccg_f16_from_f32(ccg_sqrt_f32(ccg_f32_from_f16(a)));
#endif
}

CCG_INLINE uint16_t ccg_negate_f16(uint16_t a)
{
    return (uint16_t)(a ^ 0x8000u);
}

CCG_INLINE uint16_t ccg_abs_f16(uint16_t a)
{
    return (uint16_t)(a & 0x7fffu);
}

/* As ccg_maximum_f32 and the others of ccg_float.inc. */
CCG_INLINE uint16_t ccg_maximum_f16(uint16_t a, uint16_t b)
{
    uint16_t larger = ccg_compare_gt_f16(a, b) ? a : b;
    larger = (uint16_t)(a ^ b) == 0x8000u ? (uint16_t)(a & b) : larger;
    return ccg_compare_eq_f16(a, a) ? larger : a;
}

CCG_INLINE uint16_t ccg_minimum_f16(uint16_t a, uint16_t b)
{
    uint16_t smaller = ccg_compare_lt_f16(a, b) ? a : b;
    uint16_t other = ccg_compare_lt_f16(b, a) ? b : a;
    return (uint16_t)(smaller | other);
}

/* A constant to choose or not. Where gcc 12 knows that it chooses a zero it may ask for a masked
   store of one f16 with zeros, an instruction that there is not. */
CCG_INLINE uint16_t ccg_same_f16(uint16_t a)
{
    return a == 0 ? CCG_UNKNOWN(uint16_t, 0) : a;
}

/* max(a, limit) and min(a, limit) for a constant limit that is no NaN: one comparison decides, of
   equal zeros too. */
CCG_INLINE uint16_t ccg_at_least_f16(uint16_t a, uint16_t limit)
{
    const uint16_t same = ccg_same_f16(limit);
    return (limit == 0 ? ccg_compare_le_f16(a, same) : ccg_compare_lt_f16(a, same)) ? same : a;
}

CCG_INLINE uint16_t ccg_at_most_f16(uint16_t a, uint16_t limit)
{
    const uint16_t same = ccg_same_f16(limit);
    return (limit == 0x8000u ? ccg_compare_ge_f16(a, same) : ccg_compare_gt_f16(a, same)) ? same : a;
}

CCG_INLINE uint16_t ccg_clamp_f16(uint16_t low, uint16_t a, uint16_t high)
{
    return ccg_minimum_f16(ccg_maximum_f16(low, a), high);
}

#endif
