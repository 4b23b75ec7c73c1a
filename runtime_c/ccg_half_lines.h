/* Lines of f16 to f32 and back, and of f32 rounded to f16, as ccg_half.h has it of one: by
   instructions of F16C, which compilers do not find in a loop. What is not whole vectors is done in
   parts, as compilers do the rest of a loop: what they read next has been written at once, and a
   processor need not wait for it. */
#ifndef CCG_HALF_LINES_H
#define CCG_HALF_LINES_H

#include "ccg_half.h"

/* Widening, narrowing and rounding of so many elements, by registers of a kind. */
#define CCG_HALF_LINE(lanes, kind) \
    typedef float ccg_f32_x##lanes \
        __attribute__((vector_size(lanes * 4), aligned(4), may_alias)); \
    typedef struct { \
        uint16_t bits[lanes]; \
    } ccg_f16_x##lanes; \
    CCG_INLINE void ccg_widen_f16_x##lanes(float *CCG_RESTRICT y, const uint16_t *CCG_RESTRICT x) \
    { \
        ccg_f32_x##lanes wide; \
        __asm__("vcvtph2ps %1, %0" : "=" kind(wide) : "m"(*(const ccg_f16_x##lanes *)x)); \
        *(ccg_f32_x##lanes *)y = wide; \
    } \
    CCG_INLINE void ccg_narrow_f16_x##lanes(uint16_t *CCG_RESTRICT y, const float *CCG_RESTRICT x) \
    { \
        const ccg_f32_x##lanes wide = *(const ccg_f32_x##lanes *)x; \
        __asm__("vcvtps2ph $0, %1, %0" : "=m"(*(ccg_f16_x##lanes *)y) : kind(wide)); \
    } \
    CCG_INLINE void ccg_round_f16_x##lanes(float *x) \
    { \
        ccg_f32_x##lanes wide = *(const ccg_f32_x##lanes *)x; \
        ccg_bits_x##lanes half; \
        __asm__("vcvtps2ph $0, %1, %0" : "=" kind(half) : kind(wide)); \
        __asm__("vcvtph2ps %1, %0" : "=" kind(wide) : kind(half)); \
        *(ccg_f32_x##lanes *)x = wide; \
    }

#if defined(CCG_ONE_HALF)
typedef uint16_t ccg_bits_x4 __attribute__((vector_size(16)));
typedef uint16_t ccg_bits_x8 __attribute__((vector_size(16)));
CCG_HALF_LINE(4, "x")
CCG_HALF_LINE(8, "x")
#if defined(__AVX512F__)
typedef uint16_t ccg_bits_x16 __attribute__((vector_size(32)));
CCG_HALF_LINE(16, "v")
#define CCG_OF_16(call) \
    for (; i <= count - 16; i += 16) { \
        call; \
    }
#else
#define CCG_OF_16(call)
#endif
#define CCG_IN_PARTS(name, ...) \
    CCG_OF_16(ccg_##name##_x16(__VA_ARGS__)) \
    for (; i <= count - 8; i += 8) { \
        ccg_##name##_x8(__VA_ARGS__); \
    } \
    for (; i <= count - 4; i += 4) { \
        ccg_##name##_x4(__VA_ARGS__); \
    }
#else
#define CCG_IN_PARTS(name, ...)
#endif

/* y[i] = x[first + i], where i < count; 1 behind these, where i < size */
CCG_INLINE void ccg_widen_f16(float *CCG_RESTRICT y, const uint16_t *CCG_RESTRICT x,
    ptrdiff_t first, ptrdiff_t count, ptrdiff_t size)
{
    ptrdiff_t i = 0;
    x += first;
    CCG_IN_PARTS(widen_f16, y + i, x + i)
    for (; i < count; ++i) {
        y[i] = ccg_one_f32_from_f16(x[i]);
    }
    for (; i < size; ++i) {
        y[i] = 1;
    }
}

/* y[first + i] = x[i], where i < count */
CCG_INLINE void ccg_narrow_f16(
    uint16_t *CCG_RESTRICT y, const float *CCG_RESTRICT x, ptrdiff_t first, ptrdiff_t count)
{
    ptrdiff_t i = 0;
    y += first;
    CCG_IN_PARTS(narrow_f16, y + i, x + i)
    for (; i < count; ++i) {
        y[i] = ccg_one_f16_from_f32(x[i]);
    }
}

/* Rounds x[i] to an f16, where i < count. */
CCG_INLINE void ccg_round_f16(float *x, ptrdiff_t count)
{
    ptrdiff_t i = 0;
    CCG_IN_PARTS(round_f16, x + i)
    for (; i < count; ++i) {
        x[i] = ccg_one_nearest_f16(x[i]);
    }
}

#endif
