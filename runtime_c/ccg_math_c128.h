/* Math functions of c128: exp, log, pow, trigonometry, roots and their inverses. */
#ifndef CCG_MATH_C128_H
#define CCG_MATH_C128_H

#include "ccg_complex.h"
#include "ccg_math_f64.h"

#include "ccg_complex_c128.inc"
#include "ccg_math_complex.inc"

#endif
