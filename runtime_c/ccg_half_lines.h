/* Lines of f16 to f32 and back, and of f32 rounded to f16, as ccg_half.h has it of one: by
   instructions of F16C or of 64-bit Arm, which compilers do not find in a loop. What is not whole
   vectors is done in parts, as compilers do the rest of a loop: what they read next has been written
   at once, and a processor need not wait for it. */
#ifndef CCG_HALF_LINES_H
#define CCG_HALF_LINES_H

#include "ccg_half.h"

#if defined(__GNUC__) && defined(__F16C__) && !defined(CCG_PLAIN)
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
    CCG_INLINE void ccg_round_f16_x##lanes(float *y, const float *x) \
    { \
        ccg_f32_x##lanes wide = *(const ccg_f32_x##lanes *)x; \
        ccg_bits_x##lanes half; \
        __asm__("vcvtps2ph $0, %1, %0" : "=" kind(half) : kind(wide)); \
        __asm__("vcvtph2ps %1, %0" : "=" kind(wide) : kind(half)); \
        *(ccg_f32_x##lanes *)y = wide; \
    }
typedef uint16_t ccg_bits_x4 __attribute__((vector_size(16)));
typedef uint16_t ccg_bits_x8 __attribute__((vector_size(16)));
CCG_HALF_LINE(4, "x")
CCG_HALF_LINE(8, "x")
#if defined(__AVX512F__)
typedef uint16_t ccg_bits_x16 __attribute__((vector_size(32)));
CCG_HALF_LINE(16, "v")
#define CCG_OF_16(call) \
    for (ptrdiff_t i = 0; i <= count - 16; i += 16) { \
        call; \
    }
#define CCG_FIRST_OF_8 (count - count % 16)
#else
#define CCG_OF_16(call)
#define CCG_FIRST_OF_8 0
#endif
#define CCG_IN_PARTS(name, arguments) \
    CCG_OF_16(ccg_##name##_x16 arguments) \
    for (ptrdiff_t i = CCG_FIRST_OF_8; i <= count - 8; i += 8) { \
        ccg_##name##_x8 arguments; \
    } \
    for (ptrdiff_t i = count - count % 8; i <= count - 4; i += 4) { \
        ccg_##name##_x4 arguments; \
    }
#elif defined(__GNUC__) && defined(__aarch64__) && !defined(CCG_PLAIN)
typedef float ccg_f32_x4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef uint16_t ccg_bits_x4 __attribute__((vector_size(8), aligned(2), may_alias));
CCG_INLINE void ccg_widen_f16_x4(float *CCG_RESTRICT y, const uint16_t *CCG_RESTRICT x)
{
    const ccg_bits_x4 half = *(const ccg_bits_x4 *)x;
    ccg_f32_x4 wide;
    __asm__("fcvtl %0.4s, %1.4h" : "=w"(wide) : "w"(half));
    *(ccg_f32_x4 *)y = wide;
}

CCG_INLINE void ccg_narrow_f16_x4(uint16_t *CCG_RESTRICT y, const float *CCG_RESTRICT x)
{
    const ccg_f32_x4 wide = *(const ccg_f32_x4 *)x;
    ccg_bits_x4 half;
    __asm__("fcvtn %0.4h, %1.4s" : "=w"(half) : "w"(wide));
    *(ccg_bits_x4 *)y = half;
}

CCG_INLINE void ccg_round_f16_x4(float *y, const float *x)
{
    ccg_f32_x4 wide = *(const ccg_f32_x4 *)x;
    ccg_bits_x4 half;
    __asm__("fcvtn %0.4h, %1.4s" : "=w"(half) : "w"(wide));
    __asm__("fcvtl %0.4s, %1.4h" : "=w"(wide) : "w"(half));
    *(ccg_f32_x4 *)y = wide;
}

#define CCG_IN_PARTS(name, arguments) \
    for (ptrdiff_t i = 0; i <= count - 4; i += 4) { \
        ccg_##name##_x4 arguments; \
    }
#else
#define CCG_IN_PARTS(name, arguments)
#define CCG_REST(count) 0
#endif
#if !defined(CCG_REST)
#define CCG_REST(count) ((count) - (count) % 4)
#endif

/* y[i] = x[first + i], where i < count; 1 behind these, where i < size */
CCG_INLINE void ccg_widen_f16(float *CCG_RESTRICT y, const uint16_t *CCG_RESTRICT x,
    ptrdiff_t first, ptrdiff_t count, ptrdiff_t size)
{
    x += first;
    CCG_IN_PARTS(widen_f16, (y + i, x + i))
    for (ptrdiff_t i = CCG_REST(count); i < count; ++i) {
        y[i] = ccg_one_f32_from_f16(x[i]);
    }
    for (ptrdiff_t i = count; i < size; ++i) {
        y[i] = 1;
    }
}

/* y[first + i] = x[i], where i < count */
CCG_INLINE void ccg_narrow_f16(
    uint16_t *CCG_RESTRICT y, const float *CCG_RESTRICT x, ptrdiff_t first, ptrdiff_t count)
{
    y += first;
    CCG_IN_PARTS(narrow_f16, (y + i, x + i))
    for (ptrdiff_t i = CCG_REST(count); i < count; ++i) {
        y[i] = ccg_one_f16_from_f32(x[i]);
    }
}

/* y[first + i] = x[start + i], where i < count */
CCG_INLINE void ccg_narrowed_f16(uint16_t *CCG_RESTRICT y, const float *CCG_RESTRICT x,
    ptrdiff_t first, ptrdiff_t start, ptrdiff_t count)
{
    ccg_narrow_f16(y, x + start, first, count);
}

/* Rounds x[i] to an f16, where i < count. */
CCG_INLINE void ccg_round_f16(float *x, ptrdiff_t count)
{
    CCG_IN_PARTS(round_f16, (x + i, x + i))
    for (ptrdiff_t i = CCG_REST(count); i < count; ++i) {
        x[i] = ccg_one_nearest_f16(x[i]);
    }
}

/* y[i] = x[first + i], rounded to an f16, where i < count */
CCG_INLINE void ccg_rounded_f16(
    float *CCG_RESTRICT y, const float *CCG_RESTRICT x, ptrdiff_t first, ptrdiff_t count)
{
    x += first;
    CCG_IN_PARTS(round_f16, (y + i, x + i))
    for (ptrdiff_t i = CCG_REST(count); i < count; ++i) {
        y[i] = ccg_one_nearest_f16(x[i]);
    }
}

#endif
