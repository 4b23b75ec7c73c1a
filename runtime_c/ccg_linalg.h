/* Linear algebra: how its routines are written, and what they stand on.

   A routine is written once, in a .inc file, for elements of any of the types f32, f64, c64 and
   c128. Its header includes that file four times, each time after the file that says what an
   element is:

       #include "ccg_element_f32.inc"
       #include "ccg_potrf.inc"            ccg_potrf_f32
       #include "ccg_element_f64.inc"
       #include "ccg_potrf.inc"            ccg_potrf_f64
       …
       #include "ccg_element_none.inc"     takes the macros away again

   What ccg_element_*.inc define:

       CCG_F(name)         ccg_<name>_<type>: the name of a function of this element type
       CCG_REAL_F(name)    the same of its real part's type: ccg_sqrt_f32 for f32 and c64
       CCG_V               an element as a value: float, double, ccg_c64 or ccg_c128
       CCG_T               its real part's type, float or double; what arrays are made of
       CCG_W               numbers of type CCG_T that an element takes in memory: 1 or 2
       CCG_EPSILON         distance of 1 from the next number of type CCG_T
       CCG_SAFE_MIN        the least normal number of type CCG_T; its inverse is finite
       CCG_GET(p, i)       element i of the array p, as a value
       CCG_PUT(p, i, v)    stores it
       CCG_AT(p, i)        a pointer to it
       CCG_REAL(x)         the element x + 0i
       CCG_RE(v), CCG_IM(v)        its parts; a real number's imaginary part is 0
       CCG_ADD(v, w), CCG_SUB, CCG_MUL, CCG_DIV, CCG_NEG(v), CCG_CONJ(v)
       CCG_SCALE(v, x), CCG_OVER(v, x)     v times and v divided by the real number x
       CCG_ABS(v)          the magnitude; CCG_ABS1(v) = |re| + |im|, as LAPACK compares pivots

   A routine takes pointers first, then sizes and flags as ptrdiff_t, as a CallC of the loop IR
   passes them. Matrices are dense and row-major. `count` of them lie behind one another, each
   argument so many times; the routine works on each in turn, in memory that the caller provides
   (`work`, of the size its comment states, in elements; it is used again for each matrix). No two
   arrays overlap. Inner loops run along rows wherever that is possible, because those vectorise.

   The evaluator and the interpreter of the loop IR run the same C, translated to Python by
   ccodegen/support/c_routine.py, which states what of C it knows. A header that holds routines is
   named there; ccodegen/ops/custom_calls/routine.py makes a custom call of one. Results have the
   same bits everywhere in strict mode: every sum has one order. */
#ifndef CCG_LINALG_H
#define CCG_LINALG_H

#include "ccg_base.h"
#include "ccg_complex_array.h"
#include "ccg_float.h"

#define CCG_PANEL 8 /* columns whose products are subtracted from the others together */

CCG_INLINE float ccg_abs1_c64(ccg_c64 a)
{
    return ccg_abs_f32(a.re) + ccg_abs_f32(a.im);
}

CCG_INLINE double ccg_abs1_c128(ccg_c128 a)
{
    return ccg_abs_f64(a.re) + ccg_abs_f64(a.im);
}

CCG_INLINE ccg_c64 ccg_scale_c64(ccg_c64 a, float x)
{
    return ccg_complex_c64(a.re * x, a.im * x);
}

CCG_INLINE ccg_c128 ccg_scale_c128(ccg_c128 a, double x)
{
    return ccg_complex_c128(a.re * x, a.im * x);
}

CCG_INLINE ccg_c64 ccg_over_c64(ccg_c64 a, float x)
{
    return ccg_complex_c64(a.re / x, a.im / x);
}

CCG_INLINE ccg_c128 ccg_over_c128(ccg_c128 a, double x)
{
    return ccg_complex_c128(a.re / x, a.im / x);
}

#include "ccg_element_f32.inc"
#include "ccg_linalg.inc"
#include "ccg_element_f64.inc"
#include "ccg_linalg.inc"
#include "ccg_element_c64.inc"
#include "ccg_linalg.inc"
#include "ccg_element_c128.inc"
#include "ccg_linalg.inc"
#include "ccg_element_none.inc"

#endif
