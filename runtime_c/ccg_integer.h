/* Integer operators as HLO defines them, for every integer type: total, wrapping, without UB.

   ccg_<operator>_<type>, type s1 s2 s4 s8 s16 s32 s64 u1 u2 u4 u8 u16 u32 u64. Types below eight
   bits live sign- or zero-extended in an int8_t or uint8_t; results are wrapped to their width.
   Here stands what they are made of; ccg_integer_8.h, of types up to eight bits, ccg_integer_16.h,
   ccg_integer_32.h and ccg_integer_64.h have them, as few as a kernel needs. The bodies stand in
   ccg_signed.inc, ccg_unsigned.inc and ccg_integer_common.inc. */
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

#endif
