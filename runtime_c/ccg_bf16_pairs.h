/* Products of pairs of bf16, added to sums in f32: that of the second elements first, rounded, then
   that of the first ones, rounded; each is exact before it is added.

   An instruction does that, but takes denormals for zeros and gives zeros for them. It has the same
   bits where none can come up: all products are multiples of the least one's last place, and so
   are their sums, rounded or not. ccg_least_bf16 finds the exponent of the least number in a
   matrix; where the sum of those of both matrices is CCG_LEAST_OF_PAIRS or more, that last place
   is no denormal. */
#ifndef CCG_BF16_PAIRS_H
#define CCG_BF16_PAIRS_H

#include "ccg_vector.h"

/* Exponents are biased by 127, and the last place of a product is 14 below the exponents' sum. */
#define CCG_LEAST_OF_PAIRS (2 * 127 + 14 - 126)
#define CCG_DENORMAL (-CCG_LEAST_OF_PAIRS - 512) /* for denormals, whatever they are multiplied by */

/* least[place] = the least exponent, with its bias, of the elements that are not zero: lines, `step` apart,
   of `count` elements. */
CCG_INLINE void ccg_least_bf16(
    int32_t *CCG_RESTRICT least, const uint16_t *CCG_RESTRICT x, ptrdiff_t place, ptrdiff_t offset,
    ptrdiff_t lines, ptrdiff_t step, ptrdiff_t count)
{
    uint16_t found = 0xffff; /* magnitudes less one: zero is the largest */
    ptrdiff_t i, j;
    for (i = 0; i < lines; ++i) {
        const uint16_t *const line = x + offset + i * step;
        CCG_SIMD
        for (j = 0; j < count; ++j) {
            const uint16_t magnitude = (uint16_t)((line[j] & 0x7fff) - 1);
            found = magnitude < found ? magnitude : found;
        }
    }
    least[place] = found < 0x7f ? CCG_DENORMAL : (found + 1) >> 7;
}

#if CCG_VECTOR_BYTES
#if CCG_VECTOR_BYTES == 64 && defined(__AVX512BF16__)
#define CCG_PAIRS_BF16(sum, a, b) \
    __asm__("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b))
#endif

/* The second elements of all pairs, and the first ones. */
CCG_INLINE ccg_vector_f32 ccg_second_bf16(ccg_vector_u32 pairs)
{
    return (ccg_vector_f32)(pairs & ccg_splat_u32(0xffff0000u));
}

CCG_INLINE ccg_vector_f32 ccg_first_bf16(ccg_vector_u32 pairs)
{
    return (ccg_vector_f32)(pairs << 16);
}
#endif

#endif
