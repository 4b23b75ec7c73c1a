/* Float operators that only choose, round or rearrange bits, and roots: exact or rounded correctly,
   and the same on every target.

   ccg_<operator>_f32 and _f64; narrower floats go through f32. The bodies stand in
   ccg_float.inc. */
#ifndef CCG_FLOAT_H
#define CCG_FLOAT_H

#include "ccg_base.h"

#define CCG_INF_F32 ccg_f32_bits(0x7f800000u)
#define CCG_NAN_F32 ccg_f32_bits(0x7fc00000u)
#define CCG_INF_F64 ccg_f64_bits((uint64_t)0x7ff << 52)
#define CCG_NAN_F64 ccg_f64_bits((uint64_t)0xfff << 51)

/* CCG_T: the float type. CCG_U, CCG_I: unsigned and signed integers of its width. CCG_DIGITS: bits
   of mantissa stored. CCG_BIAS: of the exponent. CCG_LIBM(f): f of <math.h> for it. CCG_FUSED(a, b,
   c): a*b + c, rounded once, where that is fast. CCG_OWN_REMAINDER: it has one of its own. */
#define CCG_F(name) CCG_PASTE(CCG_PASTE(ccg_, name), CCG_PASTE(_, CCG_S))
#define CCG_BITS(x) CCG_PASTE(ccg_bits_, CCG_S)(x)
#define CCG_FROM_BITS(x) CCG_PASTE(CCG_PASTE(ccg_, CCG_S), _bits)(x)
#define CCG_SIGN ((CCG_U)1 << (8 * sizeof(CCG_U) - 1))
#define CCG_INFINITE ((CCG_SIGN >> CCG_DIGITS << CCG_DIGITS) - ((CCG_U)1 << CCG_DIGITS))

#define CCG_T float
#define CCG_S f32
#define CCG_U uint32_t
#define CCG_I int32_t
#define CCG_DIGITS 23
#define CCG_BIAS 127
#ifdef CCG_FUSED_F32
#define CCG_FUSED CCG_FUSED_F32
#endif
#define CCG_LIBM(name) CCG_MATH(name##f)
#ifdef CCG_FUSED_F64
#define CCG_OWN_REMAINDER
#endif
#include "ccg_float.inc"

#define CCG_T double
#define CCG_S f64
#define CCG_U uint64_t
#define CCG_I int64_t
#define CCG_DIGITS 52
#define CCG_BIAS 1023
#ifdef CCG_FUSED_F64
#define CCG_FUSED CCG_FUSED_F64
#endif
#define CCG_LIBM(name) CCG_MATH(name)
#include "ccg_float.inc"

/* For constants. */
#define ccg_at_least_f32(a, limit) ccg_at_least_same_f32(a, limit, CCG_UNKNOWN(float, limit))
#define ccg_at_least_f64(a, limit) ccg_at_least_same_f64(a, limit, CCG_UNKNOWN(double, limit))
#define ccg_at_most_f32(a, limit) ccg_at_most_same_f32(a, limit, CCG_UNKNOWN(float, limit))
#define ccg_at_most_f64(a, limit) ccg_at_most_same_f64(a, limit, CCG_UNKNOWN(double, limit))

#undef CCG_F
#undef CCG_BITS
#undef CCG_FROM_BITS
#undef CCG_SIGN
#undef CCG_INFINITE

#ifdef CCG_FUSED_F64
/* Of a quotient below 2^51 that is rounded to nearest: exact, at most a little more than half of
   what it is divided by. Sums with 3·2^51 are whole numbers. */
#define CCG_LEFT_OVER(size, inverse, by) \
    CCG_FUSED_F64(-((size) * (inverse) + 0x1.8p52 - 0x1.8p52), by, size)

/* As of f64, without a branch, which compilers make no vectors of: in steps of 50 bits, as a
   quotient has up to 277. */
CCG_INLINE float ccg_remainder_f32(float a, float b)
{
    const double by = ccg_abs_f32(b) == CCG_INF_F32 ? 0x1p128 : ccg_abs_f32(b), inverse = 1 / by;
    double left = ccg_abs_f32(a);
    left = CCG_LEFT_OVER(left, inverse * 0x1p-250, by * 0x1p250);
    left = CCG_LEFT_OVER(left, inverse * 0x1p-200, by * 0x1p200);
    left = CCG_LEFT_OVER(left, inverse * 0x1p-150, by * 0x1p150);
    left = CCG_LEFT_OVER(left, inverse * 0x1p-100, by * 0x1p100);
    left = CCG_LEFT_OVER(left, inverse * 0x1p-50, by * 0x1p50);
    left = CCG_LEFT_OVER(left, inverse, by);
    return ccg_copysign_f32((float)(left < 0 ? left + by : left), a);
}

#undef CCG_LEFT_OVER
#endif

/* At most 0.5 ulp. */
CCG_INLINE float ccg_sqrt_f32(float x)
{
    return CCG_MATH(sqrtf)(x);
}

/* At most 0.5 ulp. */
CCG_INLINE double ccg_sqrt_f64(double x)
{
    return CCG_MATH(sqrt)(x);
}

#endif
