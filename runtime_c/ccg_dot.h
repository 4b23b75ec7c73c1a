/* Dot products inside the 32-bit elements of vectors, added to sums modulo 2^32.

   ccg_dot_s16_s16(sum, a, b): an element of a and one of b hold two 16-bit integers each.
   ccg_dot_<a>_<b>(sum, a, b), <a> and <b> one of s8 and u8: they hold four bytes each. As machines
   multiply bytes of some signs only, these take a ^ CCG_FLIP_<a>_<b> instead of a: where that
   constant is not 0, b is multiplied by elements of a that are 128 more or less. Whatever a is,
   ccg_dot_<a>_<b>(0, CCG_FLIP_<a>_<b>, b) is what that adds too much. ccg_excess_<a>_<b> adds that up
   for each column of a panel, which has four elements of the depth of each of them in turn, from
   excess[place] on. */
#ifndef CCG_DOT_H
#define CCG_DOT_H

#include "ccg_vector.h"

#if CCG_VECTOR_BYTES
#if CCG_VECTOR_BYTES == 64 && defined(__AVX512VNNI__)
#define CCG_VNNI(name, sum, a, b) \
    __asm__(name " %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b))
#elif CCG_VECTOR_BYTES == 32 && defined(__AVXVNNI__)
#define CCG_VNNI(name, sum, a, b) \
    __asm__("%{vex%} " name " %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b))
#elif (CCG_VECTOR_BYTES == 64 && defined(__AVX512BW__)) \
    || (CCG_VECTOR_BYTES == 32 && defined(__AVX2__))
#define CCG_PAIRS(sums, a, b) __asm__("vpmaddwd %2, %1, %0" : "=v"(sums) : "v"(a), "v"(b))
#elif CCG_VECTOR_BYTES == 16 && defined(__SSE2__)
#define CCG_PAIRS(sums, a, b) __asm__("pmaddwd %2, %0" : "=x"(sums) : "0"(a), "x"(b))
#elif defined(__ARM_FEATURE_DOTPROD)
#define CCG_NEON_DOT(name, sum, a, b) \
    __asm__(name " %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(a), "w"(b))
#endif

typedef int16_t ccg_vector_s16 __attribute__((vector_size(CCG_VECTOR_BYTES)));
typedef uint16_t ccg_vector_u16 __attribute__((vector_size(CCG_VECTOR_BYTES)));
typedef int32_t ccg_vector_s32 __attribute__((vector_size(CCG_VECTOR_BYTES)));

/* The 32 bits at p, in every element. */
CCG_INLINE ccg_vector_u32 ccg_splat_group(const void *p)
{
    uint32_t group;
    memcpy(&group, p, sizeof group);
    return ccg_splat_u32(group);
}

CCG_INLINE ccg_vector_u32 ccg_dot_s16_s16(ccg_vector_u32 sum, ccg_vector_u32 a, ccg_vector_u32 b)
{
#if defined(CCG_VNNI)
    CCG_VNNI("vpdpwssd", sum, a, b);
    return sum;
#elif defined(CCG_PAIRS)
    ccg_vector_u32 sums;
    CCG_PAIRS(sums, a, b);
    return sum + sums;
#else
    const ccg_vector_s32 even_a = (ccg_vector_s32)(a << 16) >> 16, odd_a = (ccg_vector_s32)a >> 16;
    const ccg_vector_s32 even_b = (ccg_vector_s32)(b << 16) >> 16, odd_b = (ccg_vector_s32)b >> 16;
    sum += (ccg_vector_u32)even_a * (ccg_vector_u32)even_b;
    return sum + (ccg_vector_u32)odd_a * (ccg_vector_u32)odd_b;
#endif
}

#if defined(CCG_VNNI)
/* Multiplies unsigned by signed bytes. */
CCG_INLINE ccg_vector_u32 ccg_dot_u8_s8(ccg_vector_u32 sum, ccg_vector_u32 a, ccg_vector_u32 b)
{
    CCG_VNNI("vpdpbusd", sum, a, b);
    return sum;
}

#define CCG_FLIP_u8_s8 0u
#define CCG_FLIP_s8_u8 0u
#define CCG_FLIP_s8_s8 0x80808080u
#define CCG_FLIP_u8_u8 0x80808080u
#define ccg_dot_s8_u8(sum, a, b) ccg_dot_u8_s8(sum, b, a)
#define ccg_dot_s8_s8(sum, a, b) ccg_dot_u8_s8(sum, a, b)
#define ccg_dot_u8_u8(sum, a, b) ccg_dot_u8_s8(sum, b, a)
#elif defined(CCG_NEON_DOT)
/* Multiplies bytes of the same sign. */
CCG_INLINE ccg_vector_u32 ccg_dot_s8_s8(ccg_vector_u32 sum, ccg_vector_u32 a, ccg_vector_u32 b)
{
    CCG_NEON_DOT("sdot", sum, a, b);
    return sum;
}

CCG_INLINE ccg_vector_u32 ccg_dot_u8_u8(ccg_vector_u32 sum, ccg_vector_u32 a, ccg_vector_u32 b)
{
    CCG_NEON_DOT("udot", sum, a, b);
    return sum;
}

#define CCG_FLIP_s8_s8 0u
#define CCG_FLIP_u8_u8 0u
#define CCG_FLIP_u8_s8 0x80808080u
#define CCG_FLIP_s8_u8 0x80808080u
#define ccg_dot_u8_s8(sum, a, b) ccg_dot_s8_s8(sum, a, b)
#define ccg_dot_s8_u8(sum, a, b) ccg_dot_u8_u8(sum, a, b)
#else
/* Any bytes, as 16-bit integers: those at even places, and those at odd ones. */
CCG_INLINE ccg_vector_u32 ccg_even_s8(ccg_vector_u32 x)
{
    return (ccg_vector_u32)((ccg_vector_s16)((ccg_vector_u16)x << 8) >> 8);
}

CCG_INLINE ccg_vector_u32 ccg_odd_s8(ccg_vector_u32 x)
{
    return (ccg_vector_u32)((ccg_vector_s16)x >> 8);
}

CCG_INLINE ccg_vector_u32 ccg_even_u8(ccg_vector_u32 x)
{
    return x & ccg_splat_u32(0x00ff00ffu);
}

CCG_INLINE ccg_vector_u32 ccg_odd_u8(ccg_vector_u32 x)
{
    return (ccg_vector_u32)((ccg_vector_u16)x >> 8);
}

#define CCG_DOT_BY_PAIRS(sum, a, b, type_a, type_b) \
    ccg_dot_s16_s16( \
        ccg_dot_s16_s16(sum, ccg_even_##type_a(a), ccg_even_##type_b(b)), \
        ccg_odd_##type_a(a), \
        ccg_odd_##type_b(b))

#define CCG_FLIP_u8_s8 0u
#define CCG_FLIP_s8_u8 0u
#define CCG_FLIP_s8_s8 0u
#define CCG_FLIP_u8_u8 0u
#define ccg_dot_u8_s8(sum, a, b) CCG_DOT_BY_PAIRS(sum, a, b, u8, s8)
#define ccg_dot_s8_u8(sum, a, b) CCG_DOT_BY_PAIRS(sum, a, b, s8, u8)
#define ccg_dot_s8_s8(sum, a, b) CCG_DOT_BY_PAIRS(sum, a, b, s8, s8)
#define ccg_dot_u8_u8(sum, a, b) CCG_DOT_BY_PAIRS(sum, a, b, u8, u8)
#endif

#define CCG_ADD_EXCESS(types) \
    for (j = 0; CCG_FLIP_##types != 0 && j + CCG_VECTOR_BYTES / 4 <= columns; \
         j += CCG_VECTOR_BYTES / 4) { \
        const ccg_vector_u32 flip = ccg_splat_u32(CCG_FLIP_##types); \
        ccg_vector_u32 sum = {0}; \
        for (k = 0; k < depth; k += 4) { \
            sum = ccg_dot_##types(sum, flip, ccg_load_u32(rhs + offset + k * columns + j * 4)); \
        } \
        ccg_store_u32(excess + place + j, sum); \
    }
#else
#define CCG_ADD_EXCESS(types) (void)rhs, (void)offset, (void)depth, (void)k;
#endif

#define CCG_EXCESS(types, type) \
    CCG_INLINE void ccg_excess_##types( \
        uint32_t *CCG_RESTRICT excess, const type *CCG_RESTRICT rhs, ptrdiff_t place, \
        ptrdiff_t offset, ptrdiff_t columns, ptrdiff_t depth) \
    { \
        ptrdiff_t j, k; \
        for (j = 0; j < columns; ++j) { \
            excess[place + j] = 0; \
        } \
        CCG_ADD_EXCESS(types) \
    }
CCG_EXCESS(s8_s8, int8_t)
CCG_EXCESS(s8_u8, uint8_t)
CCG_EXCESS(u8_s8, int8_t)
CCG_EXCESS(u8_u8, uint8_t)
#undef CCG_EXCESS
#undef CCG_ADD_EXCESS

#endif
