/* Tridiagonal systems: ccg_gtsv_<type>. The body stands in ccg_gtsv.inc. */
#ifndef CCG_GTSV_H
#define CCG_GTSV_H

#include "ccg_linalg.h"

#include "ccg_element_f32.inc"
#include "ccg_gtsv.inc"
#include "ccg_element_f64.inc"
#include "ccg_gtsv.inc"
#include "ccg_element_c64.inc"
#include "ccg_gtsv.inc"
#include "ccg_element_c128.inc"
#include "ccg_gtsv.inc"
#include "ccg_element_none.inc"

#endif
