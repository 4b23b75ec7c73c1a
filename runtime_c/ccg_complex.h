/* Complex numbers: ccg_<operator>_c64 and _c128. The bodies stand in ccg_complex.inc.

   Division scales, so that it neither overflows nor underflows on the way; a product of infinities
   is not recovered as C99's annex G does. The functions reduce to those of the real and imaginary
   part; their branch cuts are C99's, the sign of zero says on which side an argument lies. */
#ifndef CCG_COMPLEX_H
#define CCG_COMPLEX_H

#include "ccg_base.h"
#include "ccg_float.h"
#include "ccg_math_f32.h"
#include "ccg_math_f64.h"

typedef struct {
    float re;
    float im;
} ccg_c64;

typedef struct {
    double re;
    double im;
} ccg_c128;

/* CCG_C: the complex type. CCG_T: its component's type, CCG_R: that type's name in functions.
   CCG_REAL(f): the function f of the component's type. Above CCG_HUGE and below CCG_TINY squares
   are not safe; twice the factor CCG_SCALE_DOWN or CCG_SCALE_UP makes them so. */
#define CCG_F(name) CCG_PASTE(CCG_PASTE(ccg_, name), CCG_PASTE(_, CCG_S))
#define CCG_REAL(name) CCG_PASTE(CCG_PASTE(ccg_, name), CCG_PASTE(_, CCG_R))

#define CCG_C ccg_c64
#define CCG_S c64
#define CCG_T float
#define CCG_R f32
#define CCG_SCALE_UP 0x1p+50f
#define CCG_SCALE_DOWN 0x1p-35f
#define CCG_HUGE 0x1p+60f
#define CCG_TINY 0x1p-50f
#define CCG_END CCG_INF_F32
#define CCG_LN2 0x1.62e43p-1f
#include "ccg_complex.inc"

#define CCG_C ccg_c128
#define CCG_S c128
#define CCG_T double
#define CCG_R f64
#define CCG_SCALE_UP 0x1p+350
#define CCG_SCALE_DOWN 0x1p-265
#define CCG_HUGE 0x1p+500
#define CCG_TINY 0x1p-450
#define CCG_END CCG_INF_F64
#define CCG_LN2 CCG_LN2_F64
#include "ccg_complex.inc"

#undef CCG_F
#undef CCG_REAL

CCG_INLINE ccg_c128 ccg_c128_from_c64(ccg_c64 a)
{
    return ccg_complex_c128((double)a.re, (double)a.im);
}

CCG_INLINE ccg_c64 ccg_c64_from_c128(ccg_c128 a)
{
    return ccg_complex_c64((float)a.re, (float)a.im);
}

#endif
