/* Lines of f16 to f32 and back, as ccg_half.h has it of one: by instructions of F16C, which compilers
   do not find in a loop. What is not whole lines, or half of one, is done by another that overlaps
   with the last. */
#ifndef CCG_HALF_LINES_H
#define CCG_HALF_LINES_H

#include "ccg_half.h"

#if defined(__GNUC__) && defined(__F16C__) && !defined(CCG_PLAIN)
#if defined(__AVX512F__)
#define CCG_LINE_LANES 16
#else
#define CCG_LINE_LANES 8
#endif
#define CCG_HALF_LINE_LANES (CCG_LINE_LANES / 2)
typedef float ccg_line_f32 __attribute__((vector_size(CCG_LINE_LANES * 4), aligned(4), may_alias));
typedef float ccg_half_line_f32
    __attribute__((vector_size(CCG_HALF_LINE_LANES * 4), aligned(4), may_alias));
typedef struct {
    uint16_t bits[CCG_LINE_LANES];
} ccg_line_f16;
typedef struct {
    uint16_t bits[CCG_HALF_LINE_LANES];
} ccg_half_line_f16;

CCG_INLINE void ccg_widen_line_f16(float *CCG_RESTRICT y, const uint16_t *CCG_RESTRICT x)
{
    ccg_line_f32 wide;
    __asm__("vcvtph2ps %1, %0" : "=v"(wide) : "m"(*(const ccg_line_f16 *)x));
    *(ccg_line_f32 *)y = wide;
}

CCG_INLINE void ccg_widen_half_line_f16(float *CCG_RESTRICT y, const uint16_t *CCG_RESTRICT x)
{
    ccg_half_line_f32 wide;
    __asm__("vcvtph2ps %1, %0" : "=x"(wide) : "m"(*(const ccg_half_line_f16 *)x));
    *(ccg_half_line_f32 *)y = wide;
}

CCG_INLINE void ccg_narrow_line_f16(uint16_t *CCG_RESTRICT y, const float *CCG_RESTRICT x)
{
    const ccg_line_f32 wide = *(const ccg_line_f32 *)x;
    __asm__("vcvtps2ph $0, %1, %0" : "=m"(*(ccg_line_f16 *)y) : "v"(wide));
}

CCG_INLINE void ccg_narrow_half_line_f16(uint16_t *CCG_RESTRICT y, const float *CCG_RESTRICT x)
{
    const ccg_half_line_f32 wide = *(const ccg_half_line_f32 *)x;
    __asm__("vcvtps2ph $0, %1, %0" : "=m"(*(ccg_half_line_f16 *)y) : "x"(wide));
}
#endif

/* y[i] = x[first + i], where i < count */
CCG_INLINE void ccg_widen_f16(
    float *CCG_RESTRICT y, const uint16_t *CCG_RESTRICT x, ptrdiff_t first, ptrdiff_t count)
{
    ptrdiff_t i = 0;
    x += first;
#if defined(CCG_LINE_LANES)
    for (; i <= count - CCG_LINE_LANES; i += CCG_LINE_LANES) {
        ccg_widen_line_f16(y + i, x + i);
    }
    if (0 < i && i < count) {
        i = count - CCG_LINE_LANES;
        ccg_widen_line_f16(y + i, x + i);
        return;
    }
    if (i < count && count >= CCG_HALF_LINE_LANES) {
        ccg_widen_half_line_f16(y, x);
        i = count - CCG_HALF_LINE_LANES;
        ccg_widen_half_line_f16(y + i, x + i);
        return;
    }
#endif
    for (; i < count; ++i) {
        y[i] = ccg_f32_from_f16(x[i]);
    }
}

/* y[first + i] = x[i], where i < count */
CCG_INLINE void ccg_narrow_f16(
    uint16_t *CCG_RESTRICT y, const float *CCG_RESTRICT x, ptrdiff_t first, ptrdiff_t count)
{
    ptrdiff_t i = 0;
    y += first;
#if defined(CCG_LINE_LANES)
    for (; i <= count - CCG_LINE_LANES; i += CCG_LINE_LANES) {
        ccg_narrow_line_f16(y + i, x + i);
    }
    if (0 < i && i < count) {
        i = count - CCG_LINE_LANES;
        ccg_narrow_line_f16(y + i, x + i);
        return;
    }
    if (i < count && count >= CCG_HALF_LINE_LANES) {
        ccg_narrow_half_line_f16(y, x);
        i = count - CCG_HALF_LINE_LANES;
        ccg_narrow_half_line_f16(y + i, x + i);
        return;
    }
#endif
    for (; i < count; ++i) {
        y[i] = ccg_f16_from_f32(x[i]);
    }
}

#endif
