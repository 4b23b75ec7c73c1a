/* Integer operators as HLO defines them, for every integer type: total, wrapping, without UB.

   ccg_<operator>_<type>, type s1 s2 s4 s8 s16 s32 s64 u1 u2 u4 u8 u16 u32 u64. Types below eight
   bits live sign- or zero-extended in an int8_t or uint8_t; results are wrapped to their width.
   The bodies stand in ccg_integer_common.inc, ccg_signed.inc and ccg_unsigned.inc. */
#ifndef CCG_INTEGER_H
#define CCG_INTEGER_H

#include "ccg_base.h"

CCG_INLINE uint32_t ccg_popcount32(uint32_t x)
{
    x = x - ((x >> 1) & 0x55555555u);
    x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0fu;
    return (x * 0x01010101u) >> 24;
}

CCG_INLINE uint32_t ccg_popcount64(uint64_t x)
{
    return ccg_popcount32((uint32_t)x) + ccg_popcount32((uint32_t)(x >> 32));
}

/* Zeros above the highest one; 32 for 0. */
CCG_INLINE uint32_t ccg_leading_zeros32(uint32_t x)
{
    x |= x >> 1;
    x |= x >> 2;
    x |= x >> 4;
    x |= x >> 8;
    x |= x >> 16;
    return 32u - ccg_popcount32(x);
}

CCG_INLINE uint32_t ccg_leading_zeros64(uint64_t x)
{
    uint32_t high = (uint32_t)(x >> 32);
    uint32_t low = ccg_leading_zeros32((uint32_t)x);
    return high != 0 ? ccg_leading_zeros32(high) : 32u + low;
}

/* The upper 64 bits of the product. */
CCG_INLINE uint64_t ccg_high_product64(uint64_t a, uint64_t b)
{
    uint64_t a_low = a & 0xffffffffu, a_high = a >> 32;
    uint64_t b_low = b & 0xffffffffu, b_high = b >> 32;
    uint64_t low = a_low * b_low;
    uint64_t middle = a_high * b_low + (low >> 32);
    uint64_t other = a_low * b_high + (middle & 0xffffffffu);
    return a_high * b_high + (middle >> 32) + (other >> 32);
}

/* CCG_T: the type that holds an element. CCG_V, CCG_W: the signed and unsigned types to compute in.
   CCG_COUNT: the width of these, CCG_BITS: the width of the element. */
#define CCG_F(name) CCG_PASTE(CCG_PASTE(ccg_, name), CCG_PASTE(_, CCG_S))
#define CCG_UNARY(name) CCG_INLINE CCG_T CCG_F(name)(CCG_T a)
#define CCG_BINARY(name) CCG_INLINE CCG_T CCG_F(name)(CCG_T a, CCG_T b)

#define CCG_V int32_t
#define CCG_W uint32_t
#define CCG_COUNT 32

/* The whole part of a/b, where it is in range. Vectors divide floats only. A quotient of numbers of
   32 bits that is not whole is at least 2^-32 below the next number that is, and as a double far
   nearer to itself. */
#if defined(__AVX2__) && !defined(CCG_PLAIN)
#define CCG_WHOLE(T, a, b) (__builtin_constant_p(b) ? (a) / (b) : (T)((double)(a) / (double)(b)))
#else
#define CCG_WHOLE(T, a, b) ((a) / (b))
#endif

#define CCG_T int8_t
#define CCG_S s1
#define CCG_BITS 1
#include "ccg_signed.inc"
#define CCG_S s2
#define CCG_BITS 2
#include "ccg_signed.inc"
#define CCG_S s4
#define CCG_BITS 4
#include "ccg_signed.inc"
#define CCG_S s8
#define CCG_BITS 8
#include "ccg_signed.inc"
#undef CCG_T

#define CCG_T uint8_t
#define CCG_S u1
#define CCG_BITS 1
#include "ccg_unsigned.inc"
#define CCG_S u2
#define CCG_BITS 2
#include "ccg_unsigned.inc"
#define CCG_S u4
#define CCG_BITS 4
#include "ccg_unsigned.inc"
#define CCG_S u8
#define CCG_BITS 8
#include "ccg_unsigned.inc"
#undef CCG_T

#define CCG_T int16_t
#define CCG_S s16
#define CCG_BITS 16
#include "ccg_signed.inc"
#undef CCG_T
#define CCG_T uint16_t
#define CCG_S u16
#define CCG_BITS 16
#include "ccg_unsigned.inc"
#undef CCG_T

#define CCG_T int32_t
#define CCG_S s32
#define CCG_BITS 32
#include "ccg_signed.inc"
#undef CCG_T
#define CCG_T uint32_t
#define CCG_S u32
#define CCG_BITS 32
#include "ccg_unsigned.inc"
#undef CCG_T

#undef CCG_V
#undef CCG_W
#undef CCG_COUNT
#undef CCG_WHOLE
#define CCG_V int64_t
#define CCG_W uint64_t
#define CCG_COUNT 64
#define CCG_WHOLE(T, a, b) ((a) / (b))

#define CCG_T int64_t
#define CCG_S s64
#define CCG_BITS 64
#include "ccg_signed.inc"
#undef CCG_T
#define CCG_T uint64_t
#define CCG_S u64
#define CCG_BITS 64
#include "ccg_unsigned.inc"
#undef CCG_T

#undef CCG_V
#undef CCG_W
#undef CCG_COUNT
#undef CCG_WHOLE
#undef CCG_F
#undef CCG_UNARY
#undef CCG_BINARY

#endif
