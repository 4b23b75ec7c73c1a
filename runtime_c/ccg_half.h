/* f16 and bf16, held as their bits in a uint16_t: to and from f32 and f64.

   Rounding is to nearest even, once; NaN stays a (quiet) NaN; overflow gives infinity. Branch-free:
   loops over these functions vectorise. */
#ifndef CCG_HALF_H
#define CCG_HALF_H

#include "ccg_base.h"

CCG_INLINE float ccg_f32_from_f16(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    uint32_t magnitude = (uint32_t)(half & 0x7fffu) << 13;
    uint32_t normal = magnitude + (112u << 23);
    uint32_t denormal = ccg_bits_f32(ccg_f32_bits(magnitude | (113u << 23)) - 0x1p-14f);
    uint32_t special = magnitude + (224u << 23);
    uint32_t bits = magnitude < 0x00800000u ? denormal : normal;
    bits = magnitude >= 0x0f800000u ? special : bits;
    bits = magnitude > 0x0f800000u ? bits | 0x00400000u : bits;
    return ccg_f32_bits(bits | sign);
}

CCG_INLINE uint16_t ccg_f16_from_f32(float x)
{
    uint32_t bits = ccg_bits_f32(x);
    uint32_t sign = (bits >> 16) & 0x8000u;
    uint32_t magnitude = bits & 0x7fffffffu;
    uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
    uint32_t half = (rounded >> 13) - (112u << 10);
    /* 0.5 has its last bit where the least f16 has its only one: the addition rounds. */
    uint32_t denormal = ccg_bits_f32(ccg_f32_bits(magnitude) + 0.5f) - 0x3f000000u;
    uint32_t nan = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
    half = magnitude < 0x38800000u ? denormal : half;
    half = magnitude >= 0x477ff000u ? 0x7c00u : half;
    half = magnitude > 0x7f800000u ? nan : half;
    return (uint16_t)(half | sign);
}

/* The nearest f16, as ccg_f32_from_f16(ccg_f16_from_f32(x)) in a third of the steps: a sum with a
   number 13 bits longer than an f16 is rounded where the f16 is. */
CCG_INLINE float ccg_nearest_f16(float x)
{
    uint32_t bits = ccg_bits_f32(x);
    uint32_t exponent = bits & 0x7f800000u, nearest;
    float longer, rounded;
    exponent = exponent < (113u << 23) ? 113u << 23 : exponent; /* denormals share their last bit */
    exponent = exponent > (142u << 23) ? 142u << 23 : exponent;
    longer = ccg_f32_bits(exponent + (13u << 23) + 0x00400000u);
    rounded = (x + longer) - longer;
    nearest = CCG_MATH(fabsf)(rounded) >= 65536.0f ? 0x7f800000u : ccg_bits_f32(rounded);
    return ccg_f32_bits((nearest & 0xffffe000u) | (bits & 0x80000000u));
}

/* Of an x that is an f16. */
CCG_INLINE uint16_t ccg_f16_from_exact_f32(float x)
{
    uint32_t bits = ccg_bits_f32(x);
    uint32_t magnitude = bits & 0x7fffffffu;
    uint32_t half = (magnitude >> 13) - (magnitude < 0x7f800000u ? 112u << 10 : 224u << 10);
    uint32_t denormal = ccg_bits_f32(ccg_f32_bits(magnitude) + 0.5f) - 0x3f000000u;
    half = magnitude < 0x38800000u ? denormal : half;
    return (uint16_t)(half | ((bits >> 16) & 0x8000u));
}

/* The same of one alone: by an instruction, where there is one, of which compilers make no
   vectors. */
#if defined(__GNUC__) && defined(__F16C__) && !defined(CCG_PLAIN)
typedef uint16_t ccg_one_half __attribute__((vector_size(16)));
CCG_INLINE float ccg_one_f32_from_f16(uint16_t half)
{
    const ccg_one_half given = {half};
    float wide;
    __asm__("vcvtph2ps %1, %0" : "=x"(wide) : "x"(given));
    return wide;
}

CCG_INLINE uint16_t ccg_one_f16_from_f32(float x)
{
    ccg_one_half half;
    __asm__("vcvtps2ph $0, %1, %0" : "=x"(half) : "x"(x));
    return half[0];
}

CCG_INLINE float ccg_one_nearest_f16(float x)
{
    ccg_one_half half;
    __asm__("vcvtps2ph $0, %1, %0" : "=x"(half) : "x"(x));
    __asm__("vcvtph2ps %1, %0" : "=x"(x) : "x"(half));
    return x;
}
#elif defined(__GNUC__) && defined(__ARM_FP16_FORMAT_IEEE) && !defined(CCG_PLAIN)
CCG_INLINE float ccg_one_f32_from_f16(uint16_t half)
{
    __fp16 given;
    memcpy(&given, &half, sizeof given);
    return (float)given;
}

CCG_INLINE uint16_t ccg_one_f16_from_f32(float x)
{
    const __fp16 rounded = (__fp16)x;
    uint16_t half;
    memcpy(&half, &rounded, sizeof half);
    return half;
}

CCG_INLINE float ccg_one_nearest_f16(float x)
{
    return (float)(__fp16)x;
}
#else
#define ccg_one_f32_from_f16 ccg_f32_from_f16
#define ccg_one_f16_from_f32 ccg_f16_from_f32
#define ccg_one_nearest_f16 ccg_nearest_f16
#endif

CCG_INLINE float ccg_f32_from_bf16(uint16_t half)
{
    return ccg_f32_bits((uint32_t)half << 16);
}

/* The first 16 bits are the nearest bf16. */
CCG_INLINE uint32_t ccg_bits_to_bf16(float x)
{
    uint32_t bits = ccg_bits_f32(x);
    uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
    return x != x ? bits | 0x00400000u : rounded;
}

CCG_INLINE uint16_t ccg_bf16_from_f32(float x)
{
    return (uint16_t)(ccg_bits_to_bf16(x) >> 16);
}

/* Of an x that is a bf16. */
CCG_INLINE uint16_t ccg_bf16_from_exact_f32(float x)
{
    return (uint16_t)(ccg_bits_f32(x) >> 16);
}

/* The nearest bf16, as ccg_f32_from_bf16(ccg_bf16_from_f32(x)). */
CCG_INLINE float ccg_nearest_bf16(float x)
{
    return ccg_f32_bits(ccg_bits_to_bf16(x) & 0xffff0000u);
}

/* Rounded to odd: toward zero, and the last bit set if anything was lost. What is rounded to
   nearest from here on, to at most 22 bits, is as if it had been rounded once. */
CCG_INLINE float ccg_f32_odd_from_f64(double x)
{
    float near = (float)x;
    double magnitude = CCG_MATH(fabs)(x), rounded = CCG_MATH(fabs)((double)near);
    uint32_t bits = ccg_bits_f32(near);
    uint32_t toward_zero = rounded > magnitude ? bits - 1u : bits;
    return ccg_f32_bits(rounded == magnitude ? bits : toward_zero | 1u);
}

CCG_INLINE uint16_t ccg_f16_from_f64(double x)
{
    return ccg_f16_from_f32(ccg_f32_odd_from_f64(x));
}

CCG_INLINE uint16_t ccg_bf16_from_f64(double x)
{
    return ccg_bf16_from_f32(ccg_f32_odd_from_f64(x));
}

CCG_INLINE double ccg_f64_from_f16(uint16_t half)
{
    return (double)ccg_f32_from_f16(half);
}

CCG_INLINE double ccg_f64_from_bf16(uint16_t half)
{
    return (double)ccg_f32_from_bf16(half);
}

#endif
