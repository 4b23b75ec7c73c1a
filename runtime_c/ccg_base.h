/* What every file of the runtime stands on: fixed-width types, compiler extensions, bit casts, FMA.

   Extensions stand behind CCG_ macros, which are empty for a compiler that lacks them and wherever
   CCG_PLAIN is defined. CCG_STRICT asks for the reference's bits: no contraction to FMA here, and
   none by the compiler (-ffp-contract=off). CCG_SET_OPTIONS asks gcc for the options that loops
   over float functions need to vectorise, for builds whose flags are not ours. */
#ifndef CCG_BASE_H
#define CCG_BASE_H

#if defined(CCG_SET_OPTIONS) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-trapping-math", "no-math-errno")
#endif
#if defined(CCG_STRICT) && defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* All that comes from <math.h>: infinity, NaN, and as CCG_MATH(f) sqrt, floor, ceil, rint and fabs,
   which are exact everywhere. gcc and clang have them without that header, which is longer than all
   of the runtime that most files include. */
#if defined(__GNUC__) && !defined(CCG_PLAIN)
#define CCG_MATH(name) __builtin_##name
#define CCG_INFINITY __builtin_inff()
#define CCG_NAN __builtin_nanf("")
#else
#include <math.h>
#define CCG_MATH(name) name
#define CCG_INFINITY INFINITY
#define CCG_NAN NAN
#endif

#if defined(__GNUC__) && !defined(CCG_PLAIN)
#define CCG_UNUSED __attribute__((unused))
#define CCG_ALIGNED(n) __attribute__((aligned(n)))
#define CCG_RESTRICT __restrict
#define CCG_APART __attribute__((noinline)) /* compiled once, its parameters' restrict known */
#else
#define CCG_APART
#define CCG_UNUSED
#define CCG_ALIGNED(n)
#define CCG_RESTRICT restrict
#endif
#define CCG_INLINE CCG_UNUSED static inline

/* A function of the runtime that is too long to be compiled at each call. */
#if defined(__GNUC__) && !defined(CCG_PLAIN)
#define CCG_CALLED CCG_UNUSED CCG_APART static
#else
#define CCG_CALLED CCG_INLINE
#endif

/* Before a loop: its iterations do not depend on each other through memory. */
#if defined(CCG_PLAIN)
#define CCG_SIMD
#elif defined(__clang__)
/* Clang warns where it cannot vectorise what it was told it may: at -O1, or over narrow types. */
#pragma clang diagnostic ignored "-Wpass-failed"
#define CCG_SIMD _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define CCG_SIMD _Pragma("GCC ivdep")
#else
#define CCG_SIMD
#endif

/* Likewise, and gcc leaves the loop rolled: one over lanes, which has as few iterations as a vector
   has elements, it would unroll before it looks for vectors, and then make them of what lies far
   apart; of one of unknown length it would unroll what the last vector leaves over, which takes it
   long. */
#if defined(__GNUC__) && !defined(__clang__) && !defined(CCG_PLAIN)
#define CCG_ROLLED_SIMD CCG_SIMD _Pragma("GCC unroll 1")
#else
#define CCG_ROLLED_SIMD CCG_SIMD
#endif

/* In front of one of these, for a loop of few turns: clang leaves it rolled, which it would unroll
   before it looks for vectors, and then make them of the turns of the loop around it. Not for one
   that adds to an array which a loop around it is to keep in registers: that takes unrolling. */
#if defined(__clang__) && !defined(CCG_PLAIN)
#define CCG_SHORT _Pragma("clang loop unroll(disable)")
#else
#define CCG_SHORT
#endif

/* Declares a limit of arguments: `x < limit ? limit : x` is one instruction for vectors. gcc makes a
   comparison and a blend of it for a limit that it knows, so it is not told that this one is never
   written. CCG_UNKNOWN: such a limit as an expression. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__SSE2__) && !defined(CCG_PLAIN)
#define CCG_LIMIT(type, name, value) static type name __attribute__((used)) = value
#define CCG_UNKNOWN(type, value) \
    __extension__({ \
        CCG_LIMIT(type, unknown, value); \
        unknown; \
    })
#else
#define CCG_LIMIT(type, name, value) const type name = value
#define CCG_UNKNOWN(type, value) (value)
#endif

/* An element that is read on a condition, for a loop over lanes: it is read only if the condition
   holds. gcc 12 vectorises the loops around it instead, and gets the conditions of lanes wrong.
   Also one that is not to be read together with others. */
#define CCG_GUARDED(type, element) (*(const volatile type *)&(element))

/* After a loop that adds integers to the elements of an array: they are in memory. gcc 12 keeps
   vectors of partial sums instead, and where the array is read twice takes those for the sums. And
   of a variable, where a loop has stored a square: for gcc 12 that is one factor of a product that
   vectors may compute the parts of. */
#if defined(__GNUC__) && !defined(__clang__) && !defined(CCG_PLAIN)
#define CCG_SETTLED(array) __asm__("" : "+m"(array))
#else
#define CCG_SETTLED(array)
#endif

/* Before an array of a function's own. Where gcc before 15 sees vectors moved to it through pointers
   only, it may leave it at an address that is not a multiple of theirs, and the program crashes;
   unless the array asks for more than the stack has. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 15 && defined(__AVX__)
#define CCG_LOCAL CCG_ALIGNED(32)
#else
#define CCG_LOCAL
#endif

/* Asks for elements of an array that are read soon; they may lie behind its end. Into all caches,
   though they are read once: past those, Intel's processors fetch at a quarter of the speed. */
#if defined(__GNUC__) && !defined(CCG_PLAIN)
#define CCG_PREFETCH(array, first, count) \
    ccg_prefetch((uintptr_t)(array) + (uintptr_t)(first) * sizeof *(array), \
        (count) * sizeof *(array))
CCG_INLINE void ccg_prefetch(uintptr_t address, size_t bytes)
{
    for (size_t line = 0; line < bytes; line += 64)
        __builtin_prefetch((const void *)(address + line));
}
#else
#define CCG_PREFETCH(array, first, count)
#endif

/* Likewise, for a loop that does more with an element than to add it up. A processor that fetches
   ahead of such a loop by itself (CCG_FETCHES_AHEAD) is held up by being asked. */
#if defined(CCG_FETCHES_AHEAD)
#define CCG_PREFETCH_SLOWLY(array, first, count)
#else
#define CCG_PREFETCH_SLOWLY(array, first, count) CCG_PREFETCH(array, first, count)
#endif

#define CCG_PASTE_(a, b) a##b
#define CCG_PASTE(a, b) CCG_PASTE_(a, b)

/* The bits of a float, and the float of some bits. memcpy is what compilers vectorise. */
CCG_INLINE uint32_t ccg_bits_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

CCG_INLINE float ccg_f32_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

CCG_INLINE uint64_t ccg_bits_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

CCG_INLINE double ccg_f64_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* a*b + c, rounded once, where the machine has an instruction for it. */
#if (defined(__FMA__) || defined(__ARM_FEATURE_FMA)) && !defined(CCG_PLAIN)
#define CCG_FUSED_F32(a, b, c) __builtin_fmaf(a, b, c)
#endif
#if (defined(__FMA__) || (defined(__ARM_FEATURE_FMA) && defined(__aarch64__))) \
    && !defined(CCG_PLAIN)
#define CCG_FUSED_F64(a, b, c) __builtin_fma(a, b, c)
#endif

/* a*b + c: rounded once where the machine has FMA and the mode is not strict, else twice. */
#if defined(CCG_FUSED_F32) && !defined(CCG_STRICT)
#define CCG_HAS_FMA_F32 1
#define CCG_FMA_F32(a, b, c) CCG_FUSED_F32(a, b, c)
#else
#define CCG_FMA_F32(a, b, c) ((a) * (b) + (c))
#endif
#if defined(CCG_FUSED_F64) && !defined(CCG_STRICT)
#define CCG_HAS_FMA_F64 1
#define CCG_FMA_F64(a, b, c) CCG_FUSED_F64(a, b, c)
#else
#define CCG_FMA_F64(a, b, c) ((a) * (b) + (c))
#endif

CCG_INLINE float ccg_fma_f32(float a, float b, float c)
{
    return CCG_FMA_F32(a, b, c);
}

CCG_INLINE double ccg_fma_f64(double a, double b, double c)
{
    return CCG_FMA_F64(a, b, c);
}

#endif
