/* Eigenvalues and eigenvectors of Hermitian matrices, or symmetric ones: ccg_heevd_f32, _f64, _c64
   and _c128. The body stands in ccg_heevd.inc. */
#ifndef CCG_HEEVD_H
#define CCG_HEEVD_H

#include "ccg_householder.h"
#include "ccg_tridiagonal.h"

#include "ccg_element_f32.inc"
#include "ccg_heevd.inc"
#include "ccg_element_f64.inc"
#include "ccg_heevd.inc"
#include "ccg_element_c64.inc"
#include "ccg_heevd.inc"
#include "ccg_element_c128.inc"
#include "ccg_heevd.inc"
#include "ccg_element_none.inc"

#endif
