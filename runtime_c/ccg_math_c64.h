/* Math functions of c64: exp, log, pow, trigonometry, roots and their inverses. */
#ifndef CCG_MATH_C64_H
#define CCG_MATH_C64_H

#include "ccg_complex.h"
#include "ccg_math_f32.h"

#include "ccg_complex_c64.inc"
#include "ccg_math_complex.inc"

#endif
