/* Eigenvalues of real symmetric tridiagonal matrices: ccg_tridiagonal_f32 and _f64. The body stands
   in ccg_tridiagonal.inc. */
#ifndef CCG_TRIDIAGONAL_H
#define CCG_TRIDIAGONAL_H

#include "ccg_rotation.h"

#include "ccg_element_f32.inc"
#include "ccg_tridiagonal.inc"
#include "ccg_element_f64.inc"
#include "ccg_tridiagonal.inc"
#include "ccg_element_none.inc"

#endif
