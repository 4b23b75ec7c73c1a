/* Singular values of real bidiagonal matrices: ccg_bidiagonal_f32 and _f64. The body stands in
   ccg_bidiagonal.inc. */
#ifndef CCG_BIDIAGONAL_H
#define CCG_BIDIAGONAL_H

#include "ccg_rotation.h"

#include "ccg_element_f32.inc"
#include "ccg_bidiagonal.inc"
#include "ccg_element_f64.inc"
#include "ccg_bidiagonal.inc"
#include "ccg_element_none.inc"

#endif
