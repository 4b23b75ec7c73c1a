/* Vectors of elements as wide as a register, by the compiler's extension.

   CCG_VECTOR_BYTES is their size, 0 where there are none: code that uses them has a portable body
   beside it. Arithmetic is that of the elements, each by itself. Integers are unsigned, as these
   wrap: both signs have the same sums and products modulo 2^32. */
#ifndef CCG_VECTOR_H
#define CCG_VECTOR_H

#include "ccg_base.h"

#if !defined(__GNUC__) || defined(CCG_PLAIN)
#define CCG_VECTOR_BYTES 0
#elif defined(__AVX512F__)
#define CCG_VECTOR_BYTES 64
#elif defined(__AVX__)
#define CCG_VECTOR_BYTES 32
#elif defined(__SSE2__) || defined(__aarch64__) || defined(__VSX__) || defined(__s390x__)
#define CCG_VECTOR_BYTES 16
#else
#define CCG_VECTOR_BYTES 0
#endif

/* A vector is in a register from here on: gcc otherwise reads it from memory wherever it is used,
   which takes twice as long where it spans two cache lines. */
#if CCG_VECTOR_BYTES && (defined(__x86_64__) || defined(__i386__))
#define CCG_HOLD(x) __asm__("" : "+v"(x))
#elif CCG_VECTOR_BYTES && defined(__aarch64__)
#define CCG_HOLD(x) __asm__("" : "+w"(x))
#else
#define CCG_HOLD(x) ((void)0)
#endif

/* A tile's loop fills the registers: constants of the code around it would take some, and
   compilers then keep sums in memory. So it stays a function. */
#if CCG_VECTOR_BYTES
#define CCG_TILE CCG_CALLED
#else
#define CCG_TILE CCG_INLINE
#endif

#if CCG_VECTOR_BYTES
typedef float ccg_vector_f32 __attribute__((vector_size(CCG_VECTOR_BYTES)));
typedef double ccg_vector_f64 __attribute__((vector_size(CCG_VECTOR_BYTES)));
typedef uint32_t ccg_vector_u32 __attribute__((vector_size(CCG_VECTOR_BYTES)));
/* The same in memory, aligned like one element; u32 like narrower integers in its place. */
typedef float ccg_stored_f32
    __attribute__((vector_size(CCG_VECTOR_BYTES), aligned(4), may_alias));
typedef double ccg_stored_f64
    __attribute__((vector_size(CCG_VECTOR_BYTES), aligned(8), may_alias));
typedef uint32_t ccg_stored_u32
    __attribute__((vector_size(CCG_VECTOR_BYTES), aligned(1), may_alias));

CCG_INLINE ccg_vector_f32 ccg_load_f32(const float *p)
{
    return *(const ccg_stored_f32 *)p;
}

CCG_INLINE ccg_vector_f64 ccg_load_f64(const double *p)
{
    return *(const ccg_stored_f64 *)p;
}

CCG_INLINE ccg_vector_u32 ccg_load_u32(const void *p)
{
    return *(const ccg_stored_u32 *)p;
}

CCG_INLINE void ccg_store_f32(float *p, ccg_vector_f32 x)
{
    *(ccg_stored_f32 *)p = x;
}

CCG_INLINE void ccg_store_f64(double *p, ccg_vector_f64 x)
{
    *(ccg_stored_f64 *)p = x;
}

CCG_INLINE void ccg_store_u32(void *p, ccg_vector_u32 x)
{
    *(ccg_stored_u32 *)p = x;
}

/* x in every element: x - 0 is x, -0 and NaN included. */
CCG_INLINE ccg_vector_f32 ccg_splat_f32(float x)
{
    return x - (ccg_vector_f32){0};
}

CCG_INLINE ccg_vector_f64 ccg_splat_f64(double x)
{
    return x - (ccg_vector_f64){0};
}

CCG_INLINE ccg_vector_u32 ccg_splat_u32(uint32_t x)
{
    return x - (ccg_vector_u32){0};
}

/* The elements of a and then those of b, numbered from 0: those with the numbers that follow. `type`
   is a vector of as many integers. */
#if defined(__clang__)
#define CCG_SHUFFLE(type, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define CCG_SHUFFLE(type, a, b, ...) __builtin_shuffle(a, b, (type){__VA_ARGS__})
#endif

/* The sum of all elements. */
#define CCG_TOTAL(type, suffix) \
    CCG_INLINE type ccg_total_##suffix(ccg_vector_##suffix x) \
    { \
        type __attribute__((vector_size(16))) parts[CCG_VECTOR_BYTES / 16]; \
        type total; \
        size_t i; \
        memcpy(parts, &x, sizeof x); \
        for (i = 1; i < CCG_VECTOR_BYTES / 16; ++i) { \
            parts[0] += parts[i]; \
        } \
        total = parts[0][0]; \
        for (i = 1; i < 16 / sizeof(type); ++i) { \
            total += parts[0][i]; \
        } \
        return total; \
    }
CCG_TOTAL(float, f32)
CCG_TOTAL(double, f64)
CCG_TOTAL(uint32_t, u32)
#undef CCG_TOTAL

/* A mask of that many bytes at the end of a vector. */
CCG_INLINE ccg_vector_u32 ccg_last_bytes(ptrdiff_t count)
{
    unsigned char bytes[2 * CCG_VECTOR_BYTES];
    memset(bytes, 0, CCG_VECTOR_BYTES);
    memset(bytes + CCG_VECTOR_BYTES, 255, CCG_VECTOR_BYTES);
    return ccg_load_u32(bytes + count);
}

/* A vector from memory, 0 where the mask is. */
CCG_INLINE ccg_vector_u32 ccg_kept_u32(const void *p, ccg_vector_u32 mask)
{
    return ccg_load_u32(p) & mask;
}

CCG_INLINE ccg_vector_f32 ccg_kept_f32(const float *p, ccg_vector_u32 mask)
{
    return (ccg_vector_f32)ccg_kept_u32(p, mask);
}

CCG_INLINE ccg_vector_f64 ccg_kept_f64(const double *p, ccg_vector_u32 mask)
{
    return (ccg_vector_f64)ccg_kept_u32(p, mask);
}
#endif

#endif
