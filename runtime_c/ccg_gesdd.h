/* Singular values and vectors: ccg_gesdd_f32, _f64, _c64 and _c128. The body stands in
   ccg_gesdd.inc. */
#ifndef CCG_GESDD_H
#define CCG_GESDD_H

#include "ccg_bidiagonal.h"
#include "ccg_householder.h"

#include "ccg_element_f32.inc"
#include "ccg_gesdd.inc"
#include "ccg_element_f64.inc"
#include "ccg_gesdd.inc"
#include "ccg_element_c64.inc"
#include "ccg_gesdd.inc"
#include "ccg_element_c128.inc"
#include "ccg_gesdd.inc"
#include "ccg_element_none.inc"

#endif
