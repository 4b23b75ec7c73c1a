/* Cholesky's factor: ccg_potrf_f32, _f64, _c64 and _c128. The body stands in ccg_potrf.inc. */
#ifndef CCG_POTRF_H
#define CCG_POTRF_H

#include "ccg_linalg.h"

#include "ccg_element_f32.inc"
#include "ccg_potrf.inc"
#include "ccg_element_f64.inc"
#include "ccg_potrf.inc"
#include "ccg_element_c64.inc"
#include "ccg_potrf.inc"
#include "ccg_element_c128.inc"
#include "ccg_potrf.inc"
#include "ccg_element_none.inc"

#endif
