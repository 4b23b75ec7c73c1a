/* Floats of eight bits and fewer, held as their bits in a uint8_t: to and from f32 and f64.

   ccg_f32_from_<type>, ccg_<type>_from_f32 and _from_f64, for f8e5m2 f8e4m3 f8e4m3fn f8e4m3b11fnuz
   f8e3m4 f8e5m2fnuz f8e4m3fnuz f8e8m0fnu f4e2m1fn f6e3m2fn f6e2m3fn. To f32 is exact; from f32
   rounds to nearest even, once. What overflow and NaN give depends on the type, as in ml_dtypes. */
#ifndef CCG_NARROW_H
#define CCG_NARROW_H

#include "ccg_half.h"

/* The magnitude's code (no sign) of a finite |x|, not yet limited to the largest code. */
CCG_INLINE uint32_t ccg_narrow_code(uint32_t magnitude, uint32_t mantissa_bits, uint32_t bias)
{
    uint32_t drop = 23u - mantissa_bits, least_normal = (128u - bias) << 23;
    uint32_t rounded = magnitude + (1u << (drop - 1u)) - 1u + ((magnitude >> drop) & 1u);
    uint32_t normal = (rounded >> drop) - ((127u - bias) << mantissa_bits);
    /* Its last bit is worth the type's least denormal: the addition rounds. */
    uint32_t round_bits = (128u - bias + drop) << 23;
    float sum = ccg_f32_bits(magnitude) + ccg_f32_bits(round_bits);
    uint32_t denormal = ccg_bits_f32(sum) - round_bits;
    return magnitude < least_normal ? denormal : normal;
}

/* The value of a finite magnitude's code. */
CCG_INLINE float ccg_narrow_value(uint32_t code, uint32_t mantissa_bits, uint32_t bias)
{
    uint32_t fraction = code << (23u - mantissa_bits), least_normal = (128u - bias) << 23;
    float normal = ccg_f32_bits(fraction + ((127u - bias) << 23));
    float denormal = ccg_f32_bits(fraction | least_normal) - ccg_f32_bits(least_normal);
    return fraction < 0x00800000u ? denormal : normal;
}

CCG_INLINE float ccg_narrow_signed(float magnitude, uint32_t negative)
{
    return ccg_f32_bits(ccg_bits_f32(magnitude) | (negative << 31));
}

#define CCG_NARROW_FROM_F64(type) \
    CCG_INLINE uint8_t ccg_##type##_from_f64(double x) \
    { \
        return ccg_##type##_from_f32(ccg_f32_odd_from_f64(x)); \
    }

/* With infinities: code `inf` is infinity, larger ones are NaN, `nan` is the one we make. */
#define CCG_NARROW_IEEE(type, mantissa_bits, bias, inf, nan) \
    CCG_INLINE float ccg_f32_from_##type(uint8_t x) \
    { \
        uint32_t code = x & 0x7fu; \
        float value = ccg_narrow_value(code, mantissa_bits, bias); \
        value = code == inf ? ccg_f32_bits(0x7f800000u) : value; \
        value = code > inf ? ccg_f32_bits(0x7fc00000u) : value; \
        return ccg_narrow_signed(value, x >> 7); \
    } \
    CCG_INLINE uint8_t ccg_##type##_from_f32(float x) \
    { \
        uint32_t bits = ccg_bits_f32(x), magnitude = bits & 0x7fffffffu; \
        uint32_t code = ccg_narrow_code(magnitude, mantissa_bits, bias); \
        code = code > inf ? inf : code; \
        code = magnitude > 0x7f800000u ? nan : code; \
        return (uint8_t)(code | ((bits >> 24) & 0x80u)); \
    } \
    CCG_NARROW_FROM_F64(type)

/* No infinities and no negative zero: 0x80 is NaN, and so is what overflows. */
#define CCG_NARROW_FNUZ(type, mantissa_bits, bias) \
    CCG_INLINE float ccg_f32_from_##type(uint8_t x) \
    { \
        float value = ccg_narrow_value(x & 0x7fu, mantissa_bits, bias); \
        value = ccg_narrow_signed(value, x >> 7); \
        return x == 0x80u ? ccg_f32_bits(0xffc00000u) : value; \
    } \
    CCG_INLINE uint8_t ccg_##type##_from_f32(float x) \
    { \
        uint32_t bits = ccg_bits_f32(x), magnitude = bits & 0x7fffffffu; \
        uint32_t code = ccg_narrow_code(magnitude, mantissa_bits, bias); \
        uint32_t sign = code == 0 ? 0u : (bits >> 24) & 0x80u; \
        return (uint8_t)(code > 0x7fu ? 0x80u : code | sign); \
    } \
    CCG_NARROW_FROM_F64(type)

/* Finite numbers only: overflow gives the largest, NaN the negative zero, whatever its sign. */
#define CCG_NARROW_FINITE(type, bits_stored, mantissa_bits, bias) \
    CCG_INLINE float ccg_f32_from_##type(uint8_t x) \
    { \
        uint32_t code = x & ((1u << (bits_stored - 1)) - 1u); \
        float value = ccg_narrow_value(code, mantissa_bits, bias); \
        return ccg_narrow_signed(value, ((uint32_t)x >> (bits_stored - 1)) & 1u); \
    } \
    CCG_INLINE uint8_t ccg_##type##_from_f32(float x) \
    { \
        const uint32_t sign = 1u << (bits_stored - 1); \
        uint32_t bits = ccg_bits_f32(x), magnitude = bits & 0x7fffffffu; \
        uint32_t code = ccg_narrow_code(magnitude, mantissa_bits, bias); \
        code = code >= sign ? sign - 1u : code; \
        code = (bits >> 31) != 0 ? code | sign : code; \
        return (uint8_t)(magnitude > 0x7f800000u ? sign : code); \
    } \
    CCG_NARROW_FROM_F64(type)

CCG_NARROW_IEEE(f8e5m2, 2, 15, 0x7cu, 0x7eu)
CCG_NARROW_IEEE(f8e4m3, 3, 7, 0x78u, 0x7cu)
CCG_NARROW_IEEE(f8e3m4, 4, 3, 0x70u, 0x78u)
CCG_NARROW_FNUZ(f8e4m3b11fnuz, 3, 11)
CCG_NARROW_FNUZ(f8e5m2fnuz, 2, 16)
CCG_NARROW_FNUZ(f8e4m3fnuz, 3, 8)
CCG_NARROW_FINITE(f4e2m1fn, 4, 1, 1)
CCG_NARROW_FINITE(f6e3m2fn, 6, 2, 3)
CCG_NARROW_FINITE(f6e2m3fn, 6, 3, 1)

/* No infinities: all ones is NaN, and so is what overflows. */
CCG_INLINE float ccg_f32_from_f8e4m3fn(uint8_t x)
{
    uint32_t code = x & 0x7fu;
    float value = ccg_narrow_value(code, 3, 7);
    value = code == 0x7fu ? ccg_f32_bits(0x7fc00000u) : value;
    return ccg_narrow_signed(value, x >> 7);
}

CCG_INLINE uint8_t ccg_f8e4m3fn_from_f32(float x)
{
    uint32_t bits = ccg_bits_f32(x), magnitude = bits & 0x7fffffffu;
    uint32_t code = ccg_narrow_code(magnitude, 3, 7);
    code = code > 0x7fu ? 0x7fu : code;
    return (uint8_t)(code | ((bits >> 24) & 0x80u));
}

CCG_NARROW_FROM_F64(f8e4m3fn)

/* Powers of two: 2^(x - 127), 0xff is NaN. Ties go up; zero, negative numbers and NaN give NaN. */
CCG_INLINE float ccg_f32_from_f8e8m0fnu(uint8_t x)
{
    uint32_t bits = x == 0 ? 0x00400000u : (uint32_t)x << 23;
    return ccg_f32_bits(x == 0xffu ? 0x7fc00000u : bits);
}

CCG_INLINE uint8_t ccg_f8e8m0fnu_from_f32(float x)
{
    uint32_t bits = ccg_bits_f32(x);
    uint32_t half = bits < 0x00800000u ? 0x3fffffu : 0x400000u;
    return (uint8_t)(bits == 0 || bits >= 0x7f800000u ? 0xffu : (bits + half) >> 23);
}

CCG_INLINE uint8_t ccg_f8e8m0fnu_from_f64(double x)
{
    uint8_t rounded = ccg_f8e8m0fnu_from_f32(ccg_f32_odd_from_f64(x));
    return (float)x == 0 ? 0xffu : rounded;
}

#undef CCG_NARROW_FROM_F64
#undef CCG_NARROW_IEEE
#undef CCG_NARROW_FNUZ
#undef CCG_NARROW_FINITE

#endif
