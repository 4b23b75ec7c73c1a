/* Complex numbers: ccg_<operator>_c64 and _c128. The bodies stand in ccg_complex.inc; the math
   functions in ccg_math_c64.h and ccg_math_c128.h, theirs in ccg_math_complex.inc.

   Division scales, so that it neither overflows nor underflows on the way; a product of infinities
   is not recovered as C99's annex G does. The functions reduce to those of the real and imaginary
   part; their branch cuts are C99's, the sign of zero says on which side an argument lies.

   The bounds of errors are in ulp of the larger part of the result; they hold for both types, and
   are the largest errors found over grids of axes, branch cuts and magnitudes and in two draws of
   1.5 million arguments, and a little more.

   What ccg_complex_c64.inc and ccg_complex_c128.inc define for the bodies:

       CCG_C               the complex type; CCG_S: its name in functions
       CCG_T               its component's type; CCG_R: that type's name in functions
       CCG_HUGE, CCG_TINY  above and below these squares are not safe
       CCG_SCALE_DOWN, CCG_SCALE_UP    factors that, taken twice, make them so
       CCG_END             infinity
       CCG_F(name)         ccg_<name>_<type>: the name of a function of this type
       CCG_REAL(name)      that of the component's type */
#ifndef CCG_COMPLEX_H
#define CCG_COMPLEX_H

#include "ccg_base.h"
#include "ccg_float.h"

typedef struct {
    float re;
    float im;
} ccg_c64;

typedef struct {
    double re;
    double im;
} ccg_c128;

#include "ccg_complex_c64.inc"
#include "ccg_complex.inc"
#include "ccg_complex_c128.inc"
#include "ccg_complex.inc"

CCG_INLINE ccg_c128 ccg_c128_from_c64(ccg_c64 a)
{
    return ccg_complex_c128((double)a.re, (double)a.im);
}

CCG_INLINE ccg_c64 ccg_c64_from_c128(ccg_c128 a)
{
    return ccg_complex_c64((float)a.re, (float)a.im);
}

#endif
