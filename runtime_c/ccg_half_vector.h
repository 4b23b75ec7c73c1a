/* Vectors of f32 that halves side by side in memory are. CCG_VECTORS_OF_F16: whether there are any of
   f16, which an instruction converts; of bf16 there are wherever there are vectors. */
#ifndef CCG_HALF_VECTOR_H
#define CCG_HALF_VECTOR_H

#include "ccg_vector.h"

#if CCG_VECTOR_BYTES
typedef uint16_t ccg_stored_half
    __attribute__((vector_size(CCG_VECTOR_BYTES / 2), aligned(2), may_alias));

CCG_INLINE ccg_vector_f32 ccg_load_bf16(const uint16_t *p)
{
    const ccg_stored_half half = *(const ccg_stored_half *)p;
    return (ccg_vector_f32)(__builtin_convertvector(half, ccg_vector_u32) << 16);
}

#if defined(__F16C__) || defined(__aarch64__)
#define CCG_VECTORS_OF_F16 1
CCG_INLINE ccg_vector_f32 ccg_load_f16(const uint16_t *p)
{
    ccg_vector_f32 wide;
#if defined(__F16C__)
    __asm__("vcvtph2ps %1, %0" : "=v"(wide) : "m"(*(const ccg_stored_half *)p));
#else
    const ccg_stored_half half = *(const ccg_stored_half *)p;
    __asm__("fcvtl %0.4s, %1.4h" : "=w"(wide) : "w"(half));
#endif
    return wide;
}
#endif
#endif

#if !defined(CCG_VECTORS_OF_F16)
#define CCG_VECTORS_OF_F16 0
#endif

#endif
